"""Fixtures for the tests of the bench: the command line, a small profit instance, and records of it."""

import math
import random
from dataclasses import replace

import pytest
from in_process import perform_in_process
from schedlab.backends import Incumbent, Result
from schedlab.bench import Run, View
from schedlab.bench.cli.app import main
from schedlab.bench.kinds.profit import account_fields
from schedlab.bench.records import Store, outcome, plain
from schedlab.bench.records.record import record
from schedlab.heuristics import first_solution
from schedlab.instances import load
from schedlab.instances.files import content_of


@pytest.fixture
def bench(capsys):
    """Return a function that runs a command in this process and returns its exit code, standard output and error."""

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.fixture(scope="module")
def in_process():
    """Perform the runs of a module in this process: for tests of options, records and tables."""
    with pytest.MonkeyPatch.context() as patch:
        perform_in_process(patch)
        yield


@pytest.fixture
def unrendered(monkeypatch):
    """Leave out the rendering, most of the time of a page: figures are made, and their SVG is empty."""
    figures = pytest.importorskip("matplotlib.figure")
    empty = '<svg viewBox="0 0 1 1"></svg>'
    monkeypatch.setattr(figures.Figure, "savefig", lambda self, file, **options: file.write(empty))


SETTINGS = """\
kind = "profit"
description = "A computing centre of four nodes."
scenario = "air,summer,cheap"

[profit]
energy_price = 0.13
until_s = 172800

[profit.cooling.air]
table = "air"
scale = 0.00166

[profit.cooling.hybrid]
table = "hybrid"
scale = 0.00166

[profit.season.summer]
temperatures = "summer.csv"

[profit.season.winter]
temperatures = "winter.csv"

[profit.price.cheap]
core_hour = 0.013

[profit.price.expensive]
core_hour = 0.10

[[platform.groups]]
name = "n"
count = 4
capacity = { cores = 4 }

[[queues]]
name = "batch"
ewt_s = 3600
"""


def profit_folder(folder, jobs=30, seed=1, settings=SETTINGS):
    """Write an instance of a computing centre: 4 nodes of 4 cores, 2 days, more work than the machine can do."""
    dice = random.Random(seed)
    rows = ["id,queue,submit,units,cores,walltime,runtime,power"]
    for k in range(jobs):
        units, cores, hours = 1 + int(3 * dice.random()), 1 + int(4 * dice.random()), 1 + int(11 * dice.random())
        power = round(units * cores * (7.8 + 3.31 * dice.random()), 2)
        rows.append(f"j{k},batch,{5400 * k},{units},{cores},{7200 * hours},{3600 * hours},{power}")
    folder.mkdir()
    (folder / "instance.toml").write_text(settings)
    (folder / "jobs.csv").write_text("\n".join(rows) + "\n")
    for season, mean in (("summer", 24), ("winter", 4)):
        hours = (f"{3600 * h},{mean + 5 * math.sin(h / 24 * 2 * math.pi):.2f}" for h in range(72))
        (folder / f"{season}.csv").write_text("time_s,temperature_c\n" + "\n".join(hours) + "\n")
    return folder


@pytest.fixture(scope="session")
def centre(tmp_path_factory):
    """Return the folder of a small profit instance."""
    return profit_folder(tmp_path_factory.mktemp("instances") / "centre")


METHODS = {
    "rule:est": "est",
    "rule:est-strict": "-duration",
    "rule:wt": "duration",
    "lns": "power-per-profit.-duration",
}


def profit_records(folder, out, scenarios, methods=METHODS):
    """Write records of an instance: for each method a list schedule in place of its result; and a record with a bound."""
    instance = load(folder)
    with Store(out) as store:
        for k, scenario in enumerate(scenarios):
            view = View(scenario=scenario)
            problem = view.of(instance)
            run = Run(instance.name, str(folder), content_of(folder), "", view=view, time_limit=20.0, kind="profit")
            for method, order in methods.items():
                schedule = first_solution(problem, order)
                value = problem.value(schedule)
                trace = [Incumbent(0.05, 0.9 * value, None), Incumbent(1.5, value, None)]
                result = Result("feasible", method, "1", problem=problem, incumbents=trace)
                result.schedule, result.objective = schedule, value
                result.phases = {"build": 0.0, "lower": 0.0, "solve": 2.0, "total": 2.0}
                found = outcome(problem, result) | account_fields(problem, schedule)
                store.write(record(replace(run, method=method), plain(found), f"2026-01-0{k + 1}T00:00:00+00:00"))
            bound = Result("unknown", "highs", "1", problem=problem, bound=2 * value)
            found = outcome(problem, bound)
            store.write(record(replace(run, method="highs:fluid"), plain(found), f"2026-01-0{k + 1}T00:00:01+00:00"))
    return out


@pytest.fixture(scope="session")
def profit_results(centre, tmp_path_factory):
    """Return a folder with records of two scenarios."""
    out = tmp_path_factory.mktemp("results") / "centre"
    return profit_records(centre, out, ["air,summer,cheap", "hybrid,winter,expensive"])
