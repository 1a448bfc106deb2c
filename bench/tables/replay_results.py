"""The replays of one workload under several dispatchers, with the offline runs on the same jobs: data of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from ..grid import BAD, UNKNOWN, Styled
from ..records.store import Record
from ..replays.settings import USUAL_FLOOR, ReplaySettings
from ..runs.view import View, replay_label
from .methods import ViewResults, by_method

RECORDED = "as recorded"
VERDICTS = {  # short, because the column is narrow
    "timeout": "cut",
    "out of memory": "memory",
    "dispatcher": "error",
    "unavailable": "none",
}


@dataclass(frozen=True)
class DispatcherRow:
    """The replays of one dispatcher, one per seed, or the schedule that the trace itself recorded.

    Attributes
    ----------
    name : str
        The dispatcher, or "as recorded".
    records : sequence of Record
        One record per seed. Figures are means over the seeds, and None unless every seed has them.
    recorded : mapping
        The metrics of the recorded schedule, if this row is about it.
    """

    name: str
    records: Sequence[Record] = ()
    recorded: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the replay of every seed reached its end and passed the check."""
        return all(r["verified"] and r["status"] == "feasible" for r in self.records)

    def metric(self, name: str) -> float | None:
        """Return a figure of ``Metrics.as_dict``, the mean over the seeds."""
        if not self.whole:
            return None
        values = [m.get(name) for m in ([r["metrics"] for r in self.records] or [self.recorded])]
        return None if any(v is None for v in values) else fmean(values)

    @property
    def objective(self) -> float | None:
        """The mean objective over the seeds, None unless every seed has one."""
        values = [r["objective"] for r in self.records] if self.whole else []
        return fmean(values) if values and None not in values else None

    @property
    def verdict(self) -> Styled:
        """Whether every schedule passed the check, or why there is none."""
        if not self.records:
            return Styled(UNKNOWN, "")
        causes = [r["cause"] or ("NO" if r["verified"] is False else r["status"]) for r in self.records]
        why = next((c for c in causes if c != "feasible"), "yes")
        return Styled("yes", "") if self.whole else Styled(VERDICTS.get(why, why), BAD)

    @property
    def seconds(self) -> float:
        """The wall time of a replay in seconds, the mean over the seeds."""
        return fmean([float(r["seconds"]["total"] or 0) for r in self.records])


@dataclass(frozen=True)
class ReplayResults:
    """The replays of one workload, and the offline runs that knew all its jobs and their runtimes in advance."""

    records: Sequence[Record]
    offline: Sequence[Record] = ()

    @cached_property
    def rows(self) -> list[DispatcherRow]:
        """One row per dispatcher in the order of the records, then the recorded schedule if the trace has one."""
        recorded = next((r["simulation"]["recorded"] for r in self.records if "simulation" in r), None)
        rows = [DispatcherRow(name, members) for name, members in by_method(self.records).items()]
        return [*rows, DispatcherRow(RECORDED, recorded=recorded)] if recorded else rows

    @cached_property
    def clairvoyant(self) -> ViewResults:
        """The results of the offline runs, with their best schedule and best bound."""
        return ViewResults(self.offline)

    @property
    def contradiction(self) -> str | None:
        """The message about a bound that a verified schedule refutes, else None."""
        same = [r for r in self.records if (r.get("simulation") or {}).get("offline")]
        return ViewResults([*self.offline, *same]).contradiction

    @property
    def best(self) -> float | None:
        """The objective of the best offline schedule, None if there is none."""
        schedule = self.clairvoyant.schedule
        return None if schedule is None else float(schedule["objective"])

    @property
    def bound(self) -> float | None:
        """The best bound that no verified schedule refutes, None if there is none."""
        record = self.clairvoyant.bound
        return None if record is None else float(record["bound"])

    @property
    def metrics(self) -> Sequence[str]:
        """The names of the figures in the records of the replays."""
        return next((list(r["metrics"]) for r in self.records if "metrics" in r), [])

    @property
    def bsld_floor(self) -> float:
        """The least duration in the bounded slowdown, in seconds."""
        return next((float(f) for r in self.records if (f := (r.get("metrics") or {}).get("bsld_floor"))), USUAL_FLOOR)

    @property
    def objective_name(self) -> str:
        """The name of the objective of these replays."""
        known = (r["simulation"]["objective"] for r in self.records if "simulation" in r)
        return str(next(known, "objective"))


def extract_replays(records: Iterable[Record]) -> tuple[list[tuple[str, ReplayResults]], list[Record]]:
    """Split records into the results of replays, each with its title, and all other records.

    An offline run on the same jobs with their true runtimes belongs to the results of the replays of these jobs.
    """
    left: list[Record] = []
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for r in records:
        if r.get("replay") is None:
            left.append(r)
            continue
        groups.setdefault((r["content"], View(**r["view"]), ReplaySettings(**r["replay"]).for_policies), []).append(r)
    results = []
    for (content, view, _), members in groups.items():
        offline: list[Record] = []
        if any((r.get("simulation") or {}).get("offline") for r in members):
            offline = [r for r in left if r["content"] == content and View(**r["view"]) == view]
            left = [r for r in left if not any(r is o for o in offline)]
        label = max((replay_label(view, ReplaySettings(**r["replay"])) for r in members), key=len)
        results.append((f"{members[0]['instance']}, {label}", ReplayResults(members, offline)))
    return results, left
