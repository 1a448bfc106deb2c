"""``auto`` against each single method at the same time limit: ``python -m benchmarks.studies.auto --out results/auto``.

The instances are the shipped ones without reservations, which only replays obey, and 20 generated ones. They and the suite
that runs them are written to the folder of the records, so that ``bench run results/auto/auto.toml --out results/auto`` makes
the same runs. The same command again runs only what is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median, median_low
from typing import Any, NamedTuple

from rich.console import Console
from schedlab.bench.cli.app import app
from schedlab.bench.errors import STOPPED, WrongUse, exit_code
from schedlab.bench.grid import Grid
from schedlab.bench.records.store import files, read
from schedlab.errors import SchedlabError
from schedlab.instances import generators, load, names, write
from schedlab.instances.files.writing import write_whole
from schedlab.methods import parse_method
from schedlab.models import Problem
from schedlab.models.words import how_many

from .run import run_study

AUTO = "auto"
SINGLE = (
    *("multi-search", "delay-search", "lns", "lns@cpsat", "cpsat:counts+warm", "cpsat:pool+warm", "highs:fluid+warm"),
    *("greedy", "dp", "backtracking", "cpsat:serial+warm"),
    *("multi-sgs", "cpsat:modes", "cpsat:modes+warm"),
)
"""Single methods; an instance has those that take its problem."""

GENERATED: Sequence[tuple[str, Mapping[str, int]]] = (
    *(("eurora", {"jobs": n, "seed": s}) for n, s in ((30, 301), (60, 302), (120, 303), (200, 304), (400, 305), (700, 306))),
    *(("eurora", {"jobs": n, "seed": s, "nodes": 4}) for n, s in ((25, 307), (99, 308))),
    *(("centre", {"jobs": n, "seed": s, "nodes": 8, "days": 2}) for n, s in ((30, 309), (60, 310), (120, 311))),
    *(("centre", {"jobs": n, "seed": s}) for n, s in ((400, 312), (1000, 313))),
    *(("theta", {"jobs": n, "seed": s}) for n, s in ((16, 314), (24, 315), (40, 316))),
    *(("project", {"tasks": n, "modes": m, "nonrenewable": 2 * (m > 1), "seed": s}) for n, m, s in ((30, 3, 317), (60, 1, 318), (90, 1, 319), (50, 2, 320))),
)  # fmt: skip
"""Generators with their options."""


Ordered = tuple[float, ...]
"""An objective, or several in lexicographic order."""
NOTHING: Ordered = (float("inf"),)


class Row(NamedTuple):
    """An instance: ``auto`` beside the best single method.

    Parameters
    ----------
    instance, kind
        The name of the instance and the kind of its problem.
    auto, single
        The median objective of ``auto`` over the seeds, and that of the best single method: one number, or the ordered
        objectives of an eviction problem; None without a schedule.
    method
        The best single method.
    worse
        By how much ``auto`` is worse, in percent of the best single method's objective; below 0 if it is better. Infinite
        if ``auto`` alone has no schedule. Of ordered objectives, the first one that differs.
    """

    instance: str
    kind: str
    auto: Ordered | None
    single: Ordered | None
    method: str
    worse: float


def prepared(folder: Path, seconds: float, threads: int, seeds: str) -> Path:
    """Write the generated instances and the suite to a folder, and return the path of the suite."""
    chosen = [name for name in names() if not load(name).reservations]
    for generator, options in GENERATED:
        at = folder / "instances" / "-".join([generator, *(f"{k}{v}" for k, v in options.items())])
        if not (at / "instance.toml").is_file():
            write(generators[generator](**options), at)
        chosen.append(str(at.relative_to(folder)))
    lines = ['description = "auto beside each single method."', f"seeds = {json.dumps(seeds)}", f"threads = {threads}"]
    for name in chosen:
        problem = load(folder / name if "/" in name else name).problem
        methods = [AUTO, *(method for method in SINGLE if takes(problem, method))]
        lines += ["", "[[runs]]", f"instances = {json.dumps([name])}", f"methods = {json.dumps(methods)}"]
        lines += [f"time_limit = {seconds:g}"]
    path = folder / "auto.toml"
    write_whole(path, "\n".join(lines) + "\n")
    return path


def takes(problem: Problem, method: str) -> bool:
    """Return whether a method takes a problem."""
    try:
        parse_method(method, problem)
    except SchedlabError:
        return False
    return True


def rows(records: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Compare ``auto`` with the best single method on each instance; medians over the seeds.

    A run without a verified schedule counts as infinitely bad, so that a method which fails on half of the seeds has no
    median.
    """
    values: dict[tuple[str, str, int], dict[str, list[Ordered]]] = {}
    for r in records:
        sign = -1 if r["sense"] == "maximize" else 1
        values_of_method = values.setdefault((r["kind"], r["instance"], sign), {}).setdefault(r["method"], [])
        objective: float | list[float] | None = r["objective"] if r["verified"] else None
        if objective is None:
            values_of_method.append(NOTHING)
        else:
            values_of_method.append(
                tuple(sign * v for v in (objective if isinstance(objective, list) else [objective]))
            )
    return [_row(kind, instance, sign, methods) for (kind, instance, sign), methods in sorted(values.items())]


