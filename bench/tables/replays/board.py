"""The replays of one workload under several dispatchers, beside the clairvoyant: what the tables are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from rich.text import Text

from ...records.store import Record
from ...runs.replay_settings import ReplaySettings
from ...runs.view import View, replay_label
from ..methods import ViewResults

RECORDED = "as recorded"
VERDICTS = {
    "timeout": "cut",
    "out of memory": "memory",
    "dispatcher": "error",
    "unavailable": "none",
}  # to fit a column


@dataclass(frozen=True)
class DispatcherRow:
    """The replays of one dispatcher, one per seed; figures are means over the seeds, None unless every seed has them."""

    name: str
    records: Sequence[Record] = ()
    real: Mapping[str, Any] = field(default_factory=dict)  # the metrics of what the real machine did

    @property
    def whole(self) -> bool:
        """Whether every seed's replay went to its end and holds."""
        return all(r["verified"] and r["status"] == "feasible" for r in self.records)

    def metric(self, name: str) -> float | None:
        """A figure of ``Metrics.as_dict``."""
        if not self.whole:
            return None
        values = [m.get(name) for m in ([r["metrics"] for r in self.records] or [self.real])]
        return None if any(v is None for v in values) else fmean(values)

    @property
    def objective(self) -> float | None:
        """The mean objective."""
        return fmean([r["objective"] for r in self.records]) if self.records and self.whole else None

    @property
    def verdict(self) -> Text:
        """Whether every schedule holds, or why there is none."""
        if not self.records:
            return Text("-")
        causes = [r["cause"] or ("NO" if r["verified"] is False else r["status"]) for r in self.records]
        why = next((c for c in causes if c != "feasible"), "yes")
        return Text("yes") if self.whole else Text(VERDICTS.get(why, why), style="bold red")


@dataclass(frozen=True)
class ReplayResults:
    """The replays of one workload, and the offline runs on the same jobs with their true durations."""

    records: Sequence[Record]
    offline: Sequence[Record] = ()

    @cached_property
    def lines(self) -> list[DispatcherRow]:
        """A line per dispatcher, in their order, then what the real machine did if the trace knows it."""
        found: dict[str, list[Record]] = {}
        for r in self.records:
            found.setdefault(r["method"], []).append(r)
        real = next((r["simulation"]["recorded"] for r in self.records if "simulation" in r), None)
        return [
            *(DispatcherRow(n, rs) for n, rs in found.items()),
            *([DispatcherRow(RECORDED, real=real)] if real else []),
        ]

    @cached_property
    def clairvoyant(self) -> ViewResults:
        """The offline runs as a board: best schedule, best bound."""
        return ViewResults(self.offline)

    @property
    def contradiction(self) -> str | None:
        """A bound that a verified schedule refutes."""
        same = [r for r in self.records if (r.get("simulation") or {}).get("offline")]
        return ViewResults([*self.offline, *same]).contradiction

    @property
    def best(self) -> float | None:
        """The objective of the best offline schedule."""
        schedule = self.clairvoyant.schedule
        return None if schedule is None else float(schedule["objective"])

    @property
    def bound(self) -> float | None:
        """The best true bound."""
        record = self.clairvoyant.bound
        return None if record is None else float(record["bound"])

    @property
    def metrics(self) -> Sequence[str]:
        """The names of the figures that the replays have."""
        return next((list(r["metrics"]) for r in self.records if "metrics" in r), [])

    @property
    def aim(self) -> str:
        """The objective of these replays."""
        known = (r["simulation"]["objective"] for r in self.records if "simulation" in r)
        return str(next(known, "objective"))


def sorted_out(records: Iterable[Record]) -> tuple[list[tuple[str, ReplayResults]], list[Record]]:
    """The boards of the replays among some records, each with its title, and the records that belong to none.

    Offline runs on the same jobs, every job taking what it took, belong to the board of their day.
    """
    left: list[Record] = []
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for r in records:
        if r.get("replay") is None:
            left.append(r)
            continue
        groups.setdefault((r["content"], View(**r["view"]), ReplaySettings(**r["replay"]).for_policies), []).append(r)
    boards = []
    for (content, view, _), members in groups.items():
        offline: list[Record] = []
        if any((r.get("simulation") or {}).get("offline") for r in members):
            offline = [r for r in left if r["content"] == content and View(**r["view"]) == view]
            left = [r for r in left if not any(r is o for o in offline)]
        label = max((replay_label(view, ReplaySettings(**r["replay"])) for r in members), key=len)
        boards.append((f"{members[0]['instance']}, {label}", ReplayResults(members, offline)))
    return boards, left
