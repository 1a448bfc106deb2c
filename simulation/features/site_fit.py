"""Whether a log and a site fit: names of the log that the site does not have, times of the site outside of the log.

What happens to jobs that name them is up to the caller: they go on as far as they can (``keep``), are left out (``skip``), or
the first of them end the replay with an error that lists them (``stop``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

import numpy as np

from ...errors import WrongValue
from ...instances.files.lines import WorkloadError
from ...instances.workload import Workload
from ...models.array_types import Ints
from ...models.excerpt import excerpt, hint
from ...models.node_states import NodeEvent
from ...models.site import PBSSettings, Site
from ...models.words import how_many
from .site_limits import hosts_in, licences_in, names_of_reservations, partitions_of_jobs

CHOICES = ("keep", "skip", "stop")
SHOWN_JOBS = 3
SHOWN_NAMES = 5
LEFT_OUT = "unknown to the site, left out"
PARTITION, RESERVATION, QUALITY, ACCOUNT, USER = "partition", "reservation", "QOS", "account", "user"
LICENCE, ASKED, RAN = "licence", "requested node", "node"
EFFECTS = {
    PARTITION: "left out",
    RESERVATION: "left out where they never started, else they start as any other job",
    QUALITY: "no limit of it holds",
    ACCOUNT: "no limit of it holds",
    USER: "no limit or share of it holds",
    LICENCE: "they wait for none",
    ASKED: "it is left out of their requests",
    RAN: "recorded; they may run elsewhere",
}


@dataclass(frozen=True, eq=False)
class _Unknown:
    """A name that the site does not have: of which values of the jobs' column ``index`` it is a part."""

    kind: str
    name: str
    values: list[int]
    index: Ints
    known: Sequence[str]
    jobs: int

    def text(self, workload: Workload) -> str:
        """Return what messages say of it: its jobs, and similar names."""
        rows = np.flatnonzero(np.isin(self.index, self.values))
        more = f" and {self.jobs - SHOWN_JOBS} more" if self.jobs > SHOWN_JOBS else ""
        shown = ", ".join(workload.ids[row] for row in rows[:SHOWN_JOBS].tolist()) + more
        words = hint(self.name, self.known, "it has", "it has none")
        count = how_many(self.jobs, "job", ",")
        return f"the site has no {self.kind} {excerpt(self.name)} ({count}: {shown}; {words})"


