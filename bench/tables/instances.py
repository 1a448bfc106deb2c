"""The output of ``bench list`` and ``bench show`` for instances of all kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from rich.console import Console

from ...instances import Instance
from ...instances.workload import Workload
from ...models.dispatch.jobs import DAY, Queue
from ...models.dispatch.problem import Dispatch
from ...models.eviction.problem import Eviction
from ...models.kind import all_formulations
from ...models.node_states import NodeEvent
from ...models.profit.problem import Profit
from ...models.project.problem import Project, Resource
from ...models.reservations import Reservation
from ...models.server_events import ServerEvent
from ...models.step_function import StepFunction
from ...models.words import clock, how_many, listed, with_short_repr
from ..errors import WrongUse
from ..grid import Column, Grid, count, fixed, percent
from ..kinds.base import bench_kind
from ..runs.process import cores
from ..runs.progress import how_long
from ..runs.selection import RunRequest, plan
from ..runs.view import defaults

# --- The composition of a set of jobs as in [Bridi2018, table 3.6]: jobs per queue, with accelerators, and by cores.

CLASSES = (1, 2, 4, 5, 6, 8)
"""Numbers of cores of a job that are counted one by one; then those above 8, and the other ones."""
COUNTED = ("cores", "memory")  # resources that are no accelerators


@with_short_repr
@dataclass(frozen=True)
class Composition:
    """The composition of a set of jobs.

    Parameters
    ----------
    jobs : int
        Number of jobs.
    queues : mapping of str to int
        Queue -> number of its jobs.
    resources : mapping of str to int
        Resource other than cores and memory -> number of jobs that request it.
    cores : mapping of str to int
        Class of cores ("1", ..., ">8", "other") -> number of jobs whose units together request that number of cores; empty if
        the jobs request no cores.
    """

    jobs: int
    queues: Mapping[str, int]
    resources: Mapping[str, int]
    cores: Mapping[str, int]

    @classmethod
    def of(cls, jobs: Iterable[tuple[str, int, Mapping[str, int]]]) -> Composition:
        """Return the composition of jobs, given as queue, units, and request per unit."""
        listed = list(jobs)
        names = dict.fromkeys(name for _, _, request in listed for name in request)
        cores = Counter(core_class(units * request.get("cores", 0)) for _, units, request in listed)
        labels = [*map(str, CLASSES), f">{CLASSES[-1]}", "other"]
        return cls(
            len(listed),
            dict(Counter(queue for queue, _, _ in listed).most_common()),
            {name: sum(request.get(name, 0) > 0 for *_, request in listed) for name in names if name not in COUNTED},
            {label: cores[label] for label in labels} if "cores" in names else {},
        )

    @classmethod
    def of_workload(cls, workload: Workload) -> Composition:
        """Return the composition of the jobs of a workload, those that run at its begin included."""
        requests = workload.requests
        kinds = workload.request_kind.tolist()
        columns = zip(workload.queue.tolist(), workload.units.tolist(), (requests[k] for k in kinds), strict=True)
        running = ((r.job.queue, r.job.units, r.job.request) for r in workload.running)
        return cls.of([*((workload.queues[q].name, units, request) for q, units, request in columns), *running])

    @classmethod
    def of_instance(cls, instance: Instance) -> Composition:
        """Return the composition of the jobs of an instance, running ones included. Raises WrongUse without jobs."""
        try:
            jobs = [*instance.jobs, *(r.job for r in getattr(instance.problem, "running", ()))]
        except TypeError as e:
            raise WrongUse(
                f"--composition: {instance.name} is of kind {instance.kind}; expected jobs on a platform, such as "
                "eurora_700, or a log"
            ) from e
        return cls.of((j.queue, j.units, j.request) for j in jobs)


def core_class(cores: int) -> str:
    """Return the class of a number of cores.

    Examples
    --------
    >>> core_class(4), core_class(7), core_class(9)
    ('4', 'other', '>8')
    """
    if cores in CLASSES:
        return str(cores)
    if cores > CLASSES[-1]:
        return f">{CLASSES[-1]}"
    return "other"


def rows_of(found: Composition) -> dict[str, int]:
    """Return the rows of the table: label -> number of jobs."""
    rows = {"all": found.jobs}
    rows |= {f"queue {name}": n for name, n in found.queues.items()}
    rows |= {f"with {name}": n for name, n in found.resources.items()}
    return rows | {how_many(1, "core") if name == "1" else f"{name} cores": n for name, n in found.cores.items()}


def show_composition(
    console: Console, found: Mapping[str, Composition], others: Mapping[str, Mapping[str, int]] | None = None
) -> None:
    """Print compositions as a table with a column for each; ``others``: columns of published numbers by row."""
    columns = {name: rows_of(each) for name, each in found.items()} | dict(others or {})
    labels = dict.fromkeys(label for rows in columns.values() for label in rows)
    numbers = [Column(name, rows.get, count) for name, rows in columns.items()]
    console.print(Grid.of("", [Column("jobs", words=True), *numbers], labels))


# --- The part of ``bench show`` for jobs on a platform: nodes, queues, demand.

Event = NodeEvent | ServerEvent


def show_dispatch(console: Console, problem: Dispatch) -> None:
    """Print the nodes, the queues and the demand of a dispatching problem."""
    resources = problem.platform.resources
    groups = [[g.name, g.count, *(g.capacity.get(r, 0) for r in resources)] for g in problem.platform.groups]
    with_units = ["memory MB" if r == "memory" else r for r in resources]
    console.print(Grid.of_texts("", ["nodes", "count", *with_units], groups))
    heads = ["queue", "ewt s", "starts", "jobs", "units", "median walltime s", "node-hours"]
    console.print(Grid.of_texts("", heads, [_queue(problem, queue) for queue in problem.queues], words=("starts",)))
    several = sum(bool(j.chunks) for j in problem.jobs)
    arrays = {j.array for j in problem.jobs if j.array}
    if several or arrays:
        console.print(f"{how_many(several, 'heterogeneous job', ',')}, {how_many(len(arrays), 'job array', ',')}")
    console.print(Grid.of_texts("", ["demand", *resources], [[name, *shares] for name, shares in _demand(problem)]))


def _queue(problem: Dispatch, queue: Queue) -> list[Any]:
    """Return the cells of a queue."""
    jobs = [j for j in problem.jobs if j.queue == queue.name]
    parts = [part for j in jobs for part in j.parts]
    starts = ", ".join(f"{clock(lo)}-{clock(hi % DAY)}" for lo, hi in queue.daily) or "any time"
    if queue.whole_run:
        starts += " (whole runs)"
    middle = None
    if jobs:
        middle = f"{median(j.walltime for j in jobs):,.0f}"
    node_hours = f"{sum(p.units * p.walltime for p in parts) / 3600:,.0f}"
    return [queue.name, queue.ewt, starts, len(jobs), sum(p.units for p in parts), middle, node_hours]


def show_production(console: Console, reservations: Sequence[Reservation], events: Sequence[Event]) -> None:
    """Print the reservations, the times in which queues are stopped, and the numbers of the other events."""
    if reservations:
        heads = ["reservation", "queue", "users", "submitted s", "start s", "duration s", "times", "units", "request"]
        console.print(Grid.of_texts("", heads, list(map(_reservation, reservations))))
    stops = list(_stops([e for e in events if isinstance(e, ServerEvent)]))
    if stops:
        columns = [
            Column("stopped queue", lambda stop: stop[0], words=True),
            Column("from s", lambda stop: stop[1], count),
            Column("to s", lambda stop: stop[2], count),
        ]
        console.print(Grid.of("", columns, stops))
    others = Counter(e.kind for e in events if e.kind not in ("stop-queue", "start-queue"))
    if others:
        console.print(f"events: {', '.join(f'{n} {kind}' for kind, n in others.items())}")


def _reservation(r: Reservation) -> list[Any]:
    times = "1"
    if r.repeat is not None:
        times = f"{r.repeat.count}, each {r.repeat.every}"
    if r.repeat is not None and r.repeat.days:
        times += f" ({', '.join(r.repeat.days)})"
    request = ", ".join(f"{amount} {resource}" for resource, amount in r.request.items())
    seconds = (f"{t:,}" for t in (r.submitted, r.start, r.duration))
    return [r.name, r.queue, ", ".join(r.users) or "all", *seconds, times, r.units, request]


def _stops(events: Sequence[ServerEvent]) -> Iterator[tuple[str, int, int | None]]:
    """Yield (queue, start, end) of the times in which queues are stopped; the end is None if there is none."""
    since: dict[str, int] = {}
    for e in sorted(events, key=lambda e: e.time):
        if e.kind == "stop-queue":
            since.setdefault(e.subject, e.time)
        elif e.kind == "start-queue" and e.subject in since:
            yield e.subject, since.pop(e.subject), e.time
    yield from ((queue, start, None) for queue, start in since.items())


def _demand(problem: Dispatch) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the demand for each resource: for a day as a share of the machine's day, for a longer log the offered load."""
    submits = [j.submit for j in problem.jobs]
    span = max(submits, default=0) - min(submits, default=0)
    if span <= DAY:
        yield "share of the machine over a day", _shares(problem, DAY, [j.walltime for j in problem.jobs])
        return
    over = f"offered load over {span / DAY:,.1f} days"
    yield f"{over}, by walltime", _shares(problem, span, [j.walltime for j in problem.jobs])
    runtimes = [j.runtime for j in problem.jobs if j.runtime is not None]
    if len(runtimes) == len(problem.jobs):
        yield f"{over}, by runtime", _shares(problem, span, runtimes)


