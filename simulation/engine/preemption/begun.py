"""Jobs that run at the begin of a replay and may have to leave: rows of the workload for their later attempts.

Who leaves is not known before the replay. So each of these jobs has a row, which arrives when its first attempt ends
early; the rows that were not needed are removed from the result. In the state of the replay, the first attempt has a
number of its own, above those of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ....instances.workload import Ints, Workload
from ....models import Running
from ..simulation import NodeRanges, Simulation
from ..states.attempts import History
from ..states.begun import with_rows
from .record import PreemptionRecord

T = TypeVar("T")


def with_begun_rows(workload: Workload) -> tuple[Workload, frozenset[str]]:
    """Return the workload with a row for each job that runs at its begin, and the ids of these jobs."""
    return with_rows(workload, [(r,) for r in workload.running]), frozenset(r.job.id for r in workload.running)


def rows_of_begun(workload: Workload, names: frozenset[str]) -> dict[int, Running]:
    """Return row -> how its job runs at the begin, in the order of ``workload.running``."""
    row = {name: k for k, name in enumerate(workload.ids)} if names else {}
    return {row[r.job.id]: r for r in workload.running if r.job.id in names}


def without_rows(found: Simulation, names: frozenset[str]) -> Simulation:
    """Return a result without the rows of jobs (ids) that have not come back after they had run at the begin."""
    ran = set() if found.history is None else set(found.history.begun)
    gone = [k for k, name in enumerate(found.workload.ids) if name in names and k not in ran]
    if not gone:
        return found
    kept = np.ones(len(found.workload), np.bool_)
    kept[gone] = False
    new = np.cumsum(kept) - 1
    p = found.placement  # rows that never started have no ranges
    return replace(
        found,
        workload=found.workload.keep(kept),
        **{name: getattr(found, name)[kept] for name in ("start", "end", "killed", "expected", "first_reserved")},
        placement=NodeRanges(p.first[np.append(kept, True)], p.low, p.high, p.units),
        history=None if found.history is None else _history(found.history, kept, new),
        preemption=None if found.preemption is None else _record(found.preemption, new),
    )


def _history(history: History, kept: NDArray[np.bool_], new: Ints) -> History:
    return replace(
        history,
        rows=new[history.rows],
        dropped=_renumbered(history.dropped, new),
        ran_before=history.ran_before[kept],
        saved=history.saved[kept],
        begun=_renumbered(history.begun, new),
        restarted=None if history.restarted is None else history.restarted[kept],
    )


def _record(record: PreemptionRecord, new: Ints) -> PreemptionRecord:
    return replace(
        record,
        rows=tuple(int(new[row]) for row in record.rows),
        departures=tuple(d._replace(row=int(new[d.row])) for d in record.departures),
        first_start=_renumbered(record.first_start, new),
    )


def _renumbered(by_row: Mapping[int, T], new: Ints) -> dict[int, T]:
    return {int(new[row]): value for row, value in by_row.items()}