def fitted(workload: Workload, site: Site, on_unknown: str = "keep", in_place: bool = False) -> Workload:
    """Return the jobs of a log that go on although the site does not have what they name; the report says which do not.

    QOS, accounts and users are compared where the site has some, in any case of letters.

    Parameters
    ----------
    workload : Workload
        The log.
    site : Site
        The site.
    on_unknown : {"keep", "skip", "stop"}, optional
        ``"keep"``: jobs in unknown partitions and reservations, which Slurm refuses, are left out, other names have no
        effect. ``"skip"``: all jobs that name something unknown are left out. ``"stop"``: an error lists them.
    in_place : bool, optional
        Whether jobs are put on their recorded nodes; those that ran on unknown ones are then left out in any case, and
        those in unknown reservations are not, as they may hold their nodes (``site_limits.without_refused``).

    Raises
    ------
    WorkloadError
        With ``"stop"``, if there are such jobs, else if none is left.
    WrongValue
        ``on_unknown`` is something else.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
    >>> from schedlab.models.site import Partition, SiteNode
    >>> jobs = [Job(f"j{k}", 0, 60, 1, {"cores": 1}, queue, runtime=60) for k, queue in enumerate(("p", "gost"))]
    >>> platform = Platform([NodeGroup("n", 1, {"cores": 4})])
    >>> log = Workload.of(Dispatch(platform, jobs, [Queue("p", 60), Queue("gost", 60)]))
    >>> site = Site("s", [SiteNode("n1", 4)], [Partition("p", ("n1",)), Partition("ghost", ("n1",))])
    >>> fitted(replace(log, partitions=("p", "gost"), partition=np.array([0, 1])), site).report.dropped
    (('j1', "the site has no partition 'gost'"),)
    """
    if on_unknown not in CHOICES:
        raise WrongValue(f"on_unknown is {excerpt(on_unknown)}; {hint(str(on_unknown), CHOICES, 'expected')}")
    found = list(_unknown(workload, site))
    if not found:
        return workload
    if on_unknown == "stop":
        lines = [f"\n  {one.text(workload)}" for one in found[:SHOWN_NAMES]]
        more = f"\n  and {how_many(len(found) - SHOWN_NAMES, 'further name')}" if len(found) > SHOWN_NAMES else ""
        raise WorkloadError(
            f"{workload.name}: the log and the site {site.name!r} do not fit:{''.join(lines)}{more}\n"
            "  correct the site or the log, or let such jobs be left out (skip) or go on (keep)"
        )
    never_kept = (PARTITION, RAN) if in_place else (PARTITION, RESERVATION)
    left_out = [x for x in found if on_unknown == "skip" or x.kind in never_kept]
    why = _reasons(left_out, len(workload))
    if len(why) == len(workload):
        raise WorkloadError(f"{workload.name}: no job is left on the site {site.name!r}; of the first one, {why[0]}")
    stay = [one for one in found if one not in left_out]
    notes = [f"{one.text(workload)}; {EFFECTS[one.kind]}" for one in stay[:SHOWN_NAMES]]
    if len(stay) > SHOWN_NAMES:
        notes.append(f"the site does not have {how_many(len(stay) - SHOWN_NAMES, 'further name')} of the log")
    if why:
        kept = np.ones(len(workload), np.bool_)
        kept[list(why)] = False
        dropped = [(workload.ids[row], text) for row, text in sorted(why.items())]
        workload = workload.keep(kept, workload.report.and_also({LEFT_OUT: len(dropped)}, dropped))
    return workload.noted(*notes)


def _reasons(left_out: Sequence[_Unknown], jobs: int) -> dict[int, str]:
    """Return why each job is left out that is, by its row."""
    why: dict[int, str] = {}
    for kind in dict.fromkeys(one.kind for one in left_out):
        name_of: dict[int, str] = {}
        same = [one for one in left_out if one.kind == kind]
        for one in same:
            for value in one.values:
                name_of.setdefault(value, one.name)
        index = same[0].index
        for row in np.flatnonzero(np.isin(index, list(name_of))).tolist():
            why.setdefault(row, f"the site has no {kind} {excerpt(name_of[int(index[row])])}")
    return why


def _unknown(workload: Workload, site: Site) -> Iterator[_Unknown]:
    """Yield the unknown names, kind by kind, those of most jobs first."""
    for kind, known, fold, names, index in _names(workload, site):
        alike: Callable[[str], str] = str.lower if fold else str
        there = {alike(name) for name in known}
        count = np.bincount(index, minlength=1)
        values: dict[str, list[int]] = {}
        for k, listed in zip(range(count.size), names, strict=False):
            for name in listed if count[k] else ():
                if name and alike(name) not in there:
                    values.setdefault(name, []).append(k)
        every = [_Unknown(kind, name, where, index, known, int(count[where].sum())) for name, where in values.items()]
        yield from sorted(every, key=lambda one: -one.jobs)


