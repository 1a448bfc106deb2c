"""Published scheduling models on every backend that can solve them: the known optima, and those of independent routes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise, permutations, product

import published_truths as truths
import pytest
import schedlab as sl
from on_backends import usable
from schedlab.backends.conformance import Contender

# Scheduling models that makers of solvers and modelling languages publish, in our language, with their optima.
#
# Each is written as its statement reads. Data are those of the published instance where one is named, else small ones of our
# own; the optimum is then computed by ``published_truths``, which knows nothing of the package.

Build = Callable[[sl.Model], None]


@dataclass(frozen=True)
class Published:
    """A model: how it is built, its optimum, where that is from, and the backends that cannot solve it, with the reason."""

    build: Build
    optimum: float
    source: str
    truth: Callable[[], float] | None = None
    cannot: dict[str, str] = field(default_factory=dict)


MODELS: dict[str, Published] = {}
TOO_LONG = {"highs:pairwise": "HiGHS has no proof within minutes", "pyomo": "HiGHS has no proof within minutes"}


def published(
    optimum: float, source: str, truth: Callable[[], float] | None = None, **cannot: dict[str, str]
) -> Callable[[Build], Build]:
    """Register a model under the name of its function."""

    def register(build: Build) -> Build:
        reasons = {label: reason for some in cannot.values() for label, reason in some.items()}
        MODELS[build.__name__.replace("_", " ")] = Published(build, optimum, source, truth, reasons)
        return build

    return register


# --- Houses: the examples of CP Optimizer

SIZES = {
    "masonry": 35, "carpentry": 15, "plumbing": 40, "ceiling": 15, "roofing": 5,
    "painting": 10, "windows": 5, "facade": 10, "garden": 5, "moving": 5,
}  # fmt: skip
BEFORE = [
    *product(["masonry"], ["carpentry", "plumbing", "ceiling"]), ("carpentry", "roofing"), ("ceiling", "painting"),
    *product(["roofing"], ["windows", "facade", "garden"]), *product(["plumbing"], ["facade", "garden"]),
    *product(["windows", "facade", "garden", "painting"], ["moving"]),
]  # fmt: skip
JOE = {"masonry", "carpentry", "roofing", "facade", "garden"}  # the tasks of one of two workers
RELEASES = (31, 0, 90)
House = dict[str, sl.models.language.Interval]


def house(m: sl.Model, name: str, **times: object) -> House:
    """Declare the tasks of a house in their order."""
    tasks = {task: m.interval(f"{task} of {name}", size=size, **times) for task, size in SIZES.items()}
    in_order(m, tasks)
    return tasks


def in_order(m: sl.Model, tasks: House) -> None:
    for a, b in BEFORE:
        m.add(sl.end_before_start(tasks[a], tasks[b]))


def last_end(houses: list[House]) -> sl.models.language.Linear:
    return sl.max([h["moving"].end for h in houses])


@published(90, "docplex, scheduling tutorial, chapter 1", lambda: truths.longest_path(SIZES, BEFORE))
def house_building(m: sl.Model) -> None:
    m.minimize(house(m, "one")["moving"].end)


@published(5000, "docplex, scheduling tutorial, chapter 2")
def house_with_earliness_and_tardiness(m: sl.Model) -> None:
    """A linear backend asks for a latest start here: as starts can be too early, no horizon is derived."""
    h = house(m, "one", start=(0, 365))
    early = sl.sum(
        [sl.positive_part(due - h[t].start) for t, due in (("masonry", 25), ("carpentry", 75), ("ceiling", 75))],
        weights=[200, 300, 100],
    )
    m.minimize(early + 400 * sl.positive_part(h["moving"].end - 100))


def with_calendars(m: sl.Model, count: int, weeks: int) -> None:
    """Build houses, whose workers pause at weekends and in holidays, and start and end no task in a pause."""
    weekends = [(7 * w + 5, 7 * w + 7) for w in range(weeks)]
    joe = [(5, 12), (124, 131), (215, 236), (369, 376), (495, 502), (579, 600)]
    jim = [(26, 40), (201, 225), (306, 313), (397, 411), (565, 579)]
    work: dict[str, list[sl.models.language.Interval]] = {"Joe": [], "Jim": []}
    ends = []
    for n in range(count):
        h = {}
        for task, size in SIZES.items():
            worker, free = ("Joe", joe) if task in JOE else ("Jim", jim)
            away = weekends + free
            h[task] = m.interval(f"{task} of {n}", work=size, intensity=sl.breaks(away))
            m.add(sl.forbid_start(h[task], away))
            m.add(sl.forbid_end(h[task], away))
            work[worker].append(h[task])
        in_order(m, h)
        ends.append(h["moving"].end)
    for tasks in work.values():
        m.add(sl.no_overlap(tasks))
    m.minimize(sl.max(ends))


NO_PROOF = {"cpsat": "CP-SAT finds the optimum and does not prove it within a minute"}


@published(638, "docplex, scheduling tutorial, chapter 4", slow=NO_PROOF, long=TOO_LONG)
def five_houses_with_calendars(m: sl.Model) -> None:
    with_calendars(m, 5, weeks=104)


@published(288, "the same with 2 of 5 houses: CP-SAT and CP Optimizer prove the same", long=TOO_LONG)
def two_houses_with_calendars(m: sl.Model) -> None:
    with_calendars(m, 2, weeks=60)


@published(180, "docplex, scheduling tutorial, chapter 5, with 3 of 5 houses: as docplex's own model", long=TOO_LONG)
def houses_with_workers_and_cash(m: sl.Model) -> None:
    """With 5 houses all find the 285 that is published, and none proves it within a minute."""
    houses = [house(m, str(n), start=(release, 600)) for n, release in enumerate(RELEASES)]
    tasks = [t for h in houses for t in h.values()]
    m.add(sl.cumulative(tasks, [1] * len(tasks), 3))
    paid = sum(sl.step_at(60 * k, 30000) for k in range(3))
    m.add(paid - sum(sl.at_start(t, 200 * t.size_lo) for t in tasks) >= 0)
    m.minimize(last_end(houses))


SKILLS = {
    "masonry": (9, 5, 0), "carpentry": (7, 0, 5), "plumbing": (0, 7, 0), "ceiling": (5, 8, 0), "roofing": (6, 7, 0),
    "painting": (0, 9, 6), "windows": (8, 0, 5), "facade": (5, 5, 0), "garden": (5, 5, 9), "moving": (6, 0, 8),
}  # fmt: skip


@published(360, "docplex, scheduling tutorial, chapter 6", long=TOO_LONG)
def houses_with_skilled_workers(m: sl.Model) -> None:
    work: list[list[sl.models.language.Interval]] = [[], [], []]
    skill = []
    same = [(0, "masonry", "carpentry"), (1, "roofing", "facade"), (0, "carpentry", "roofing"), (2, "garden", "moving")]
    for n in range(5):
        h = house(m, str(n), start=(0, 318))  # as published: the deadline is one of the starts
        by = {
            (task, w): m.interval(f"{task} of {n} by {w}", size=SIZES[task], optional=True)
            for task, w in product(SIZES, range(3))
            if SKILLS[task][w]
        }
        for task in h:
            m.add(sl.alternative(h[task], [v for (t, _), v in by.items() if t == task]))
        for w, one, other in same:
            m.add(by[one, w].presence == by[other, w].presence)
        for (task, w), v in by.items():
            work[w].append(v)
            skill.append(SKILLS[task][w] * v.presence)
    for tasks in work:
        m.add(sl.no_overlap(tasks))
    m.maximize(sl.sum(skill))


@published(290, "docplex, scheduling tutorial, chapter 7, with 4 of 5 houses: as docplex's own model", long=TOO_LONG)
def houses_that_have_to_be_clean(m: sl.Model) -> None:
    """With 5 houses all find the 365 that is published, and none proves it within a minute; with 4 it is half of the work."""
    clean, dirty = ("plumbing", "ceiling", "painting"), ("masonry", "carpentry", "roofing", "windows")
    houses = [house(m, str(n)) for n in range(4)]
    for h in houses:
        uses = [sl.always_equal(h[t], 0) for t in clean] + [sl.always_equal(h[t], 1) for t in dirty]
        m.add(sl.state_function(uses, transitions=[[0, 0], [1, 0]]))
    tasks = [t for h in houses for t in h.values()]
    m.add(sl.cumulative(tasks, [1] * len(tasks), 2))
    m.minimize(last_end(houses))


@published(13852, "docplex, scheduling tutorial, chapter 3", long=TOO_LONG)
def houses_with_workers_who_travel(m: sl.Model) -> None:
    due, weight = [120, 212, 304, 181, 425], [100, 100, 100, 200, 100]
    work: dict[str, list] = {"Joe": [], "Jim": []}
    types: dict[str, list] = {"Joe": [], "Jim": []}
    costs = []
    for n, release in enumerate([0, 0, 151, 59, 243]):
        h = house(m, str(n))
        whole = m.interval(f"house {n}", size=(0, 1000), start=(release, 1000))
        m.add(sl.span(whole, list(h.values())))
        for task, v in h.items():
            worker = "Joe" if task in JOE else "Jim"
            work[worker].append(v)
            types[worker].append(n)
        costs.append(weight[n] * sl.positive_part(whole.end - due[n]) + whole.size)
    walk = [[abs(i - j) for j in range(5)] for i in range(5)]
    for worker, tasks in work.items():
        m.add(sl.sequence(tasks, types[worker]).no_overlap(walk))
    m.minimize(sl.sum(costs))


# --- Shops

FT06 = [
    [(2, 1), (0, 3), (1, 6), (3, 7), (5, 3), (4, 6)],
    [(1, 8), (2, 5), (4, 10), (5, 10), (0, 10), (3, 4)],
    [(2, 5), (3, 4), (5, 8), (0, 9), (1, 1), (4, 7)],
    [(1, 5), (0, 5), (2, 5), (3, 3), (4, 8), (5, 9)],
    [(2, 9), (1, 3), (4, 5), (5, 4), (0, 3), (3, 1)],
    [(1, 3), (3, 3), (5, 9), (0, 10), (4, 4), (2, 1)],
]


@published(55, "Fisher and Thompson 1963, ft06")
def job_shop(m: sl.Model) -> None:
    jobs = [[m.interval(f"{j}.{k}", size=p) for k, (_, p) in enumerate(job)] for j, job in enumerate(FT06)]
    for job in jobs:
        for a, b in pairwise(job):
            m.add(sl.end_before_start(a, b))
    for machine in range(6):
        m.add(
            sl.no_overlap(
                [
                    v
                    for row, job in zip(FT06, jobs, strict=True)
                    for (k, _), v in zip(row, job, strict=True)
                    if k == machine
                ]
            )
        )
    m.minimize(sl.max([job[-1].end for job in jobs]))


KACEM = [
    [(2, 5, 4, 1, 2), (5, 4, 5, 7, 5), (4, 5, 5, 4, 5)],
    [(2, 5, 4, 7, 8), (5, 6, 9, 8, 5), (4, 5, 4, 54, 5)],
    [(9, 8, 6, 7, 9), (6, 1, 2, 5, 4), (2, 5, 4, 2, 4), (4, 5, 2, 1, 5)],
    [(1, 5, 2, 4, 12), (5, 1, 2, 1, 2)],
]


@published(11, "Kacem, Hammadi and Borne 2002, 4 jobs on 5 machines")
def flexible_job_shop(m: sl.Model) -> None:
    on: list[list] = [[] for _ in range(5)]
    ends = []
    for j, job in enumerate(KACEM):
        steps = [m.interval(f"{j}.{k}", size=(min(times), max(times))) for k, times in enumerate(job)]
        for step, times in zip(steps, job, strict=True):
            modes = [m.interval(f"{step.name} on {i}", size=p, optional=True) for i, p in enumerate(times)]
            m.add(sl.alternative(step, modes))
            for machine, mode in zip(on, modes, strict=True):
                machine.append(mode)
        for a, b in pairwise(steps):
            m.add(sl.end_before_start(a, b))
        ends.append(steps[-1].end)
    for machine in on:
        m.add(sl.no_overlap(machine))
    m.minimize(sl.max(ends))


TAILLARD_OPEN = [
    {3: 54, 1: 34, 4: 61, 2: 2}, {4: 9, 1: 15, 2: 89, 3: 70}, {1: 38, 2: 19, 3: 28, 4: 87}, {1: 95, 3: 34, 2: 7, 4: 29}
]  # fmt: skip


@published(193, "Taillard 1993, first open shop of 4 x 4")
def open_shop(m: sl.Model) -> None:
    work = [{i: m.interval(f"{j} on {i}", size=p) for i, p in row.items()} for j, row in enumerate(TAILLARD_OPEN)]
    for job in work:
        m.add(sl.no_overlap(job.values()))
    for machine in range(1, 5):
        m.add(sl.no_overlap([job[machine] for job in work]))
    m.minimize(sl.max([v.end for job in work for v in job.values()]))


STAGES, PARALLEL = [(4, 3), (7, 2), (3, 5), (6, 4), (5, 6)], (2, 1)


@published(23, "two stages with 2 and 1 machines; enumeration", lambda: truths.hybrid_flow_shop(STAGES, PARALLEL))
def hybrid_flow_shop(m: sl.Model) -> None:
    jobs = [[m.interval(f"{j}.{k}", size=p) for k, p in enumerate(row)] for j, row in enumerate(STAGES)]
    for first, second in jobs:
        m.add(sl.end_before_start(first, second))
    for k, machines in enumerate(PARALLEL):
        m.add(sl.cumulative([job[k] for job in jobs], [1] * len(jobs), machines))
    m.minimize(sl.max([job[-1].end for job in jobs]))


FLOW = [(54, 79, 16), (83, 3, 89), (15, 11, 49), (71, 99, 15), (77, 56, 89), (36, 70, 45)]


def flow_jobs(m: sl.Model, most: int = 0) -> list[list]:
    """Declare the jobs of the flow shop; on a machine they may stay up to ``most`` longer than they are processed."""
    return [[m.interval(f"{j}.{k}", size=(p, p + most)) for k, p in enumerate(row)] for j, row in enumerate(FLOW)]


@published(431, "the first jobs of Taillard's ta001 on 3 machines; enumeration", lambda: truths.flow_shop(FLOW))
def permutation_flow_shop(m: sl.Model) -> None:
    jobs = flow_jobs(m)
    for a, b in (pair for job in jobs for pair in pairwise(job)):
        m.add(sl.end_before_start(a, b))
    machines = [sl.sequence(column) for column in zip(*jobs, strict=True)]
    for machine in machines:
        m.add(machine.no_overlap())
    for one, other in pairwise(machines):
        m.add(sl.same_sequence(one, other))
    m.minimize(sl.max([job[-1].end for job in jobs]))


@published(447, "the same without room between machines; enumeration", lambda: truths.flow_shop(FLOW, blocking=True))
def blocking_flow_shop(m: sl.Model) -> None:
    jobs = flow_jobs(m, most=500)
    for a, b in (pair for job in jobs for pair in pairwise(job)):
        m.add(a.end == b.start)
    for column in zip(*jobs, strict=True):
        m.add(sl.no_overlap(column))
    m.minimize(sl.max([job[-1].end for job in jobs]))


# --- One machine

TARDY = [(12, 30, 3), (7, 9, 2), (15, 42, 5), (4, 20, 1), (9, 25, 4), (11, 60, 2), (6, 33, 6)]  # time, due date, weight


def tardy_step(last: int, job: int, time: int) -> tuple[int, int]:
    size, due, weight = TARDY[job]
    return time + size, weight * max(0, time + size - due)


@published(77, "7 jobs; dynamic programming", lambda: truths.one_machine(len(TARDY), tardy_step))
def weighted_tardiness(m: sl.Model) -> None:
    jobs = [m.interval(f"job {k}", size=p) for k, (p, _, _) in enumerate(TARDY)]
    m.add(sl.no_overlap(jobs))
    late = [sl.positive_part(v.end - due) for v, (_, due, _) in zip(jobs, TARDY, strict=True)]
    m.minimize(sl.sum(late, [weight for *_, weight in TARDY]))


COLOURS, PAINT = [0, 1, 2, 1, 0, 2, 2], [4, 6, 3, 5, 2, 7, 4]
CLEAN = [[0, 3, 9], [8, 0, 2], [4, 7, 0]]


def paint_step(last: int, job: int, time: int) -> tuple[int, int]:
    clean = 0 if last < 0 else CLEAN[COLOURS[last]][COLOURS[job]]
    return time + clean + PAINT[job], clean + PAINT[job]


@published(36, "7 jobs of 3 colours; dynamic programming", lambda: truths.one_machine(len(PAINT), paint_step))
def setups_by_families(m: sl.Model) -> None:
    jobs = [m.interval(f"job {k}", size=p) for k, p in enumerate(PAINT)]
    m.add(sl.sequence(jobs, types=COLOURS).no_overlap(CLEAN))
    m.minimize(sl.max([v.end for v in jobs]))


PLACES = [(0, 0), (3, 4), (6, 1), (2, 7), (8, 6), (5, 3), (1, 2)]
OPEN = [(0, 0), (5, 20), (10, 40), (0, 14), (0, 60), (25, 45), (30, 60)]
FAR = [[abs(a - c) + abs(b - d) for c, d in PLACES] for a, b in PLACES]


def tour_length() -> int:
    """Return the least way of a tour, over all orders of the places."""
    ways = []
    for order in permutations(range(1, len(PLACES))):
        time, here, way = 1, 0, 0  # it takes 1 at the first place, too
        for place in order:
            time = max(time + FAR[here][place], OPEN[place][0])
            if time > OPEN[place][1]:
                break
            time, here, way = time + 1, place, way + FAR[here][place]
        else:
            ways.append(way + FAR[here][0])
    return min(ways)


@published(36, "6 places with opening times, each takes 1; enumeration", tour_length)
def tour_with_opening_times(m: sl.Model) -> None:
    stops = [m.interval(f"place {k}", size=1, start=OPEN[k]) for k in range(len(PLACES))]
    tour = sl.sequence(stops)
    m.add(tour.first(stops[0]))
    m.add(tour.no_overlap(FAR))
    back = [row[0] for row in FAR]
    m.minimize(tour.cost(FAR, last=back))


OVEN, ROOM = [(0, 4, 2), (0, 9, 1), (2, 4, 3), (5, 8, 2), (6, 3, 1), (1, 9, 2)], 5  # release, time, size


@published(18, "6 jobs with releases, times and sizes in one oven; enumeration", lambda: truths.batches(OVEN, ROOM))
def batches_in_an_oven(m: sl.Model) -> None:
    longest = max(p for _, p, _ in OVEN)
    jobs = [m.interval(f"job {k}", size=(p, longest), start=(r, 60)) for k, (r, p, _) in enumerate(OVEN)]
    m.add(sl.state_function([sl.always_equal(v, 0, start_aligned=True, end_aligned=True) for v in jobs]))
    m.add(sl.cumulative(jobs, [size for *_, size in OVEN], ROOM))
    m.minimize(sl.max([v.end for v in jobs]))


PLANES = [
    (129, 155, 559, 10), (195, 258, 744, 10), (89, 98, 510, 30), (96, 106, 521, 30), (110, 123, 555, 30),
    (120, 135, 576, 30), (124, 138, 577, 30), (126, 140, 573, 30), (135, 150, 591, 30), (160, 180, 657, 30),
]  # fmt: skip


@published(700, "OR-Library, airland1 with one runway")
def aircraft_landing(m: sl.Model) -> None:
    planes = [m.interval(f"plane {k}", size=0, start=(first, last)) for k, (first, _, last, _) in enumerate(PLANES)]
    apart = [[3 if i < 2 and j < 2 else 15 if i < 2 or j < 2 else 8 for j in range(10)] for i in range(10)]
    m.add(sl.no_overlap(planes, transitions=apart))
    m.minimize(sl.sum([cost * abs(v.start - target) for v, (_, target, _, cost) in zip(planes, PLANES, strict=True)]))


PARTS = [(0, 6, 13), (2, 3, 6), (4, 2, 6), (9, 2, 14)]  # release, time, due date


@published(1, "4 jobs; the earliest due date first, with preemption", lambda: truths.preemptive_lateness(PARTS))
def jobs_that_can_be_interrupted(m: sl.Model) -> None:
    parts, late = [], []
    for k, (release, size, due) in enumerate(PARTS):
        whole = m.interval(f"job {k}", size=(size, 20), start=(release, 20))
        own = [m.interval(f"job {k}, part {i}", size=(1, size), start=(0, 20), optional=True) for i in range(2)]
        m.add(sl.span(whole, own))
        m.add(sl.sum([v.size for v in own]) == size)
        parts += own
        late.append(whole.end - due)
    m.add(sl.no_overlap(parts))
    m.minimize(sl.max(late))


# --- Projects

CHAIN = [(0, 2), (1, 3), (1, 4), (2, 5), (3, 6), (4, 6)]  # precedences
SINGLE = [(3, 2, 1), (4, 3, 0), (2, 1, 2), (5, 2, 2), (3, 3, 1), (4, 2, 1), (2, 4, 0)]  # time, cranes, crews
LIMITS = {"cranes": 5, "crews": 3}


@published(
    13,
    "7 tasks, 2 resources; enumeration of all lists of tasks",
    lambda: truths.project([[(p, {"cranes": a, "crews": b})] for p, a, b in SINGLE], CHAIN, LIMITS),
)
def project_with_resources(m: sl.Model) -> None:
    tasks = [m.interval(f"task {k}", size=p) for k, (p, _, _) in enumerate(SINGLE)]
    for a, b in CHAIN:
        m.add(sl.end_before_start(tasks[a], tasks[b]))
    m.add(sl.cumulative(tasks, [cranes for _, cranes, _ in SINGLE], LIMITS["cranes"]))
    m.add(sl.cumulative(tasks, [crews for *_, crews in SINGLE], LIMITS["crews"]))
    m.minimize(sl.max([v.end for v in tasks]))


MODES = [
    [(3, 2, 5), (5, 1, 3)], [(4, 3, 4), (6, 2, 2)], [(2, 2, 6), (4, 1, 4)], [(5, 2, 3), (6, 1, 3)], [(3, 3, 5), (4, 2, 2)]
]  # fmt: skip  # time, cranes, money
LINKS, CRANES, MONEY = [(0, 2), (1, 3), (1, 4)], 4, 17


@published(
    10,
    "5 tasks of 2 modes, one renewable resource and money; enumeration of all modes and lists",
    lambda: truths.project(
        [[(p, {"cranes": a, "total money": b}) for p, a, b in task] for task in MODES],
        LINKS,
        {"cranes": CRANES, "total money": MONEY},
    ),
)
def project_with_modes(m: sl.Model) -> None:
    tasks, modes, cranes, money = [], [], [], []
    for k, choices in enumerate(MODES):
        times = [p for p, _, _ in choices]
        tasks.append(m.interval(f"task {k}", size=(min(times), max(times))))
        own = [m.interval(f"task {k}, mode {i}", size=p, optional=True) for i, p in enumerate(times)]
        m.add(sl.alternative(tasks[k], own))
        modes += own
        cranes += [a for _, a, _ in choices]
        money += [b for *_, b in choices]
    for a, b in LINKS:
        m.add(sl.end_before_start(tasks[a], tasks[b]))
    m.add(sl.cumulative(modes, cranes, CRANES))
    m.add(sl.sum([v.presence for v in modes], money) <= MONEY)
    m.minimize(sl.max([v.end for v in tasks]))


LAGGED, GANG = [(2, 2), (3, 1), (2, 2), (4, 1), (1, 2)], 3  # time, workers
LAGS = [(0, 1, 3, 4), (1, 2, 1, 5), (0, 3, 0, 7), (3, 4, 4, 6)]  # before, after, least and most between the starts


def lags_hold(starts: tuple[int, ...]) -> bool:
    apart = all(low <= starts[b] - starts[a] <= high for a, b, low, high in LAGS)
    running = [sum(w for s, (p, w) in zip(starts, LAGGED, strict=True) if s <= t < s + p) for t in starts]
    return apart and max(running) <= GANG


@published(
    7,
    "5 tasks with least and most time lags; enumeration of all starts",
    lambda: truths.all_starts([p for p, _ in LAGGED], 9, lags_hold),
)
def project_with_time_lags(m: sl.Model) -> None:
    tasks = [m.interval(f"task {k}", size=p) for k, (p, _) in enumerate(LAGGED)]
    for a, b, low, high in LAGS:
        m.add(sl.start_before_start(tasks[a], tasks[b], delay=low, at_most=high))
    m.add(sl.cumulative(tasks, [w for _, w in LAGGED], GANG))
    m.minimize(sl.max([v.end for v in tasks]))


PEOPLE = [{"weld"}, {"weld", "wire"}, {"wire", "paint"}, {"paint"}]
NEEDS = [(3, {"weld": 1}), (2, {"wire": 1, "paint": 1}), (3, {"weld": 2}), (3, {"paint": 1}), (3, {"wire": 2})]
AFTER = [(0, 3), (2, 4)]


def teams(needs: dict[str, int]) -> list[dict[str, int]]:
    """Return all teams of people who bring the skills that a task needs, each person one of them."""
    slots = [skill for skill, count in needs.items() for _ in range(count)]
    return [
        {f"person {w}": 1 for w in team}
        for team in permutations(range(len(PEOPLE)), len(slots))
        if all(skill in PEOPLE[w] for skill, w in zip(slots, team, strict=True))
    ]


@published(
    9,
    "5 tasks, 4 people with 1 or 2 skills; enumeration of all teams and lists of tasks",
    lambda: truths.project(
        [[(p, team) for team in teams(needs)] for p, needs in NEEDS], AFTER, {f"person {w}": 1 for w in range(4)}
    ),
)
def project_with_skills(m: sl.Model) -> None:
    tasks = [m.interval(f"task {k}", size=p) for k, (p, _) in enumerate(NEEDS)]
    busy: list[list] = [[] for _ in PEOPLE]
    for task, (size, needs) in zip(tasks, NEEDS, strict=True):
        for skill, count in needs.items():
            able = [w for w, skills in enumerate(PEOPLE) if skill in skills]
            by = [m.interval(f"{task.name}: {skill} by {w}", size=size, optional=True) for w in able]
            m.add(sl.alternative(task, by, count=count))
            for w, v in zip(able, by, strict=True):
                busy[w].append(v)
    for own in busy:
        m.add(sl.no_overlap(own))
    for a, b in AFTER:
        m.add(sl.end_before_start(tasks[a], tasks[b]))
    m.minimize(sl.max([v.end for v in tasks]))


STOCKED, STORE = [(2, 3), (3, -2), (1, 2), (2, -4), (3, 1)], (2, 4)  # time, change of the stock at the end or start


def stock_holds(starts: tuple[int, ...]) -> bool:
    changes = [(s + p, n) if n > 0 else (s, n) for s, (p, n) in zip(starts, STOCKED, strict=True)]
    levels = [STORE[0] + sum(n for t, n in changes if t <= at) for at, _ in changes]
    return starts[0] + 2 <= starts[2] and all(0 <= level <= STORE[1] for level in levels)


@published(
    5,
    "5 tasks that fill or empty a store of 4, and one machine for the first two producers; enumeration of all starts",
    lambda: truths.all_starts([p for p, _ in STOCKED], 8, stock_holds),
)
def project_with_a_store(m: sl.Model) -> None:
    tasks = [m.interval(f"task {k}", size=p, start=(0, 20)) for k, (p, _) in enumerate(STOCKED)]
    changes = [sl.at_end(v, n) if n > 0 else sl.at_start(v, n) for v, (_, n) in zip(tasks, STOCKED, strict=True)]
    m.add(sl.always_in(sl.step_at(0, STORE[0]) + sum(changes), 0, STORE[1], window=(0, 30)))
    m.add(sl.end_before_start(tasks[0], tasks[2]))
    m.minimize(sl.max([v.end for v in tasks]))


# --- People

WISHES = [  # of 5 nurses: on which day which of 3 shifts
    {(0, 2), (4, 2), (5, 1), (6, 2)}, {(2, 1), (3, 1), (4, 0), (6, 2)}, {(0, 1), (1, 1), (3, 0), (5, 1)},
    {(0, 2), (2, 0), (3, 1), (5, 0)}, {(1, 2), (2, 1), (4, 0), (5, 1)},
]  # fmt: skip


@published(13, "OR-Tools, nurses with shift requests")
def nurses_with_wishes(m: sl.Model) -> None:
    shifts = list(product(range(7), range(3)))
    works = {(n, *s): m.boolean(f"nurse {n}, day {s[0]}, shift {s[1]}") for n in range(5) for s in shifts}
    for s in shifts:
        m.add(sl.sum([works[(n, *s)] for n in range(5)]) == 1)
    for n in range(5):
        for day in range(7):
            m.add(sl.sum([works[n, day, k] for k in range(3)]) <= 1)
        load = sl.sum([works[(n, *s)] for s in shifts])
        m.add(load >= 4)
        m.add(load <= 5)
    m.maximize(sl.sum([works[(n, *s)] for n, wished in enumerate(WISHES) for s in wished]))


LABELS = ["pyomo", "cpsat", "highs:pairwise", "cpo"]  # pyomo before docplex
LONG = {("houses with skilled workers", "cpo"), *((name, "pyomo") for name in MODELS)}  # pyomo: HiGHS by another way
PAIRS = [(name, label) for label in LABELS for name in MODELS if label not in MODELS[name].cannot]
OTHERS = [pair for pair in PAIRS if pair[1] != "cpsat"]


def marks_of(name: str, label: str) -> list[pytest.MarkDecorator]:
    """Return the marks of a case: all models are solved by CP-SAT, and by every second one of the other backends."""
    if (name, label) in LONG:
        return [pytest.mark.slow]
    return [pytest.mark.known] if label != "cpsat" and OTHERS.index((name, label)) % 2 else []


CASES = [pytest.param(name, label, marks=marks_of(name, label)) for name, label in PAIRS]


def built(name: str) -> sl.Model:
    m = sl.Model(name)
    MODELS[name].build(m)
    return m


@pytest.mark.parametrize(("name", "label"), CASES)
def test_a_published_model_has_its_known_optimum(name: str, label: str) -> None:
    usable(label)
    contender = Contender(label)
    r = sl.solve(built(name), backend=contender.backend, time_limit=600, threads=1, seed=1, **contender.options)
    assert (r.status, r.objective) == ("optimal", pytest.approx(MODELS[name].optimum))
    assert r.assignment is not None and r.assignment.model.check(r.assignment) == []


@pytest.mark.parametrize("name", [name for name, published in MODELS.items() if published.truth is not None])
def test_the_optimum_is_that_of_an_independent_route(name: str) -> None:
    truth = MODELS[name].truth
    assert truth is not None and truth() == MODELS[name].optimum


def test_there_are_23_models_and_each_exception_has_a_reason() -> None:
    assert len(MODELS) >= 23
    for name, published in MODELS.items():
        assert "cpsat" not in published.cannot or "cpo" not in published.cannot, name
        assert all(reason for reason in published.cannot.values())
