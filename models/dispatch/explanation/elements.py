"""The removable elements of a dispatching problem: jobs, windows, deadlines, calendars, resources, desired use, running jobs, limits.

Without its element, a job is not there; a job has no start windows, no deadline, or no earliest start after its submit
time; the jobs of a queue may start at any time of the day; each node of a group has as much of a resource as all jobs
together request; what may be in use of a resource of a group (a hard desired profile) is its capacity; a running job holds nothing; and an objective is not limited. Submit times, ``now`` and durations are part of the jobs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ....errors import WrongArgument
from ...elements.element import Element, Elements
from ...elements.words import duration, listed, moment, windows
from ...platform import MOST_CAPACITY, NodeGroup, Platform
from ...problem import Schedule
from ...profiles import DesiredProfile, Steps
from ..jobs import DAY, Job, Queue, Running
from ..objectives import OBJECTIVES
from ..problem import Dispatch
from .sentences import conflict_sentence

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
        self.objectives = (problem.objective,) if problem.objective in OBJECTIVES else ()
        by_slack = sorted(problem.jobs, key=self._slack)
        of_jobs = [e for j in by_slack for e in _of_job(problem, j)]
        running = sorted(problem.running, key=lambda r: -r.end)
        self.all = (
            *(Element("limit", limit_name(name), _limit(name, most)) for name, most in problem.limits.items()),
            *self._resources(),
            *self._wishes(),
            *(Element("calendar", q.name, _calendar(q)) for q in problem.queues if q.daily),
            *of_jobs,
            *(Element("running job", r.job.id, _running(r)) for r in running),
        )
        postponable = {j.id for j in problem.jobs if j.deadline is None and not j.windows}
        self.harmless = frozenset(e for e in of_jobs if e.name in postponable)
        if problem.limits or self._wishes():  # a profile may allow a job at early times only
            self.harmless, self.harmless_because = frozenset(), ""

    def _slack(self, job: Job) -> int:
        """Return the seconds between the first and the last start of a job; the tightest jobs come first."""
        if job.deadline is None and not job.windows:
            return MOST_CAPACITY
        spans = self.problem.start_windows(job)
        return spans[-1][1] - spans[0][0] if spans else -1

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
        found = [
            Element("desired use", desired_name(r, group), _wish(r, group, s))
            for (group, r), s in profile.steps.items()
        ]
        if profile.power is not None:
            found.append(Element("desired use", POWER_NAME, "the power of the machine stays within the desired use"))
        return found

    def _desired(self, names: Collection[tuple[str, str]], platform: Platform) -> DesiredProfile | None:
        """Return the desired profile with the kept wishes alone; None if there are none."""
        profile = self.problem.desired
        if profile is None or self.problem.over_cost is not None:
            return None
        kept = {(g, r): s for (g, r), s in profile.steps.items() if ("desired use", desired_name(r, g)) in names}
        power = profile.power if ("desired use", POWER_NAME) in names else None
        return replace(profile, platform=platform, steps=kept, power=power, end=None) if kept or power else None

    def _jobs(self) -> list[Job]:
        """Return the parts of all jobs."""
        return [*(part for j in self.problem.jobs for part in j.parts), *(r.job for r in self.problem.running)]

    def part(self, kept: Collection[Element]) -> Dispatch:
        """Return the problem with the kept elements alone."""
        p, names = self.problem, {(e.kind, e.name) for e in kept}
        platform = self._platform(names)
        return p.replace(
            platform=platform,
            desired=self._desired(names, platform),
            over_cost=None,
            jobs=[_limited(j, names) for j in p.jobs if ("job", j.id) in names],
            queues=[q if ("calendar", q.name) in names else replace(q, daily=(), whole_run=False) for q in p.queues],
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
            groups.append(NodeGroup(g.name, g.count, {**g.capacity, **more}))
        return Platform(groups)

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
    low, high = min(steps.amounts), max(steps.amounts)
    most = f"{high:g}" if low == high else f"{low:g} to {high:g}, by the time,"
    return f"at most {most} {resource} of each {group} node are in use"


def limit_name(objective: str) -> str:
    """Return the name of the element of a limit, which is not that of a limit that ``explain`` itself adds."""
    return f"limit on {objective}"


def _limit(objective: str, most: float) -> str:
    value = moment(int(most)) if objective == "makespan" else f"{most:.10g}"
    return f"{objective} is at most {value}"


def resource_name(resource: str, group: NodeGroup) -> str:
    """Return the name of the element of a resource: "memory of the gpu nodes"."""
    return f"{resource} of the {group.name} nodes"


def _of_job(problem: Dispatch, job: Job) -> list[Element]:
    """Return a job, and what limits its start."""
    units = " and ".join(map(_units, job.parts))
    since = moment(max(problem.now, job.submit))
    found = [Element("job", job.id, f"{job.id} takes {duration(problem.duration(job))}, from {since} on: {units}")]
    if job.deadline is not None:
        found.append(Element("deadline", job.id, f"{job.id} ends by {moment(job.deadline)}"))
    if job.windows:
        found.append(Element("window", job.id, f"{job.id} starts {windows(job.windows)}"))
    if job.earliest_start is not None and job.earliest_start > max(problem.now, job.submit):
        found.append(Element("earliest start", job.id, f"{job.id} starts at {moment(job.earliest_start)} or later"))
    return found


def _units(part: Job) -> str:
    """Return the units of a job, or of a chunk of one, in words."""
    request = listed([f"{n} {r}" for r, n in part.request.items() if n]) or "nothing"
    return f"{part.units} units with {request} each" if part.units > 1 else f"1 unit with {request}"


def _limited(job: Job, names: Collection[tuple[str, str]]) -> Job:
    """Return the job with its kept limits."""
    return replace(
        job,
        deadline=job.deadline if ("deadline", job.id) in names else None,
        windows=job.windows if ("window", job.id) in names else (),
        earliest_start=job.earliest_start if ("earliest start", job.id) in names else None,
    )


def _capacity(resource: str, group: NodeGroup) -> str:
    amount, few = group.capacity.get(resource, 0), group.count == 1
    nodes = f"the only {group.name} node has" if few else f"the {group.count} {group.name} nodes have"
    return f"{nodes} {amount if amount else 'no'} {resource}{' each' if amount and not few else ''}"


def _calendar(queue: Queue) -> str:
    spans = listed([f"from {moment(lo)} to {moment(hi % DAY)}" for lo, hi in queue.daily])
    return f"queue {queue.name} starts jobs {spans} only"


def _running(r: Running) -> str:
    return f"{r.job.id} runs until {moment(r.end)} on {listed(list(r.nodes))}"