def _shares(problem: Dispatch, span: int, durations: Sequence[int]) -> Iterator[str]:
    """Yield the demand for each resource with these durations in s, as a share of the capacity over ``span`` seconds."""
    for resource in problem.platform.resources:
        of_jobs = zip(problem.jobs, durations, strict=True)
        work = sum(p.units * p.request.get(resource, 0) * d for j, d in of_jobs for p in j.parts)
        yield percent(work / (span * max(1, problem.platform.total(resource))), 0)


# --- The part of ``bench show`` for eviction problems: nodes to free, deadline, jobs.


def show_eviction(console: Console, problem: Eviction) -> None:
    """Print the nodes to free, the deadline, and the losses and checkpoint times of the jobs."""
    mode = "one after another"
    if problem.shared_bandwidth:
        mode = "at the same time"
    console.print(
        f"to free: {problem.nodes_needed:,} of {how_many(problem.nodes_in_use, 'node', ',')} within {problem.deadline_s} s, steps of "
        f"{problem.step_s} s, checkpoints {mode}",
    )
    columns = [
        Column("job", lambda c: c.id, words=True),
        Column("nodes", lambda c: c.nodes),
        Column("loss if killed node-h", lambda c: c.loss / 3600, fixed(1)),
        Column("application checkpoint s", lambda c: c.application_s, _whole),
        Column("system checkpoint s", lambda c: c.system_s, _whole),
    ]
    console.print(Grid.of("", columns, problem.candidates))