def _names(workload: Workload, site: Site) -> Iterator[tuple[str, list[str], bool, Iterable[Sequence[str]], Ints]]:
    """Yield each kind: its name, the names that the site has, whether case counts not, and those of the distinct values.

    Last, the value of each job. Lists of nodes are made one by one: those of a log can be long.
    """
    each = partitions_of_jobs(workload, site)
    number = {names: k for k, names in enumerate(dict.fromkeys(each))}
    index = np.array([number[names] for names in each], np.int64)
    yield PARTITION, [p.name for p in site.partitions], False, list(number), index
    columns = workload.site
    if columns is None:
        return
    asked, request = columns.requests, columns.request
    reservations = [r.name for r in site.reservations]
    yield RESERVATION, reservations, False, [tuple(names_of_reservations(r)) for r in asked], request
    qualities = [] if isinstance(site.scheduler, PBSSettings) else [q.name for q in site.qos]
    if qualities:
        yield QUALITY, qualities, True, [(r.qos,) for r in asked], request
    accounts = list(dict.fromkeys(a.account for a in site.associations))
    if accounts:
        yield ACCOUNT, accounts, True, [(r.account,) for r in asked], request
    users = list(dict.fromkeys(a.user for a in site.associations if a.user))
    if users:
        yield USER, users, True, [(name,) for name in workload.users], workload.user
    licences = [x.name for x in site.licences]
    yield LICENCE, licences, False, [tuple(licences_in(r.licences)) for r in asked], request
    nodes = [n.name for n in site.nodes]
    yield ASKED, nodes, False, (hosts_in(r.nodes) for r in asked), request
    yield RAN, nodes, False, (hosts_in(text) for text in columns.texts), columns.nodes


# --- Times of the site that are none of the log.

REPEATED = frozenset(("hourly", "daily", "weekly", "weekday", "weekend"))  # flags of reservations without an end
FOREVER = 2**62


def outside_of_log(begin: float, end: float, site: Site, zone: tzinfo = UTC) -> str | None:
    """Return a note if the reservations and outages of a site are all outside of the time of a log.

    Parameters
    ----------
    begin, end : float
        First and last time of the log, Unix time in s.
    site : Site
        The site.
    zone : tzinfo, optional
        Time zone in which times are written.

    Returns
    -------
    str or None
        The note, with both ranges; None if the site has no times, or some of them are in the log.

    Examples
    --------
    >>> from schedlab.models.site import SiteReservation
    >>> site = Site("s", reservations=[SiteReservation("maint", start=3600, duration=600)])
    >>> outside_of_log(3000, 5000, site) is None
    True
    >>> outside_of_log(7200, 9000, site)[:82]
    'the 1 reservation of the site (1970-01-01 01:00 to 1970-01-01 01:10) is outside of'
    """
    reserved = [(r.start, FOREVER if REPEATED & set(r.flags) else r.end) for r in site.reservations]
    outages = _outages(site.events)
    spans = [*reserved, *outages]
    if not spans or any(first < end and last > begin for first, last in spans):
        return None
    counted = [how_many(len(reserved), "reservation")] if reserved else []
    counted += [how_many(len(outages), "node outage")] if outages else []
    every, are = ("all", "are") if len(spans) > 1 else ("the", "is")
    first = min(start for start, _ in spans)
    last = max(start if stop == FOREVER else stop for start, stop in spans)
    return (
        f"{every} {' and '.join(counted)} of the site ({_written(first, zone)} to {_written(last, zone)}) {are} outside of the "
        f"time of the log ({_written(begin, zone)} to {_written(end, zone)}, {zone}): if they should not be, read the site and "
        "the log with the same --zone"
    )


def _written(seconds: float, zone: tzinfo) -> str:
    return f"{datetime.fromtimestamp(seconds, zone):%Y-%m-%d %H:%M}"


def _outages(events: Iterable[NodeEvent]) -> list[tuple[int, int]]:
    """Return from when to when nodes were down or drained, each outage of some nodes once."""
    since: dict[str, int] = {}
    spans: dict[tuple[int, int], None] = {}
    for event in sorted(events, key=lambda event: event.time):
        for node in event.nodes:
            if event.kind != "node-up":
                since.setdefault(node, event.time)
            elif node in since:
                spans[since.pop(node), event.time] = None
    spans.update(dict.fromkeys((time, FOREVER) for time in since.values()))
    return list(spans)
