"""The registration of the kind: its folder, its start, and what the bench needs to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from rich.console import Console
from schedlab import Result
from schedlab.backends import Limits
from schedlab.bench.kinds.base import Drawing
from schedlab.bench.kinds.plain import PlainKind
from schedlab.bench.records.store import Count
from schedlab.heuristics import Heuristic, Incumbents, OnIncumbent
from schedlab.instances import Instance
from schedlab.instances.files import Folder, to_csv, to_toml, write_files
from schedlab.models import Problem, Schedule
from schedlab.models.kind import ProblemKind

from .problem import FlowShop


def read(folder: Folder, drop_impossible: bool = False) -> Instance:
    """Read an instance folder: instance.toml, and jobs.csv with the columns id, first, second (seconds)."""
    folder.settings.only("kind", "description")
    rows = folder.rows("jobs.csv", ("id", "first", "second"))
    jobs = {row.text("id"): (row.whole("first", 1), row.whole("second", 1)) for row in rows}
    folder.raise_faults()
    return Instance(folder.path.name, "flow-shop", FlowShop(jobs), folder.path, folder.settings.text("description", ""))


def write(instance: Instance, folder: str | Path) -> None:
    """Write an instance folder."""
    shop = instance.problem
    assert isinstance(shop, FlowShop)
    rows = [(name, *sizes) for name, sizes in shop.jobs.items()]
    files = {
        "instance.toml": to_toml({"kind": "flow-shop", "description": instance.description}, ""),
        "jobs.csv": to_csv(("id", "first", "second"), rows),
    }
    write_files(Path(folder), files, lambda path: read(Folder(path)))


class Johnson(Heuristic):
    """Return an optimal schedule by Johnson's rule (1954)."""

    kinds: ClassVar[tuple[str, ...]] = ("flow-shop",)

    def run(
        self, problem: FlowShop, limits: Limits, start: Schedule | None, on_incumbent: OnIncumbent | None
    ) -> Result:
        """Sort the jobs."""
        jobs = problem.jobs
        early = sorted((j for j, (a, b) in jobs.items() if a <= b), key=lambda j: jobs[j][0])
        late = sorted((j for j, (a, b) in jobs.items() if a > b), key=lambda j: -jobs[j][1])
        schedule = problem.in_order(early + late)
        seen = Incumbents(problem, "johnson", on_incumbent)
        seen.report(problem.value(schedule), lambda: schedule)
        return seen.result(schedule, message="Johnson's rule", optimal=True)


class BenchFlowShop(PlainKind):
    """Flow shops in the bench: idle time of machine 2 in the records, a picture of each best schedule."""

    @property
    def record_fields(self) -> Mapping[str, Any]:
        """The idle time of machine 2 in seconds."""
        return {"idle_s": Count}

    def extra_fields(self, problem: Problem, schedule: Schedule) -> dict[str, Any]:
        """Return the idle time of machine 2 before the last job ends."""
        assert isinstance(problem, FlowShop)
        return {"idle_s": problem.value(schedule) - sum(b for _, b in problem.jobs.values())}

    def faults(self, problem: Problem, record: Mapping[str, Any], schedule: Schedule | None) -> list[str]:
        """Return a fault if the idle time is not that of the schedule."""
        true = None if schedule is None else self.extra_fields(problem, schedule)["idle_s"]
        return [] if record.get("idle_s") == true else [f"it has idle_s {record.get('idle_s')}, not {true}"]

    def sizes(self, problem: Problem) -> tuple[str, str]:
        """Return the number of jobs and of machines."""
        assert isinstance(problem, FlowShop)
        return str(len(problem.jobs)), "2"

    def describe(self, console: Console, instance: Instance) -> None:
        """Print the work of both machines."""
        assert isinstance(instance.problem, FlowShop)
        first, second = (sum(p[k] for p in instance.problem.jobs.values()) for k in (0, 1))
        console.print(f"work: {first} s on machine 1, {second} s on machine 2")

    def draw(self, records: Iterable[Mapping[str, Any]], methods: Sequence[str]) -> Drawing:
        """Draw the starts of each run as a line of text."""
        drawn = [r for r in records if r["schedule"]]
        return Drawing("flow shops", [f"<p>{r['method']}: makespan {r['objective']} s</p>" for r in drawn], len(drawn))


BENCH = BenchFlowShop()
FLOW_SHOP = ProblemKind(
    "flow-shop",
    FlowShop,
    reader="flow_shop.kind:read",
    writer="flow_shop.kind:write",
    start="johnson",
    bench="flow_shop.kind:BENCH",
)