def _whole(seconds: Fraction) -> str:
    return count(float(seconds))


# --- The part of ``bench show`` for profit instances: objective, power, prices, scenarios with temperatures and PUE.


def show_profit(console: Console, instance: Instance) -> None:
    """Print the prices, the power of the jobs, and the temperatures and PUE of each scenario."""
    problem = instance.profit
    for line in _profit_lines(problem):
        console.print(line)
    if len(instance.scenarios) > 1:
        own = ""
        if instance.centre is not None:
            own = f" (by default {instance.centre.default})"
        console.print(f"scenarios{own}: {'; '.join(instance.scenarios)}")
    problems = {name: instance.scenario(name) for name in instance.scenarios} or {"its own": problem}
    console.print(_weather(problems.items()))


def _profit_lines(problem: Profit) -> Iterable[str]:
    yield f"objective: profit in EUR from {problem.begin} s to {problem.horizon_end} s, {how_many((problem.horizon_end - problem.begin) / DAY, 'day', ',.1f')} ({problem.sense})"
    watts = problem.watts.tolist()
    per_core = [w / c for w, c in zip(watts, problem.cores.tolist(), strict=True) if c > 0]
    if per_core:
        yield (
            f"power of the jobs: {min(per_core):.4g} to {max(per_core):.4g} W per core, median {median(per_core):.4g}; "
            f"all cores in use: at most {problem.most_power / 1000:,.2f} kW"
        )
    yield f"energy price: {_price(problem)} EUR per kWh"


