"""How a dispatching problem is shown: the Gantt chart and the table of a schedule, and why there is none, in words.

The second part is what ``schedlab.explain`` may remove from a problem, and the sentences about what it has found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ...errors import WrongArgument
from ..array_types import Ints
from ..desired_profile import DesiredProfile, Steps
from ..elements import Element, Elements, named, plain_sentence
from ..gantt import GREY, Bar, Cells, Closed, Gantt, Mark, PlacedJobs, Row, Section, rectangles, shares
from ..platform import MOST_CAPACITY, NodeGroup, Platform
from ..problem import Schedule
from ..words import duration, how_many, listed, moment, windows
from .jobs import DAY, Job, Queue, Running
from .objectives import OBJECTIVES
from .problem import Dispatch

# with more nodes, jobs or pieces of jobs than these the chart is a grid: its rows are groups of nodes
MOST_NODES = 200
MOST_JOBS = 3000
MOST_PIECES = 12_000
CELLS = 480  # columns of the grid
NAMED = 30  # nodes up to which each row has the name of its node
QUEUES = 8  # with a colour of their own: those with most jobs
OTHERS, RUNNING = "other queues", "running before"
BOUNDED = 60  # jobs with deadlines or windows of their own up to which these are drawn


def rows(problem: Dispatch, schedule: Schedule) -> list[dict[str, Any]]:
    """Return a row for each job of a schedule, and for each further chunk of a heterogeneous job.

    Parameters
    ----------
    problem : Dispatch
    schedule : Schedule

    Returns
    -------
    list of dict
        The columns job, queue, user, submit, start, end, wait, duration (s), units, nodes (a dictionary of the units on
        each node), node_list (text).
    """
    return [
        _row(part, schedule.start[job.id], problem.duration(job), schedule.nodes.get(part.id))
        for job in problem.jobs
        if job.id in schedule.start
        for part in job.parts
    ]


def _row(job: Job, start: int, duration: int, on: dict[str, int] | None) -> dict[str, Any]:
    return {
        "job": job.id,
        "queue": job.queue,
        "user": job.user,
        "submit": job.submit,
        "start": start,
        "end": start + duration,
        "wait": start - job.submit,
        "duration": duration,
        "units": job.units,
        "nodes": on,
        "node_list": " ".join(f"{n}:{u}" if u > 1 else n for n, u in (on or {}).items()),
    }


class _Ranges(NamedTuple):
    first: Ints
    low: Ints
    high: Ints
    units: Ints


@dataclass(frozen=True, eq=False)
class _Placed:
    """Jobs with their times, nodes and requests; in the order of a list."""

    start: Ints
    end: Ints
    placement: _Ranges
    requests: dict[str, Ints]


class _Shown(NamedTuple):
    """A job, or a chunk of one, that is drawn, with its start, its end and its units on each node."""

    job: Job
    start: int
    end: int
    on: Mapping[str, int]


def _placed(shown: Sequence[_Shown], platform: Platform) -> _Placed:
    index = {name: k for k, name in enumerate(platform.nodes)}
    first = np.concatenate([[0], np.cumsum([len(s.on) for s in shown])]).astype(np.int64)
    node = np.array([index[n] for s in shown for n in s.on], np.int64)
    units = np.array([u for s in shown for u in s.on.values()], np.int64)
    requests = {r: np.array([s.job.request.get(r, 0) for s in shown], np.int64) for r in platform.resources}
    start, end = (np.array(times, np.int64) for times in ([s.start for s in shown], [s.end for s in shown]))
    return _Placed(start, end, _Ranges(first, node, node, units), requests)


def gantt(problem: Dispatch, schedule: Schedule, marks: Sequence[Mark] = ()) -> Gantt:
    """Return the Gantt chart of a schedule: nodes are rows, colours are queues, running jobs are hatched.

    The height of a job on a node is the greatest share of a resource of the node that it uses. With many nodes or jobs
    the chart is a grid, in which a row is a group of nodes.

    Parameters
    ----------
    problem : Dispatch
    schedule : Schedule
        Jobs without nodes, as in the answer of a relaxation, are left out.
    marks : sequence of Mark
        More moments to mark.

    Returns
    -------
    Gantt
    """
    shown = [
        _Shown(part, schedule.start[job.id], schedule.start[job.id] + problem.duration(job), schedule.nodes[part.id])
        for job in problem.jobs
        if job.id in schedule.start
        for part in job.parts
        if schedule.nodes.get(part.id)
    ]
    moved = len(shown)
    shown += [_Shown(r.job, problem.now, r.end, r.nodes) for r in problem.running if r.end > problem.now]
    platform = problem.platform
    groups, of_job = queue_groups([s.job.queue for s in shown[:moved]])
    group = np.array(of_job + [len(groups)] * (len(shown) - moved), np.int64)
    if len(shown) > moved:
        groups += [RUNNING]
    placed = _placed(shown, platform)
    start = problem.now
    end = max([problem.now + 1, *(s.end for s in shown), *(m.time for m in marks)])
    left = sum(j.id not in schedule.start or not schedule.nodes.get(j.id) for j in problem.jobs)
    title = "jobs on nodes" + (
        f" ({how_many(left, 'job', ',')} without a start or nodes are not drawn)" if left else ""
    )
    chart = Gantt(
        (),
        (),
        tuple(groups),
        {OTHERS: GREY},
        title,
        start,
        end,
        node_sections(platform),
        (*([Mark(start, "now")] if problem.running or start else []), *marks),
        tuple(_closed(problem, start, end)),
        distinct=True,
    )
    return on_nodes(
        chart, platform, placed, placed.requests, group, lambda: _bars(problem, shown, placed, groups, group, moved)
    )


def on_nodes(
    chart: Gantt,
    platform: Platform,
    placed: PlacedJobs,
    requests: Mapping[str, Ints],
    group: Ints,
    bars: Callable[[], Iterable[Bar]],
) -> Gantt:
    """Return a chart whose rows are nodes, with a bar for each job; with many nodes or jobs a grid of groups of nodes.

    Parameters
    ----------
    chart : Gantt
        The chart without rows, with its groups, its title and its period.
    platform : Platform
    placed : PlacedJobs
        The starts, ends and nodes of the jobs.
    requests : mapping of str to ndarray of int, shape (jobs,)
        The request of one unit of each job, by resource.
    group : ndarray of int, shape (jobs,)
        The index of the group of each job in ``chart.groups``.
    bars : callable
        Returns the bars; it is not called for a grid.
    """
    nodes = len(platform.nodes)
    if nodes <= MOST_NODES and len(placed.start) <= MOST_JOBS and len(placed.placement.low) <= MOST_PIECES:
        rows = tuple(Row(n if nodes <= NAMED else "") for n in platform.nodes)
        return replace(chart, rows=rows, bars=tuple(bars()))
    start, end = chart.period
    each = -(-nodes // MOST_NODES)
    grid = -(-nodes // each), CELLS
    used = shares(placed, platform, requests, group, len(chart.groups), grid, each, start, end)
    title = chart.title + (f"; a row is {how_many(each, 'node', ',')}" if each > 1 else "")
    title += "; a cell mixes the colours of its jobs, white is idle"
    rows = tuple(Row("", min(each, nodes - k * each)) for k in range(grid[0]))
    return replace(chart, rows=rows, title=title, cells=Cells(used, start, end))


def queue_groups(queues: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the groups of the colours of jobs, and the index of the group of each job, from the queues of the jobs."""
    counted = Counter(queues)
    if len(counted) <= QUEUES:
        names = sorted(counted)
    else:
        names = sorted(q for q, _ in counted.most_common(QUEUES - 1))
    index = {name: k for k, name in enumerate(names)}
    group = [index.get(queue, len(names)) for queue in queues]
    return [*names, *([OTHERS] if len(counted) > QUEUES else [])], group