def _row(kind: str, instance: str, sign: int, methods: Mapping[str, Sequence[Ordered]]) -> Row:
    """Return the row of an instance; ``methods``: method -> objectives times ``sign``, to be minimized."""
    medians = {method: _median(values_of_method) for method, values_of_method in methods.items()}
    auto = medians.pop(AUTO)
    method = min(medians, key=lambda m: medians[m])
    single = medians[method]
    worse = 0.0
    if auto != single:
        mine, other = next((x, y) for x, y in zip(auto, single, strict=False) if x != y)
        worse = float("-inf") if single == NOTHING else 100 * (mine - other) / max(abs(other), 1e-9)
    shown = [None if v == NOTHING else tuple(sign * x for x in v) for v in (auto, single)]
    return Row(instance, kind, shown[0], shown[1], method, worse)


def _median(found: Sequence[Ordered]) -> Ordered:
    """Return the median; of an even number of ordered objectives, the lower one of the two in the middle."""
    if all(len(v) == 1 for v in found):
        return (median(v[0] for v in found),)
    return median_low(found)


def table(found: Sequence[Row]) -> Grid:
    """Return the table of all instances."""
    cells = [[r.kind, r.instance, _text(r.auto), _text(r.single), r.method, f"{r.worse:+.2f}"] for r in found]
    return Grid.of_texts(
        "auto and the best single method",
        ["kind", "instance", "auto", "best single", "method", "auto worse by %"],
        cells,
        "medians over the seeds; below 0: auto is better",
    )


def _text(value: Ordered | None) -> str:
    return "-" if value is None else ", ".join(f"{v:,.6g}" for v in value)


def study(options: argparse.Namespace, console: Console) -> None:
    """Print the table and its medians. Raises WrongUse if there are no records."""
    folder = Path(options.out)
    study_table = rows(read(path) for path in files(folder))
    if not study_table:
        raise WrongUse(f"{folder}: there are no records; see the messages above")
    console.print(table(study_table))
    for kind in (*sorted({r.kind for r in study_table}), None):
        worse = [r.worse for r in study_table if kind in (r.kind, None)]
        console.print(
            f"{kind or 'all'}: {how_many(len(worse), 'instance')}, auto worse by {median(worse):+.2f} % in the median, {max(worse):+.2f} % at most; "
            f"worse by more than 1 % on {sum(w > 1 for w in worse)}",
            soft_wrap=True,
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.studies.auto", description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="time limit of each run (default: 6 s)")
    parser.add_argument("--threads", type=int, default=2, help="threads of each run (default: 2)")
    parser.add_argument("--seeds", default="1", help="random seeds, as for bench run (default: 1)")
    parser.add_argument("--out", default="results/auto", help="folder of the records (default: results/auto)")
    options = parser.parse_args(arguments)
    if options.seconds <= 0 or options.threads < 1:
        parser.error("--seconds must be above 0, --threads at least 1")
    folder = Path(options.out)
    written: list[Path] = []
    code = run_study(
        lambda o, console: written.append(prepared(folder, o.seconds, o.threads, o.seeds)), options
    )  # says what is wrong with a folder
    if code:
        return code
    command = ["run", str(written[0]), "--out", str(folder)]
    if exit_code(lambda: app(args=command, prog_name="bench", standalone_mode=False)) == STOPPED:
        return STOPPED
    return run_study(study, options)


if __name__ == "__main__":
    sys.exit(main())