def _price(problem: Profit) -> str:
    """Return the price of energy as text; if it varies, its least, mean and greatest value up to the horizon."""
    if not isinstance(problem.energy_price, StepFunction):
        return f"{problem.energy_price:g}"
    return " / ".join(f"{v:.4g}" for v in extent(problem.energy_price, problem)) + " (least / mean / greatest)"


def extent(series: StepFunction, problem: Profit) -> tuple[float, float, float]:
    """Return the least, mean and greatest value of a series from the begin to the horizon."""
    pieces = list(series.pieces(problem.begin, problem.horizon_end))
    values = [v for *_, v in pieces]
    return min(values), sum((b - a) * v for a, b, v in pieces) / (problem.horizon_end - problem.begin), max(values)


def _weather(problems: Iterable[tuple[str, Profit]]) -> Grid:
    """Return a table with a row per scenario: price, temperatures, and PUE with the machine full and half full."""

    def celsius(head: str, k: int) -> Column:
        return Column(head, lambda pair: extent(pair[1].temperature, pair[1])[k], fixed(1))

    def pue(head: str, share: float) -> Column:
        def at_mean(pair: tuple[str, Profit]) -> float | None:
            _, problem = pair
            mean = extent(problem.temperature, problem)[1]
            return problem.cooling.pue(share * problem.most_power, mean)

        return Column(head, at_mean, fixed(4))

    columns = [
        Column("scenario", lambda pair: pair[0], words=True),
        Column("EUR per\ncore-hour", lambda pair: f"{pair[1].price:g}"),
        celsius("°C least", 0),
        celsius("mean", 1),
        celsius("greatest", 2),
        Column("segments", lambda pair: len(pair[1].segments)),
        pue("PUE at mean °C,\nmachine full", 1.0),
        pue("machine\nhalf full", 0.5),
    ]
    return Grid.of("", columns, problems)


# --- The part of ``bench show`` for projects: sizes, simple bounds of the makespan, resources.


def show_project(console: Console, project: Project) -> None:
    """Print the sizes of a project, its simple bounds, and a row per resource."""
    for line in _project_lines(project):
        console.print(line)
    if project.resources:
        heads = [
            "resource",
            "capacity",
            "limits",
            "tasks",
            "demand",
            "least use",
            "use if fastest",
            "makespan at least",
        ]
        console.print(Grid.of_texts("", heads, [_resource(project, r) for r in project.resources], words=("limits",)))
        console.print(MEANING, style="dim")


MEANING = (
    "tasks: number of tasks that use it; least use, use if fastest: of all tasks, with the modes that need least of it and "
    "with the shortest modes; of a resource that is limited at every time: demand times duration"
)