def _bars(
    problem: Dispatch, shown: Sequence[_Shown], placed: _Placed, groups: Sequence[str], group: Ints, moved: int
) -> Iterable[Bar]:
    """Yield the rectangles of the jobs; a job with a deadline or windows of its own has its allowed periods once."""
    bounded = {k for k, s in enumerate(shown[:moved]) if s.job.deadline is not None or s.job.windows}
    if len(bounded) <= BOUNDED:
        left = bounded
    else:
        left = set()
    for r in rectangles(placed, problem.platform, placed.requests):
        job = shown[r.job].job
        row = int(r.top)
        allowed: tuple[tuple[int, int], ...] = ()
        if r.job in left:
            left.discard(r.job)
            length = problem.duration(job)
            horizon = max(s.end for s in shown) - length
            allowed = tuple((lo, hi + length) for lo, hi in problem.start_windows(job, horizon))
        yield Bar(
            *(row, r.start, r.end, job.id, groups[group[r.job]], r.top - row, r.bottom - row),
            hatched=r.job >= moved,
            allowed=allowed,
        )


def node_sections(platform: Platform) -> tuple[Section, ...]:
    """Return the node groups as sections, unless each node has its own label."""
    several = 1 < len(platform.groups) <= 12
    if len(platform.nodes) <= NAMED:
        return ()
    node_sections = platform.groups if several else ()
    return tuple(Section(f"{g.name} ({g.count:,})", g.count) for g in node_sections) or (
        Section(how_many(len(platform.nodes), "node", ","), len(platform.nodes)),
    )


