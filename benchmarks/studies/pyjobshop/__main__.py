"""PyJobShop on the files of records, beside their methods: ``python -m benchmarks.studies.pyjobshop results/classic``.

``bench run FILES --time-limit 60 --threads 2 --seeds 1-3 --out results/classic`` writes the records. PyJobShop solves the same
files with the same time limits, threads and seeds, in an environment under ``.cache``; its schedules are checked by the
package. The same command again runs only what is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple, cast

from rich.console import Console
from schedlab.bench.errors import WrongUse
from schedlab.bench.grid import Grid
from schedlab.bench.records.store import files, read
from schedlab.bench.runs.suites import known_values
from schedlab.instances import load
from schedlab.models import Project

from ...environments import python_with
from ..run import run_study
from .runs import PACKAGE, Answer, kept, known, solve

NAME = "PyJobShop"
FORMULATION = "modes"  # what a project has


class Task(NamedTuple):
    """A file that PyJobShop solves with a seed, a time limit in seconds and a number of threads."""

    instance: str
    seed: int
    seconds: float
    threads: int


class Value(NamedTuple):
    """The result of a method: verified makespan (None: none), whether it is proven, and seconds."""

    objective: float | None
    proven: bool
    seconds: float


Results = dict[str, dict[tuple[str, int], Value]]
"""Method -> (instance, seed) -> result."""


def projects_of(records: Iterable[Mapping[str, Any]]) -> dict[str, Project]:
    """Return the projects of the records by their names: the problems with the formulation ``modes``."""
    paths = {r["instance"]: r["path"] for r in records}
    problems = {name: load(path).problem for name, path in paths.items()}
    return {name: cast(Project, p) for name, p in problems.items() if FORMULATION in p.formulations}


def tasks_of(records: Iterable[Mapping[str, Any]], projects: Container[str]) -> list[Task]:
    """Return what PyJobShop solves: each project of the records once for each seed, with their limits and threads."""
    tasks_by_key = {}
    for r in records:
        if r["instance"] in projects and r["time_limit"] is not None and r["threads"] is not None:
            task = Task(r["instance"], r["seed"], r["time_limit"], r["threads"])
            tasks_by_key[task.instance, task.seed] = task
    return [tasks_by_key[key] for key in sorted(tasks_by_key)]


def results_of(records: Iterable[Mapping[str, Any]], projects: Container[str], answers: Iterable[Answer]) -> Results:
    """Return the results of all methods on projects; only verified schedules count."""
    results: Results = {}
    for r in records:
        if r["instance"] in projects:
            held = r["objective"] is not None and r["verified"]
            value = Value(r["objective"] if held else None, held and r["status"] == "optimal", r["seconds"]["total"])
            results.setdefault(r["method"], {})[r["instance"], r["seed"]] = value
    for a in answers:
        results.setdefault(NAME, {})[a.instance, a.seed] = Value(a.objective, a.proven, a.seconds)
    return results


def table(results: Results, best: Mapping[str, float]) -> Grid:
    """Return the table: each method beside PyJobShop on the runs that both have.

    Parameters
    ----------
    results
        The results of all methods, PyJobShop among them.
    best
        Instance -> best-known value; where it is missing, the best of the results.
    """
    values: dict[str, float] = {}
    for of in results.values():
        for (instance, _), run in of.items():
            values[instance] = min(values.get(instance, inf), inf if run.objective is None else run.objective)
    reference = values | {name: best[name] for name in values if name in best}
    alike: dict[frozenset[tuple[str, int]], list[str]] = {}
    for method in results.keys() - {NAME}:
        alike.setdefault(frozenset(results[method].keys() & results[NAME].keys()), []).append(method)
    rows = []
    for runs in sorted(alike, key=lambda of: (-len(of), sorted(of))):
        rows += [_row(method, {key: results[method][key] for key in runs}, reference) for method in sorted(alike[runs])]
        rows.append(_row(NAME, {key: results[NAME][key] for key in runs}, reference))
    return Grid.of_texts(
        f"{len({instance for instance, _ in results[NAME]})} projects",
        ["method", "runs", "without schedule", "proven", "median s", "mean gap %"],
        rows,
        "methods with the same runs stand together, with PyJobShop on these runs below them. gap: to the best-known value, "
        "or the best of these results; runs without a schedule are not in it. Seconds of bench run include the import of "
        "the solver, those of PyJobShop do not",
    )


def _row(method: str, runs: Mapping[tuple[str, int], Value], reference: Mapping[str, float]) -> list[str]:
    """Return the row of a method: its figures over runs."""
    gaps = [100 * (run.objective / reference[i] - 1) for (i, _), run in runs.items() if run.objective is not None]
    return [
        method,
        str(len(runs)),
        str(sum(run.objective is None for run in runs.values())),
        str(sum(run.proven for run in runs.values())),
        f"{median(run.seconds for run in runs.values()):.1f}" if runs else "-",
        f"{fmean(gaps):.2f}" if gaps else "-",
    ]


def study(options: argparse.Namespace, console: Console) -> None:
    """Run what is missing and print the table. Raises WrongUse if there are no records of projects."""
    folder = Path(options.records)
    records = [read(path) for path in files(folder)]
    projects = projects_of(records)
    tasks = tasks_of(records, projects)
    if not tasks:
        raise WrongUse(f"{folder}: there are no records of projects with a time limit; bench run writes them")
    out = folder / "pyjobshop"
    out.mkdir(exist_ok=True)
    python = python_with(PACKAGE)
    answers = []
    for k, task in enumerate(tasks, 1):
        answer = known(out, task.instance, task.seed, task.seconds, task.threads)
        if answer is None:
            answer = solve(python, task.instance, projects[task.instance], task.seconds, task.threads, task.seed)
            kept(out, answer, task.seconds, task.threads)
            said = answer.fault or f"{answer.objective:,.0f}{', proven' if answer.proven else ''}"
            console.print(
                f"[{k}/{len(tasks)}] {task.instance}, seed {task.seed}: {said} in {answer.seconds:.1f} s",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
        answers.append(answer)
    best = {name: one.value for name, one in known_values(folder).items()}
    grid = table(results_of(records, projects, answers), best)
    console.print(grid)
    console.print(grid.meaning, style="dim")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.pyjobshop", description=__doc__)
    parser.add_argument("records", help="folder of the records of bench run")
    return run_study(study, parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
