"""The reservations of a site: which nodes they have from when to when, and the jobs inside of them, under any dispatcher.

A reservation holds whole nodes [SlurmDoc, reservations]. No job may run into it by its time limit, except jobs that ask for it
(``SiteRequest.reservation``): these start between its start and its end, on its nodes alone, in order of their submission, each
as soon as it fits beside what runs; of a reservation that is repeated, and of several reservations, in the first one that ends
after their submission.
A job that has not started when its reservation is over waits as any other job does (Slurm's flag NO_HOLD_JOBS_AFTER). With the
flag FLEX jobs of the reservation may start before it, too; with MAINT no other reservation matters to them.

Running jobs stay: of the nodes of jobs that are past their time limits, that ran when the replay began, or that are inside,
a reservation holds what they leave, until they end. The dispatcher ``slurm`` has these rules in its own passes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...heuristics.kernels.profile import NEVER
from ...instances.workload import Workload
from ...models import Platform
from ...models.array_types import Bools
from ...models.dispatch.jobs import DAY
from ...models.reservations import Reserved
from ...models.site import Site, SiteReservation
from ..agenda import Entry, Rank
from ..dispatchers.easy import Holds
from ..dispatchers.policy_kernels import find_places
from ..timeline import Hold, Use, holding
from .feature import Feature, Replay
from .site_limits import names_of_reservations

HOUR = 3600
WEEK = 7 * DAY
PERIODS = {"hourly": HOUR, "daily": DAY, "weekly": WEEK}
DAYS = {"weekday": range(5), "weekend": range(5, 7)}  # 0: Monday
FIRST_DAY = 3  # second 0 of Unix is in a Thursday


class Times(NamedTuple):
    """From when to when a reservation holds its nodes, in s of the log; ``end``: the first second after it."""

    start: int
    end: int


class OwnTimes(NamedTuple):
    """When jobs that ask for a reservation may start in it, by its number among those of the site."""

    number: int
    times: Times


@dataclass(frozen=True, eq=False)
class ReservedNodes:
    """A reservation of a site on the nodes of a machine.

    Parameters
    ----------
    name : str
        Its name.
    starts : tuple of int
        Its first starts in s of the log.
    duration : int
        Its length in s.
    period : int
        After how many seconds each start comes again; 0: never.
    nodes : ndarray of bool, shape (nodes,)
        Its nodes.
    maint, flex : bool
        Whether its jobs heed no other reservation, and whether they may start before it.

    Examples
    --------
    >>> daily = ReservedNodes("r", (100,), 10, DAY, np.array([True]), False, False)
    >>> daily.times(0, 2 * DAY)
    [Times(start=100, end=110), Times(start=86500, end=86510)]
    >>> daily.first_after(110)
    Times(start=86500, end=86510)
    """

    name: str
    starts: tuple[int, ...]
    duration: int
    period: int
    nodes: Bools
    maint: bool
    flex: bool

    def times(self, begin: int, end: int) -> list[Times]:
        """Return all times at which it holds its nodes at some second in [begin, end), by start."""
        found = []
        for first in self.starts:
            start = self.next_of(first, begin)
            while start is not None and start < end:
                found.append(Times(start, start + self.duration))
                if self.period:
                    start = start + self.period
                else:
                    start = None
        return sorted(found)

    def first_after(self, time: int) -> Times | None:
        """Return the first time that ends after a time in s; None if there is none."""
        starts = [start for first in self.starts if (start := self.next_of(first, time)) is not None]
        if starts:
            return Times(min(starts), min(starts) + self.duration)
        return None

    def next_of(self, first: int, time: int) -> int | None:
        """Return the first of the starts ``first``, ``first + period``, ... of which the end is after a time; None: there is none."""
        late = time - self.duration - first + 1  # by so much, or more, it must start after the first start
        if late <= 0:
            return first
        if self.period:
            return first - (-late // self.period) * self.period
        return None


def reserved_nodes(site: Site, workload: Workload, platform: Platform) -> list[ReservedNodes]:
    """Return the reservations of a site that hold nodes, in the order of the site.

    Those of which the scheduler chooses the nodes are left out: nobody knows which these were.

    Parameters
    ----------
    site : Site
        The site; its times are Unix times.
    workload : Workload
        The jobs, whose second 0 is ``unix_start``.
    platform : Platform
        The machine.
    """
    shift = workload.unix_start or 0
    number = {name: n for n, name in enumerate(platform.nodes)}
    found = []
    for r in site.reservations:
        nodes = np.zeros(len(number), np.bool_)
        nodes[[number[name] for name in _names(r, site, platform) if name in number]] = True
        if not nodes.any() or r.duration <= 0:
            continue
        starts, period = _starts(r)
        own = tuple(start - shift for start in starts)
        found.append(ReservedNodes(r.name, own, r.duration, period, nodes, "maint" in r.flags, "flex" in r.flags))
    return found


def _names(r: SiteReservation, site: Site, platform: Platform) -> Sequence[str]:
    """Return the names of the nodes of a reservation; without nodes, numbers and features it has all of its partition."""
    if r.nodes or r.node_count is not None or r.core_count is not None or r.features or r.licences:
        return r.nodes
    known = {p.name: p.nodes for p in site.partitions}
    return known.get(r.partition, platform.nodes)


def _starts(r: SiteReservation) -> tuple[tuple[int, ...], int]:
    """Return the first starts of a reservation in Unix time, and its period in s; weeks begin on Mondays in UTC."""
    period = next((PERIODS[flag] for flag in r.flags if flag in PERIODS), 0)
    days = next((DAYS[flag] for flag in r.flags if flag in DAYS), None)
    if days is None:
        return (r.start,), period
    week = (r.start + k * DAY for k in range(7))
    return tuple(start for start in week if (start // DAY + FIRST_DAY) % 7 in days), WEEK


def own_times(workload: Workload, reserved: Sequence[ReservedNodes], row: int) -> OwnTimes | None:
    """Return when a job that asks for a reservation may start in it; None if it asks for none that ends after its submission."""
    if workload.site is None:
        return None
    names = names_of_reservations(workload.site.requests[int(workload.site.request[row])])
    since = max(int(workload.submit[row]), int(workload.release[row]))
    known = [(k, r.first_after(since)) for k, r in enumerate(reserved) if r.name in names]
    coming = [OwnTimes(k, times) for k, times in known if times is not None]
    return min(coming, key=lambda own: own.times, default=None)


class Reservations(NamedTuple):
    """The reservations of a site, and row -> when a job that asks for one may start in it."""

    reserved: Sequence[ReservedNodes]
    own: Mapping[int, OwnTimes]


def reservations_of(site: Site) -> Callable[[Workload, Platform], Reservations]:
    """Return the function that gives the reservations of a site for the rows of a workload on a platform.

    Parameters
    ----------
    site : Site
        The site.
    """

    def made(workload: Workload, platform: Platform) -> Reservations:
        reserved = reserved_nodes(site, workload, platform)
        if not reserved or workload.site is None:
            return Reservations(reserved, {})
        asking = np.array([bool(request.reservation) for request in workload.site.requests], np.bool_)
        rows = np.flatnonzero(asking[workload.site.request]).tolist()
        own = ((row, own_times(workload, reserved, row)) for row in rows)
        return Reservations(reserved, {row: times for row, times in own if times is not None})

    return made


def site_reservations(
    site: Site, workload: Workload, platform: Platform, others: Iterable[int] = ()
) -> SiteReservations | None:
    """Return the feature that keeps to the reservations of a site; None if all are over before the first submission.

    Parameters
    ----------
    site, workload, platform
        The site, the jobs, the machine.
    others : iterable of int
        The submit times of further jobs in s.
    """
    if workload.begin is None:
        begin = min([int(workload.release.min()), *others])
    else:
        begin = workload.begin
    reserved = reserved_nodes(site, workload, platform)
    if any(r.first_after(begin) is not None for r in reserved):
        return SiteReservations(site)
    return None


class SiteReservations(Feature):
    """The reservations of the site of a replay.

    Parameters
    ----------
    site : Site
        The site.
    """

    watches = True
    follows_nodes = True

    def __init__(self, site: Site) -> None:
        self._site = site

    def begin(self, engine: Replay) -> None:
        """Put the reservations on the agenda, each long enough before its start for the longest job."""
        self._engine = engine
        w = engine.workload
        self._reserved = reserved_nodes(self._site, w, engine.platform)
        self._classes = [_by_capacity(r, engine.platform) for r in self._reserved]
        self._ahead = max(DAY, int(w.walltime.max()))
        # by the number of a reservation and its start: when it is to be shown, and what dispatchers see already
        self._later: dict[tuple[int, int], Entry] = {}
        self._shown: dict[tuple[int, int], Times] = {}
        self._keys: list[Hashable] = []  # of what the timeline holds
        self._counted: object = None  # what was held when the timeline was told, and beside what
        self._own: dict[int, OwnTimes] = {}
        self._waiting: dict[int, None] = {}  # rows of the jobs that wait for their reservations, by submission
        # no job starts before
        if w.begin is None:
            self._first = int(w.submit.min())
        else:
            self._first = w.begin
        for k, r in enumerate(self._reserved):
            for first in r.starts:
                start = r.next_of(first, self._first)
                if start is not None:
                    self._plan(k, start)
        self._hold()

    @property
    def busy(self) -> bool:
        """Whether jobs wait for their reservations."""
        return bool(self._waiting)

    # --- What is held.

    def _plan(self, k: int, start: int) -> None:
        """Show a reservation that has a start in the near future, and its repetitions; put the first later one on the agenda."""
        r = self._reserved[k]
        while start - self._ahead <= max(self._first, self._engine.now):
            self._show(k, Times(start, start + r.duration))
            if not r.period:
                return
            start += r.period
        due = start - self._ahead
        self._later[k, start] = self._add(due, Rank.RESERVATION_REQUEST, lambda: self._show_later(k, start), r.period)

    def _show_later(self, k: int, start: int) -> None:
        del self._later[k, start]
        self._plan(k, start)

    def _look_further(self, longest: int) -> None:
        """Show reservations longer before their starts, as a job may run so long (s)."""
        self._ahead = longest
        later, self._later = self._later, {}
        for (k, start), entry in later.items():
            self._engine.agenda.cancel(entry)
            self._plan(k, start)

    def _show(self, k: int, times: Times) -> None:
        self._shown[k, times.start] = times
        period = self._reserved[k].period
        self._add(times.start, Rank.RESERVATION_START, lambda: None, period)
        self._add(times.end, Rank.RESERVATION_END, lambda: self._end(k, times.start), period)

    def _add(self, time: int, rank: Rank, action: Callable[[], object], period: int) -> Entry:
        return self._engine.agenda.add(time, rank, action, waits_for_jobs=True, period=period)

    def _end(self, k: int, start: int) -> None:
        """End a reservation; the jobs that have not started in it wait as all others do from now on."""
        engine = self._engine
        del self._shown[k, start]
        self._hold()
        engine.timeline.freed_early()
        rows = [j for j in self._waiting if self._own[j].times.end <= engine.now]
        for j in rows:
            del self._waiting[j]
            engine.ledger.count(j, -1)
        if rows:
            engine.come_back(rows)

    def _hold(self) -> None:
        """Tell the timeline what the reservations hold beside the jobs that run now."""
        engine, timeline = self._engine, self._engine.timeline
        others = [key for key in timeline.holds if key not in self._keys]
        beside = []
        if self._shown:
            beside = self._beside()
        counted = (tuple(self._shown), tuple(others), tuple(beside))
        if counted == self._counted:
            return
        self._counted = counted
        uses = [use for j, end in beside for use in engine.ledger.uses_of(j, engine.now, end)]
        uses += [timeline.holds[key].use for key in others]
        now = max(self._first, engine.now)
        for key in self._keys:
            timeline.release(key)
        held = holding(engine.platform, now, self._requested(), (("", use) for use in uses))
        self._keys = [("site", r.name) for r in held]
        for key, r in zip(self._keys, held, strict=True):
            timeline.hold(key, Hold(r.name, r.queue, Use(r.nodes, r.request, r.start, r.end)))

    def _beside(self) -> list[tuple[int, int]]:
        """Return the jobs that run at the first start of a reservation, by their time limits, and their ends."""
        engine = self._engine
        rows = np.array(engine.running, np.int64)
        ends = engine.ledger.walltime_ends(rows)
        late = ends > min(times.start for times in self._shown.values())
        return list(zip(rows[late].tolist(), ends[late].tolist(), strict=True))

    def _requested(self) -> list[Reserved]:
        """Return what the reservations would hold on an empty machine, by start."""
        listed = sorted(self._shown.items(), key=lambda item: item[1])
        return [
            Reserved(self._reserved[k].name, "", times.start, times.end, nodes, request)
            for (k, _), times in listed
            for nodes, request in self._classes[k]
        ]

    # --- The jobs inside.

    def arrived(self, rows: Sequence[int]) -> None:
        """Take the jobs that wait for reservations out of the queue that the dispatcher sees."""
        engine, w = self._engine, self._engine.workload
        longest = int(w.walltime[list(rows)].max(initial=0))  # users may have chosen it
        if longest > self._ahead:
            self._look_further(longest)
        for j in rows:
            own = own_times(w, self._reserved, j)
            if own is None or own.times.end <= engine.now or j not in engine.ledger.waiting:
                continue
            engine.ledger.withdraw([j])
            engine.ledger.count(j, 1)  # its calendar opens for it, too
            engine.plans.remove(j)
            self._own[j] = own
            self._waiting[j] = None
        self._waiting = dict.fromkeys(sorted(self._waiting, key=lambda j: (int(w.release[j]), j)))

    def ended(self, rows: Sequence[int]) -> None:
        """Hold what the running jobs leave now."""
        self._hold()

    def ended_early(self, row: int, nodes: Sequence[int]) -> None:
        """Hold what the running jobs leave now."""
        self._hold()

    def before_decision(self) -> None:
        """Start the jobs that have room in their reservations."""
        for j in list(self._waiting):
            r, own = self._reserved[self._own[j].number], self._own[j]
            if (r.flex or own.times.start <= self._engine.now) and self._find_places(j, own.number):
                del self._waiting[j]
                self._engine.start(j, self._engine.ledger.nodes_of(j))
        self._hold()

    def _find_places(self, j: int, number: int) -> bool:
        """Find places for a job on the nodes of its reservation, where it runs into no other one."""
        engine, timeline = self._engine, self._engine.timeline
        if timeline.limit_on(j) or (timeline.machine_lacks(j) > 0).any():
            return False
        r = self._reserved[number]
        kept = timeline.holds_of(hold.use for key, hold in timeline.holds.items() if key not in self._keys)
        barred = [(~(r.nodes & timeline.open[: r.nodes.size]), Times(engine.now, NEVER))]
        if not r.maint:
            barred += [(self._reserved[k].nodes, times) for (k, _), times in self._shown.items() if k != number]
        for nodes, times in barred:
            where = np.flatnonzero(nodes)
            start, end = np.full(where.size, times.start), np.full(where.size, times.end)
            closed = Holds(where, start, end, engine.trace.capacity[where])
            kept = Holds(*(np.concatenate(columns) for columns in zip(kept, closed, strict=True)))
        return find_places(engine, j, kept)

    def forbids_change(self, row: int) -> str:
        """Return that a job waits for its reservation."""
        if row not in self._waiting:
            return ""
        return f"job {self._engine.workload.ids[row]!r} waits for reservation {self._reserved[self._own[row].number].name!r}"


def _by_capacity(r: ReservedNodes, platform: Platform) -> list[tuple[dict[str, int], Mapping[str, int]]]:
    """Return the nodes of a reservation with a unit on each, and what a unit is, by the capacity of the nodes."""
    classes: dict[tuple[int, ...], dict[str, int]] = {}
    for n in np.flatnonzero(r.nodes).tolist():
        name = platform.nodes[n]
        classes.setdefault(tuple(platform.capacity[name]), {})[name] = 1
    return [(nodes, dict(zip(platform.resources, vector, strict=True))) for vector, nodes in classes.items()]
