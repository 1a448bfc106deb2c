"""A problem kind of another package is run by every command; nothing of ours is edited."""

import json

import pytest
from installed import Beside, describe

PACKAGE = '''
"""Jobs on one machine, one after another, for the least sum of ends."""

from pathlib import Path

import schedlab as sl
from schedlab.bench.kinds.plain import PlainKind
from schedlab.bench.records.store import Number
from schedlab.instances import Instance
from schedlab.instances.files.writing import to_csv
from schedlab.models.kind import ProblemKind
from schedlab.models.language import Violation
from schedlab.models.problem import Encoding, Schedule


class Line:
    kind, sense = "line", "minimize"

    def __init__(self, sizes):
        self.sizes = dict(sizes)

    @property
    def formulations(self):
        return {"intervals": self._intervals}

    def _intervals(self):
        m = sl.Model("line")
        jobs = {name: m.interval(name, size=size) for name, size in self.sizes.items()}
        m.add(sl.no_overlap(list(jobs.values())))
        m.minimize(sl.sum([v.end for v in jobs.values()]))
        return Encoding(
            m,
            lambda a: Schedule({name: a[v].start for name, v in jobs.items()}),
            lambda s: sl.Assignment(m, {v: s.start[name] for name, v in jobs.items()}),
        )

    def verify(self, schedule):
        ends, found = 0, []
        for start, name in sorted((s, n) for n, s in schedule.start.items()):
            if start < ends:
                found.append(Violation("one at a time", ends - start, f"{name} starts at {start}, before {ends}"))
            ends = start + self.sizes[name]
        return found

    def value(self, schedule):
        return sum(start + self.sizes[name] for name, start in schedule.start.items())

    def read(self, data):
        return Schedule.from_json(data)


def read(folder, drop_impossible):
    folder.settings.only("kind", "description")
    sizes = {row.text("id"): row.whole("size", 1) for row in folder.rows("jobs.csv", ("id", "size"))}
    folder.raise_faults()
    return Instance(folder.path.name, "line", Line(sizes), folder.path, folder.settings.text("description", ""))


def write(instance, folder):
    folder = Path(folder)
    folder.mkdir()
    (folder / "instance.toml").write_text('kind = "line"\\n')
    (folder / "jobs.csv").write_text(to_csv(("id", "size"), instance.problem.sizes.items()))


class BenchLine(PlainKind):
    view_options = ("first",)

    @property
    def record_fields(self):
        return {"last_end": Number}

    def problem(self, instance, view):
        return Line(list(instance.problem.sizes.items())[: view.first])

    def extra_fields(self, problem, schedule):
        return {"last_end": max(start + problem.sizes[name] for name, start in schedule.start.items())}

    def faults(self, problem, record, schedule):
        true = None if schedule is None else self.extra_fields(problem, schedule)["last_end"]
        return [] if true == record.get("last_end") else [f"it has last end {record['last_end']}, not {true}"]

    def sizes(self, problem):
        return str(len(problem.sizes)), "1"

    def describe(self, console, instance):
        console.print(f"sum of the sizes: {sum(instance.problem.sizes.values())} s")


BENCH = BenchLine()
KIND = ProblemKind(
    "line", Line, reader="line_package:read", writer="line_package:write", bench="line_package:BENCH"
)
'''


@pytest.fixture
def beside(tmp_path):
    """Return processes beside the package, in a folder with an instance of three jobs."""
    site, day = tmp_path / "site", tmp_path / "day"
    describe(site, "line-package", "1.0", {"schedlab.problems": {"line": "line_package:KIND"}})
    (site / "line_package.py").write_text(PACKAGE)
    day.mkdir()
    (day / "instance.toml").write_text('kind = "line"\ndescription = "Three jobs."\n')
    (day / "jobs.csv").write_text("id,size\na,5\nb,3\nc,1\n")
    return Beside(tmp_path, site)


def run(*words):
    """Return the words of ``bench run`` that solve."""
    return ("run", "day", "--time-limit", 10, "--out", "out", *words)


@pytest.mark.slow
def test_its_instances_are_shown_run_verified_and_exported(beside, tmp_path):
    shown, planned, done, first, checked, _ = beside.benches(
        ("show", "day"),
        ("run", "day", "--dry-run"),
        run("--methods", "cpsat:intervals"),
        run("--methods", "cpsat:", "--first", 2),
        ("verify", "out"),
        ("export", "day", "--format", "mps", "--out", "day.mps"),
    )
    assert "Three jobs." in shown and "sum of the sizes: 9 s" in shown and "formulations: intervals" in shown
    assert "day, the whole instance: cpsat:intervals, seed 1, 60 s" in planned and "highs:intervals" in planned
    assert "best schedule: 14 by cpsat:intervals, verified" in done
    assert "day, first 2" in first and "best schedule: 11 " in first
    paths = list((tmp_path / "out").glob("*.json"))
    records = [json.loads(path.read_text()) for path in paths]
    assert sorted(r["last_end"] for r in records) == [8, 9] and {r["kind"] for r in records} == {"line"}
    assert "2 records, 2 valid" in checked
    assert (tmp_path / "day.mps").stat().st_size > 0
    for path in paths:
        path.write_text(path.read_text().replace('"last_end": 9', '"last_end": 7'))
    assert "it has last end 7, not 9" in beside.bench("verify", "out", code=1)


COPY = """
import sys, schedlab as sl
from schedlab.instances import write
write(sl.load("day"), sys.argv[1])
print(sl.load(sys.argv[1]).problem.sizes)
"""


def test_its_instances_are_written_and_its_view_options_are_its_own(beside, tmp_path):
    assert beside.python("-c", COPY, tmp_path / "copy") == "{'a': 5, 'b': 3, 'c': 1}\n"
    at, dispatcher = beside.benches(
        ("run", "day", "--at", "12:00", "--dry-run"), ("run", "day", "--methods", "easy", "--dry-run"), codes=(2, 2)
    )
    assert "--at is for dispatch problems; this is a line problem; its only view options are --first" in at
    assert "easy is a dispatcher: it needs a dispatch problem, day is a line problem" in dispatcher