def _project_lines(project: Project) -> Iterator[str]:
    possible = {t.name: project.possible(t) for t in project.tasks}
    modes = [len(t.modes) for t in project.tasks]
    durations = [m.duration for t in project.tasks for m in t.modes]
    delays = sum(delay != 0 for *_, delay in project.precedences)
    impossible = sum(modes) - sum(map(len, possible.values()))
    yield f"objective: {project.objective} ({project.sense})"
    if project.features:
        yield f"with {listed(project.features)}"
    yield (
        f"{how_many(len(modes), 'task')} with {_range(modes)} mode{'s' * (max(modes) > 1)}, {sum(modes)} in all, durations {_range(durations)}"
        + (f"; {how_many(impossible, 'mode', verb='exceed')} a capacity" if impossible else "")
    )
    yield f"{len(project.precedences)} precedences" + (f", {delays} of them with a delay" if delays else "")
    longest = max(project.heads[name] + min(m.duration for m in ms) for name, ms in possible.items())
    at_least = ""
    if not any(t.optional for t in project.tasks):
        at_least = f"at least {longest:,} by the longest path, "
    yield f"makespan: {at_least}at most {project.horizon:,}"


def _resource(project: Project, resource: Resource) -> list[str]:
    """Return the cells of a resource."""
    demands = [[m.demands.get(resource.name, 0) for m in project.possible(t)] for t in project.tasks]
    used = [amount for amounts in demands for amount in amounts if amount]
    least, fastest = _work(project, resource)
    limited = resource.renewable and resource.capacity
    return [
        resource.name,
        f"{resource.capacity:,}",
        "at every time" if resource.renewable else "in total",
        f"{sum(any(amounts) for amounts in demands):,}",
        _range(used),
        f"{least:,}",
        f"{fastest:,}",
        f"{-(-least // resource.capacity):,}" if limited else "-",
    ]


def _work(project: Project, resource: Resource) -> tuple[int, int]:
    """Return the least total use of a resource and that of the fastest modes; for a renewable one the use times duration."""
    least = fastest = 0
    for task in project.tasks:
        modes = project.possible(task)
        work = [m.demands.get(resource.name, 0) * (m.duration if resource.renewable else 1) for m in modes]
        least += min(work)
        fastest += work[min(range(len(modes)), key=lambda k: modes[k].duration)]
    return least, fastest


def _range(values: Iterable[int]) -> str:
    """Return the least and the greatest value as a text.

    >>> _range([3, 1]), _range([2, 2]), _range([])
    ('1 to 3', '2', '-')
    """
    ordered = sorted(values)
    if not ordered:
        return "-"
    if ordered[0] == ordered[-1]:
        return f"{ordered[0]:,}"
    return f"{ordered[0]:,} to {ordered[-1]:,}"


# --- The output of ``bench list`` and ``bench show`` for instances.


def list_instances(console: Console, instances: Iterable[Instance]) -> None:
    """Print a row per instance: name, kind, number of jobs, number of nodes, description."""
    rows = [[i.name, i.kind, *bench_kind(i.kind).sizes(i.problem), i.description] for i in instances]
    heads = ["instance", "kind", "jobs", "nodes", "description"]
    console.print(Grid.of_texts("", heads, rows, words=("kind", "description")))


def show_instance(console: Console, instance: Instance, path: str) -> None:
    """Print the main facts about an instance: platform, queues, demand, objective, formulations, default runs."""
    description = instance.description.removeprefix(f"{instance.name}: ")  # which that of a file of a library has, too
    console.print(f"{instance.name}: {description or instance.kind}", style="bold")
    for name, text in (("kind", instance.kind), ("folder", instance.path), ("source", instance.source)):
        if text:
            console.print(f"{name}: {text}", soft_wrap=True)
    for name, values in (("generator", instance.generator), ("repairs", instance.repairs)):
        if values:
            console.print(f"{name}: " + ", ".join(f"{k} {v}" for k, v in values.items()))
    for job, why in instance.dropped:
        console.print(f"dropped: job {job.id} {why}")
    bench_kind(instance.kind).describe(console, instance)
    console.print(f"formulations: {', '.join(all_formulations(instance.problem))}")
    views = "; ".join(view.label for view in defaults(instance))
    console.print(f"bench run does by default: {views}")
    console.print(f"on {how_many(cores(), 'core')}: {how_long(plan(instance, path, RunRequest()), 1)}")