def _closed(problem: Dispatch, start: int, end: int) -> Iterable[Closed]:
    """Yield the periods in which jobs of a queue may not start, for the only queue with a calendar."""
    with_calendar = [q for q in problem.queues if q.daily and any(j.queue == q.name for j in problem.jobs)]
    if len(with_calendar) != 1:
        return
    queue, at = with_calendar[0], start
    opened = sorted(
        (d * DAY + lo, d * DAY + hi) for d in range(start // DAY - 1, end // DAY + 1) for lo, hi in queue.daily
    )
    for lo, hi in [*opened, (end, end)]:
        if at < min(lo, end):
            yield Closed(at, min(lo, end), f"no starts of {queue.name}")
        at = max(at, hi)


# --- A sentence about jobs that cannot be scheduled together: which resource of which nodes they need, and when.

HOUR = 3600
PLACES = ("nodes of a queue", "nodes", "units on a node", "whole nodes", "licences")  # kinds of elements


@dataclass(frozen=True)
class Span:
    """When a job can run, in seconds: first and last start, and its duration."""

    first: int
    last: int
    size: int

    @property
    def end(self) -> int:
        """The last possible end."""
        return self.last + self.size

    @property
    def certain(self) -> tuple[int, int]:
        """The time in which it runs in every schedule, empty if the first value is not less."""
        return self.last, self.first + self.size


@dataclass(frozen=True)
class Use:
    """What jobs need of one resource of some groups of nodes.

    Parameters
    ----------
    resource : str
        The name of the resource.
    where : str
        The nodes in words, such as "the gpu nodes".
    total, most, nodes : int
        The capacity of all these nodes, the greatest one of a node, and the number of nodes.
    """

    resource: str
    where: str
    total: int
    most: int
    nodes: int


def conflict_sentence(part: Dispatch, found: Sequence[Element]) -> str:
    """Return the sentence for elements that cannot hold together.

    Parameters
    ----------
    part : Dispatch
        The problem with these elements alone.
    found : sequence of Element
        The elements.

    Returns
    -------
    str
        A sentence about a resource where one is the cause, else a list of the elements.
    """
    uses = _uses(part, named(found, "resource"))
    limits = [e.text for e in found if e.kind == "limit"]
    if limits and part.jobs:
        within = ""
        if uses:
            within = f" within {_together(uses)}"
        return f"{listed(named(found, 'job'))} cannot be scheduled{within}{_beside(part)} if {listed(limits)}"
    if not found or limits or any(e.kind in PLACES for e in found):
        return plain_sentence(found)
    if not part.jobs:
        return f"the running jobs {listed(named(found, 'running job'))} together exceed {_together(uses)}"
    spans = {j.id: Span(w[0][0], w[-1][1], part.duration(j)) for j in part.jobs if (w := part.start_windows(j))}
    if len(spans) < len(part.jobs) or not uses:
        none = [j.id for j in part.jobs if j.id not in spans]
        return f"{listed(none or named(found, 'job'))} has no possible start: {'; '.join(e.text for e in found)}"
    wishes = [e.text for e in found if e.kind == "desired use"]
    for use in uses if not wishes else ():
        text = _at_once(part, spans, use) or _in_turn(part, spans, use) or _in_sum(part, spans, use)
        if text:
            return text
    begin = min(s.first for s in spans.values())
    end = max(s.end for s in spans.values())
    during = f"between {moment(begin)} and {moment(end)}" + _beside(part)
    verb = "does"
    if len(spans) > 1:
        verb = "do"
    condition = ""
    if wishes:
        condition = f" if {listed(wishes)}"
    return f"{listed(list(spans))} {verb} not fit {_together(uses)} {during}{condition}"


def _uses(part: Dispatch, names: Sequence[str]) -> list[Use]:
    """Return the resources among the elements, without the nodes that have too little for a unit of any job."""
    uses = []
    for resource in part.platform.resources:
        all_groups = [g for g in part.platform.groups if f"{resource} of the {g.name} nodes" in names]
        least = min((n for j in part.jobs for p in j.parts if (n := p.request.get(resource, 0))), default=1)
        groups = [g for g in all_groups if g.capacity.get(resource, 0) >= least]
        if groups:
            total = sum(g.count * g.capacity[resource] for g in groups)
            most = max(g.capacity[resource] for g in groups)
            where = f"the {listed([g.name for g in groups])} nodes"
            uses.append(Use(resource, where, total, most, sum(g.count for g in groups)))
    return uses


def _together(uses: Sequence[Use]) -> str:
    return listed([f"the {u.resource} of {u.where}" for u in uses])


def _beside(part: Dispatch) -> str:
    """Return the running jobs in words, with a leading space; empty without them."""
    held = [f"{r.job.id} (until {moment(r.end)})" for r in part.running]
    jobs = "job"
    if len(held) > 1:
        jobs = "jobs"
    if held:
        return f" beside the running {jobs} {listed(held)}"
    return ""


def _need(job: Job, resource: str) -> int:
    """Return what all units of a job request together."""
    return sum(p.units * p.request.get(resource, 0) for p in job.parts)


def _at_once(part: Dispatch, spans: dict[str, Span], use: Use) -> str:
    """Return the sentence for jobs that all run at one time in every schedule, and need too much then."""
    begin = max(s.certain[0] for s in spans.values())
    end = min(s.certain[1] for s in spans.values())
    held = [r for r in part.running if r.end > begin]
    end = min([end, *(r.end for r in held)])
    if begin >= end or len(held) < len(part.running):
        return ""
    units = {j.id: sum(p.units for p in j.parts) for j in part.jobs}
    per_unit = {j.id: min(p.request.get(use.resource, 0) for p in j.parts) for j in part.jobs}
    needs = {j.id: _need(j, use.resource) for j in part.jobs}
    names = listed(list(spans))
    during = f"between {moment(begin)} and {moment(end)}"
    of = f"the {use.resource} of {use.where}"
    every = {2: "both"}.get(len(spans), "each")
    if len(spans) > 1 and not held and all(2 * needs[j] > use.total for j in spans):
        return f"{names} {every} need more than half of {of} {during}"
    need = sum(needs[j] for j in spans)
    beside = _beside(part)
    if need + sum(sum(r.nodes.values()) * r.job.request.get(use.resource, 0) for r in held) > use.total:
        verb = "needs"
        if len(spans) > 1:
            verb = "need"
        return f"{names} {verb} {need:,} {use.resource} {during}{beside}; {use.where} have {use.total:,}"
    if not held and all(2 * per_unit[j] > use.most for j in spans) and sum(units.values()) > use.nodes:
        return (
            f"each unit of {names} needs more than half of the {use.resource} of a node {during}: these are "
            f"{how_many(sum(units.values()), 'unit')}, on {how_many(use.nodes, 'node')} ({use.where})"
        )
    return ""


def _in_turn(part: Dispatch, spans: dict[str, Span], use: Use) -> str:
    """Return the sentence for jobs of which no two can run at the same time, and which take too long in turn."""
    if len(spans) < 2 or part.running:
        return ""
    need = {j.id: _need(j, use.resource) for j in part.jobs}
    begin = min(s.first for s in spans.values())
    end = max(s.end for s in spans.values())
    took = sum(s.size for s in spans.values())
    if not all(2 * n > use.total for n in need.values()) or took <= end - begin:
        return ""
    return (
        f"{listed(list(spans))} each need more than half of the {use.resource} of {use.where}, so that no two of them "
        f"run at the same time; they take {duration(took)} in all, but must run between {moment(begin)} and {moment(end)}"
    )


def _in_sum(part: Dispatch, spans: dict[str, Span], use: Use) -> str:
    """Return the sentence for jobs whose work exceeds what the nodes can do between the first start and the last end."""
    begin = min(s.first for s in spans.values())
    end = max(s.end for s in spans.values())
    work = sum(_need(j, use.resource) * part.duration(j) for j in part.jobs)
    held = sum(
        sum(r.nodes.values()) * r.job.request.get(use.resource, 0) * max(0, min(r.end, end) - begin)
        for r in part.running
    )
    if work + held <= use.total * (end - begin):
        return ""
    unit = f"{use.resource} x h"
    return (
        f"{listed(list(spans))} need {work / HOUR:,.6g} {unit} between {moment(begin)} and {moment(end)}{_beside(part)}; "
        f"{use.where} have {use.total * (end - begin) / HOUR:,.6g} {unit}"
    )


# --- The removable elements of a dispatching problem: jobs, windows, deadlines, calendars, resources, desired use, running jobs, limits.
#
# Without its element, a job is not there; a job has no start windows, no deadline, or no earliest start after its submit
# time; the jobs of a queue may start at any time of the day; a queue
# has all nodes; a job may use all nodes of its queue, with as many units on each as fit, beside other jobs; there are as many
# licences as all jobs together ask for; each node of a group has as much of a resource as all jobs
# together request; what may be in use of a resource of a group (a hard desired profile) is its capacity; a running job holds nothing; and an objective is not limited. Submit times, ``now`` and durations are part of the jobs.

POWER_NAME = "power of the machine"


class DispatchElements(Elements):
    """The elements of a dispatching problem.

    Parameters
    ----------
    problem : Dispatch
        The problem.
    """

    harmless_because = "jobs without a deadline and without windows can run after all others"

    def __init__(self, problem: Dispatch) -> None:
        self.problem = problem
        others = [name for name in problem.limits if name not in OBJECTIVES]
        if others:
            raise WrongArgument(
                f"the limit on {', '.join(others)} cannot be explained: without a job, a registered objective may be worse"
            )
        # these objectives are sums of costs >= 0, or the last end: no removal makes them worse
        if problem.objective in OBJECTIVES:
            self.objectives = (problem.objective,)
        else:
            self.objectives = ()
        by_slack = sorted(problem.jobs, key=self._slack)
        of_jobs = [e for j in by_slack for e in _of_job(problem, j)]
        running = sorted(problem.running, key=lambda r: -r.end)
        self.all = (
            *(Element("limit", limit_name(name), _limit(name, most)) for name, most in problem.limits.items()),
            *self._resources(),
            *self._wishes(),
            *(Element("licences", name, _licences(name, n)) for name, n in problem.platform.licences.items()),
            *(Element("nodes of a queue", q.name, _queue_nodes(q)) for q in problem.queues if q.nodes),
            *(Element("calendar", q.name, _calendar(q)) for q in problem.queues if q.daily),
            *of_jobs,
            *(Element("running job", r.job.id, _running(r)) for r in running),
        )
        postponable = {j.id for j in problem.jobs if j.deadline is None and not j.windows}
        self.harmless = frozenset(e for e in of_jobs if e.name in postponable)
        if problem.limits or self._wishes():  # a profile may allow a job at early times only
            self.harmless = frozenset()
            self.harmless_because = ""

    def _slack(self, job: Job) -> int:
        """Return the seconds between the first and the last start of a job; the tightest jobs come first."""
        if job.deadline is None and not job.windows:
            return MOST_CAPACITY
        spans = self.problem.start_windows(job)
        if spans:
            return spans[-1][1] - spans[0][0]
        return -1

    def _resources(self) -> list[Element]:
        used = {r for j in self._jobs() for r, n in j.request.items() if n}
        return [
            Element("resource", resource_name(resource, group), _capacity(resource, group))
            for group in self.problem.platform.groups
            for resource in self.problem.platform.resources
            if resource in used
        ]

    def _wishes(self) -> list[Element]:
        """Return the wishes of a hard desired profile; a soft one is a part of the objective."""
        profile = self.problem.desired
        if profile is None or self.problem.over_cost is not None:
            return []
        wishes = [
            Element("desired use", desired_name(r, group), _wish(r, group, s))
            for (group, r), s in profile.steps.items()
        ]
        if profile.power is not None:
            wishes.append(Element("desired use", POWER_NAME, "the power of the machine stays within the desired use"))
        return wishes

    def _desired(self, names: Collection[tuple[str, str]], platform: Platform) -> DesiredProfile | None:
        """Return the desired profile with the kept wishes alone; None if there are none."""
        profile = self.problem.desired
        if profile is None or self.problem.over_cost is not None:
            return None
        kept = {(g, r): s for (g, r), s in profile.steps.items() if ("desired use", desired_name(r, g)) in names}
        power = None
        if ("desired use", POWER_NAME) in names:
            power = profile.power
        if kept or power:
            return replace(profile, platform=platform, steps=kept, power=power, end=None)
        return None

    def _jobs(self) -> list[Job]:
        """Return the parts of all jobs."""
        return [*(part for j in self.problem.jobs for part in j.parts), *(r.job for r in self.problem.running)]

    def part(self, kept: Collection[Element]) -> Dispatch:
        """Return the problem with the kept elements alone."""
        p = self.problem
        names = {(e.kind, e.name) for e in kept}
        platform = self._platform(names)
        return p.replace(
            platform=platform,
            desired=self._desired(names, platform),
            over_cost=None,
            jobs=[_limited(j, names) for j in p.jobs if ("job", j.id) in names],
            queues=[_limited_queue(q, names) for q in p.queues],
            running=[r for r in p.running if ("running job", r.job.id) in names],
            limits={name: most for name, most in p.limits.items() if ("limit", limit_name(name)) in names},
        )

    def _platform(self, names: Collection[tuple[str, str]]) -> Platform:
        """Return the platform in which every node has enough of the resources that are not kept."""
        enough: dict[str, int] = {}
        for job in self._jobs():
            for resource, n in job.request.items():
                enough[resource] = enough.get(resource, 0) + n * job.units
        groups = []
        for g in self.problem.platform.groups:
            free = {r: n for r, n in enough.items() if n and ("resource", resource_name(r, g)) not in names}
            more = {r: min(MOST_CAPACITY, max(n, g.capacity.get(r, 0))) for r, n in free.items()}
            groups.append(replace(g, capacity={**g.capacity, **more}))
        asked: dict[str, int] = {}
        for job in [*self.problem.jobs, *(r.job for r in self.problem.running)]:
            for name, n in job.licences.items():
                asked[name] = asked.get(name, 0) + n
        held = self.problem.platform.licences.items()
        licences = {name: n if ("licences", name) in names else max(n, asked.get(name, 0)) for name, n in held}
        return Platform(groups, licences)

    def refuted(self, part: Dispatch) -> bool:
        """Return whether a job has no possible start, or the running jobs alone exceed a capacity."""
        if any(not part.start_windows(j) for j in part.jobs):
            return True
        return bool(part.running) and bool(part.replace(jobs=()).verify(Schedule({})))

    def sentence(self, found: Sequence[Element]) -> str:
        """Return which jobs need how much of which nodes, and when."""
        return conflict_sentence(self.part(found), found)


def desired_name(resource: str, group: str) -> str:
    """Return the name of the element of a desired use: "cores of the gpu nodes"."""
    return f"{resource} of the {group} nodes"


def _wish(resource: str, group: str, steps: Steps) -> str:
    low = min(steps.amounts)
    high = max(steps.amounts)
    if low == high:
        most = f"{high:g}"
    else:
        most = f"{low:g} to {high:g}, by the time,"
    return f"at most {most} {resource} of each {group} node are in use"


def limit_name(objective: str) -> str:
    """Return the name of the element of a limit, which is not that of a limit that ``explain`` itself adds."""
    return f"limit on {objective}"


def _limit(objective: str, most: float) -> str:
    if objective == "makespan":
        value = moment(int(most))
    else:
        value = f"{most:.10g}"
    return f"{objective} is at most {value}"


def resource_name(resource: str, group: NodeGroup) -> str:
    """Return the name of the element of a resource: "memory of the gpu nodes"."""
    return f"{resource} of the {group.name} nodes"


def _of_job(problem: Dispatch, job: Job) -> list[Element]:
    """Return a job, and what limits its start."""
    units = " and ".join(map(_units, job.parts))
    since = moment(max(problem.now, job.submit))
    elements = [Element("job", job.id, f"{job.id} takes {duration(problem.duration(job))}, from {since} on: {units}")]
    if job.deadline is not None:
        elements.append(Element("deadline", job.id, f"{job.id} ends by {moment(job.deadline)}"))
    if job.windows:
        elements.append(Element("window", job.id, f"{job.id} starts {windows(job.windows)}"))
    if job.earliest_start is not None and job.earliest_start > max(problem.now, job.submit):
        elements.append(Element("earliest start", job.id, f"{job.id} starts at {moment(job.earliest_start)} or later"))
    if job.nodes or job.features:
        named = ""
        if job.nodes:
            named = f" {listed(job.nodes, 5)}"
        features = ""
        if job.features:
            features = f" with the features {job.features}"
        elements.append(Element("nodes", job.id, f"{job.id} uses the nodes{named}{features} only"))
    if job.per_node is not None:
        elements.append(
            Element("units on a node", job.id, f"a node has at most {how_many(job.per_node, 'unit')} of {job.id}")
        )
    if job.whole_nodes:
        elements.append(Element("whole nodes", job.id, f"{job.id} has its nodes for itself"))
    return elements


def _licences(name: str, number: int) -> str:
    return f"the machine has {how_many(number, 'licence')} of {name}"


def _queue_nodes(queue: Queue) -> str:
    return f"the jobs of queue {queue.name} use the nodes {listed(queue.nodes, 5)} only"


def _limited_queue(queue: Queue, names: Collection[tuple[str, str]]) -> Queue:
    """Return the queue with its kept limits."""
    if ("calendar", queue.name) in names:
        made = queue
    else:
        made = replace(queue, daily=(), whole_run=False)
    if ("nodes of a queue", queue.name) in names:
        return made
    return replace(made, nodes=())


def _units(part: Job) -> str:
    """Return the units of a job, or of a chunk of one, in words."""
    request = listed([f"{n} {r}" for r, n in part.request.items() if n]) or "nothing"
    return f"{how_many(part.units, 'unit')} with {request}{' each' if part.units > 1 else ''}"


UNLIMITED: dict[str, dict[str, Any]] = {  # kind of an element of a job -> the fields of a job without it
    "deadline": {"deadline": None},
    "window": {"windows": ()},
    "earliest start": {"earliest_start": None},
    "nodes": {"nodes": (), "features": ""},
    "units on a node": {"per_node": None},
    "whole nodes": {"whole_nodes": False},
}


def _limited(job: Job, names: Collection[tuple[str, str]]) -> Job:
    """Return the job with its kept limits."""
    changes: dict[str, Any] = {}
    for kind, fields in UNLIMITED.items():
        if (kind, job.id) not in names:
            changes |= fields
    return replace(job, **changes)


def _capacity(resource: str, group: NodeGroup) -> str:
    amount = group.capacity.get(resource, 0)
    few = group.count == 1
    if few:
        nodes = f"the only {group.name} node has"
    else:
        nodes = f"the {group.count} {group.name} nodes have"
    if not amount:
        return f"{nodes} no {resource}"
    return f"{nodes} {amount} {resource}" + ("" if few else " each")


def _calendar(queue: Queue) -> str:
    spans = listed([f"from {moment(lo)} to {moment(hi % DAY)}" for lo, hi in queue.daily])
    return f"queue {queue.name} starts jobs {spans} only"


def _running(r: Running) -> str:
    return f"{r.job.id} runs until {moment(r.end)} on {listed(list(r.nodes))}"
