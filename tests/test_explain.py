"""Why problems are infeasible: minimal sets of twenty problems of all kinds, and tiny problems against enumeration."""

from dataclasses import replace
from itertools import combinations, product

import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.backends import Limits, run
from schedlab.models import DesiredProfile, Encoding
from schedlab.models.elements import Element, Elements, minimal_set
from schedlab.models.kind import ProblemKind
from schedlab.models.profiles import Steps

H = 3600
GPU = sl.NodeGroup("gpu", 2, {"cores": 16, "memory": 64})
SMALL = sl.NodeGroup("small", 1, {"cores": 16, "memory": 16})
QUEUES = (sl.Queue("any", 60), sl.Queue("night", 60, daily=((18 * H, 32 * H),)))


def job(name, units=1, memory=1, hours=1, deadline=None, windows=(), queue="any", earliest=None, submit=8 * H):
    """Return a job whose units have 1 core each."""
    request = {"cores": 1, "memory": memory}
    limits = {"earliest_start": earliest, "deadline": deadline, "windows": windows}
    return sl.Job(name, submit, hours * H, units, request, queue, **limits, power=100.0)


OTHERS = [job(f"other{k}", memory=10 + k) for k in range(8)] + [
    job("late", deadline=23 * H),
    job("l2", deadline=20 * H),
]


def dispatch(*jobs, running=(), groups=(GPU, SMALL), now=8 * H):
    """Return a problem of these jobs and of others that are in no conflict."""
    return sl.Dispatch(sl.Platform(groups), [*OTHERS, *jobs], QUEUES, now=now, running=running)


def holding(memory, until):
    """Return a job that runs with one unit on each gpu node."""
    return sl.Running(job("running", 2, memory, submit=0), 7 * H, {"gpu-1": 1, "gpu-2": 1}, until)


def profit(*jobs):
    """Return a profit problem of one day."""
    flat = sl.Cooling("flat", (0, 40), (0, 100_000), ((0, 50_000), (0, 50_000)))
    return sl.Profit(dispatch(*jobs), sl.StepFunction.constant(20, 0, 48 * H), flat, 0.1, 0.2, horizon_end=32 * H)


def batch(name, nodes, loss, system=None, application=None, mb_s=10.0):
    """Return a running job of an eviction problem."""
    return sl.EvictionCandidate(name, nodes, loss, system, application, mb_s=mb_s)


BATCH = [batch("a", 4, 900, 100), batch("b", 4, 700, 200, 150), batch("c", 2, 500), batch("d", 2, 0)]
SHARED = {"shared_bandwidth": True, "file_system_mb_s": 15.0, "node_mb_s": 10.0}


def two_modes(name, paint):
    """Return a task that needs more paint if it is fast."""
    return sl.Task(name, (sl.Mode("fast", 1, {"paint": paint + 2}), sl.Mode("slow", 4, {"paint": paint})))


PAINT, CRANE, HANDS = sl.Resource("paint", 5, renewable=False), sl.Resource("crane", 1), sl.Resource("hands", 3)
LIFT = [sl.Task.single(name, size, {"crane": 1}) for name, size in (("a", 3), ("b", 4), ("c", 1))]
HAND = [sl.Task.single(name, 2, {"hands": 2}) for name in "pqrs"]
CHAIN = [sl.Task.single(name, 2) for name in "uvwx"]

# name: problem, limit of the objective, number of elements of each kind, words of the message
DISPATCH = {
    "memory at one time": (
        dispatch(job("j12", 2, 40, deadline=9 * H), job("j40", 2, 36, deadline=9 * H)),
        None,
        {"resource": 2, "job": 2, "deadline": 2},
        "j12 and j40 both need more than half of the memory of the gpu nodes between 08:00 and 09:00",
    ),
    "units larger than half a node": (
        dispatch(*(job(f"j{k}", 1, 40, windows=((9 * H, 9 * H + 600),)) for k in range(3))),
        None,
        {"resource": 2, "job": 3, "window": 3},
        "each unit of j0, j1 and j2 needs more than half of the memory of a node between 09:10 and 10:00",
    ),
    "no start in the calendar": (
        dispatch(job("n", queue="night", windows=((9 * H, 17 * H),))),
        None,
        {"calendar": 1, "job": 1, "window": 1},
        "n has no possible start: queue night starts jobs from 18:00 to 08:00 only",
    ),
    "a running job": (
        dispatch(job("n", 2, 30, hours=2, deadline=13 * H), running=[holding(50, 12 * H)]),
        None,
        {"resource": 2, "job": 1, "deadline": 1, "running job": 1},
        "beside the running job running (until 12:00)",
    ),
    "running jobs alone": (
        dispatch(running=[holding(40, 12 * H), replace(holding(40, 11 * H), job=job("second", 2, 40, submit=0))]),
        None,
        {"resource": 1, "running job": 2},
        "the running jobs running and second together exceed the memory of the gpu nodes",
    ),
}
PROFIT = {
    "one after another": (
        profit(*(job(f"j{k}", 2, 40, deadline=10 * H) for k in range(3))),
        None,
        {"resource": 2, "job": 3, "deadline": 3},
        "they take 3 h in all, but must run between 08:00 and 10:00",
    ),
    "a deadline that is too early": (
        profit(job("j", hours=3, deadline=10 * H)),
        None,
        {"job": 1, "deadline": 1},
        "j has no possible start: j takes 3 h, from 08:00 on",
    ),
    "an earliest start": (
        profit(job("j", earliest=12 * H, deadline=12 * H + 600)),
        None,
        {"job": 1, "deadline": 1, "earliest start": 1},
        "j starts at 12:00 or later",
    ),
    "too much work": (
        profit(*(job(f"j{k}", 4, 16, hours=2, deadline=11 * H) for k in range(3))),
        None,
        {"resource": 2, "job": 3, "deadline": 3},
        "j0, j1 and j2 need 192 memory between 09:00 and 10:00; the gpu and small nodes have 144",
    ),
    "a deadline after the horizon": (
        profit(job("a", 2, 64, windows=((40 * H, 40 * H),)), job("b", 1, 17, windows=((40 * H, 40 * H),))),
        None,
        {"resource": 2, "job": 2, "window": 2},
        "a and b need 145 memory between day 2 16:00 and day 2 17:00; the gpu nodes have 128",
    ),
}
EVICTION = {
    "no checkpoint in time": (
        sl.Eviction(BATCH, 10, 60),
        400,
        {"deadline": 1, "job": 1},
        "the jobs other than a have 8",
    ),
    "one checkpoint too many": (sl.Eviction(BATCH, 10, 240), 400, {"deadline": 1, "job": 2}, "no choice among a and b"),
    "jobs without a checkpoint": (sl.Eviction(BATCH, 12, 3600), 400, {"job": 1}, "12 nodes are needed"),
    "bandwidth": (
        sl.Eviction(BATCH, 10, 240, **SHARED),
        400,
        {"deadline": 1, "job": 2},
        "the file system writes 15 MB/s",
    ),
    "loss and time": (
        sl.Eviction(BATCH, 10, 3600),
        (400, 200),
        {"job": 2},
        "the checkpoint time in seconds is at most",
    ),
}
PROJECT = {
    "a resource that is used up": (
        sl.Project([two_modes("a", 2), two_modes("b", 2), two_modes("c", 2), *CHAIN], [PAINT, CRANE]),
        None,
        {"resource": 1, "task": 3},
        "a, b and c need at least 6 of paint in all; the project has 5",
    ),
    "fast modes take too much": (
        sl.Project([two_modes("a", 1), two_modes("b", 1), *CHAIN], [PAINT], [("a", "b")]),
        4,
        {"resource": 1, "task": 2, "precedence": 1},
        "a and b cannot be done with 5 of paint and their precedences if the makespan is at most 4",
    ),
    "one crane": (
        sl.Project([*LIFT, *CHAIN], [CRANE], [("u", "v")]),
        6,
        {"resource": 1, "task": 2},
        "a and b cannot be done with 1 of crane if the makespan is at most 6",
    ),
    "a chain": (
        sl.Project([*LIFT, *CHAIN], [CRANE], [("u", "v", 3), ("v", "w"), ("x", "w")]),
        8,
        {"task": 3, "precedence": 2},
        "take 9 in all, but the makespan is at most 8",
    ),
    "no two at the same time": (
        sl.Project([*HAND, *CHAIN], [HANDS, CRANE], [("u", "v")]),
        7,
        {"resource": 1, "task": 4},
        "p, q, r and s cannot be done with 3 of hands",
    ),
}
KINDS = {"dispatch": DISPATCH, "profit": PROFIT, "eviction": EVICTION, "project": PROJECT}
CASES = {f"{kind}: {name}": case for kind, cases in KINDS.items() for name, case in cases.items()}


def kinds_of(elements):
    """Return {kind: number of elements}, without the limits."""
    found = [e.kind for e in elements if e.kind != "limit"]
    return {kind: found.count(kind) for kind in found}


def has_solution(problem, limit):
    """Return whether the problem has a solution that keeps the limits of its objectives, by other calls than those of explain."""
    if limit is not None and problem.kind == "eviction" and not problem.shared_bandwidth:
        names = [c.id for c in problem.candidates]
        plans = (
            sl.EvictionPlan(dict(zip(names, s, strict=True))) for s in product(("keep", "kill", "app", "sys"), repeat=4)
        )
        values = (problem.value(plan) for plan in plans if problem.verify(plan) == [])
        return any(all(m is None or v <= m for v, m in zip(value, limit, strict=False)) for value in values)
    encoding = next(iter(problem.formulations.values()))()  # run: sl.solve would look for a conflict for seconds
    found = run(encoding.model, "cpsat", Limits(time=20, threads=1), conflict=False)
    assert found.status in ("optimal", "infeasible")
    if found.status == "infeasible":
        return False
    schedule = encoding.read(found.assignment)
    if limit is None:
        return problem.verify(schedule) == []
    value = problem.value(schedule)
    first = value[0] if isinstance(value, tuple) else value
    return problem.verify(schedule) == [] and (limit[0] is None or first <= limit[0])


def rest(explanation, problem, limit, elements):
    """Return the problem that has these elements alone, and its limits of the objectives."""
    part = explanation.parts.part([e for e in elements if e.name not in explanation.parts.objectives])
    names = {e.name for e in elements}
    kept = [m if n in names else None for n, m in zip(explanation.parts.objectives, limit or (), strict=False)]
    # a profit problem needs a job that takes power
    return problem.replace(dispatch=part) if problem.kind == "profit" and part.jobs else part, kept if any(
        kept
    ) else None


def test_there_are_five_problems_of_each_kind():
    assert {kind: len(cases) for kind, cases in KINDS.items()} == dict.fromkeys(KINDS, 5)


@pytest.mark.parametrize("case", CASES)
def test_without_any_one_element_the_rest_has_a_solution(case):
    problem, limit, kinds, words = CASES[case]
    limit = (limit,) if isinstance(limit, int) else limit
    found = sl.explain(problem, objective_limit=limit, threads=1)
    assert (found.status, found.minimal, found.why) == ("infeasible", True, "")
    assert words in found.message
    assert kinds_of(found.elements) == kinds
    assert not has_solution(problem, limit)
    assert not has_solution(*rest(found, problem, limit, found.elements))
    for e in found.elements:
        assert has_solution(*rest(found, problem, limit, [x for x in found.elements if x != e])), e


def test_the_example_of_the_documentation():
    found = sl.explain(DISPATCH["memory at one time"][0])
    assert str(found).splitlines()[1] == "These 6 cannot hold together; without any one of them, the others can:"
    assert "\n" not in repr(found) and len(repr(found)) <= 120
    assert found.as_json()["elements"][0]["kind"] == "resource"


def test_the_limit_of_a_project_with_tasks_that_may_be_left_out_says_that_their_penalties_count():
    tasks = [sl.Task.single("a", 2, {"crane": 1}, penalty=2), sl.Task.single("b", 2, {"crane": 1})]
    found = sl.explain(sl.Project(tasks, [sl.Resource("crane", 1)]), objective_limit=3)
    limit = next(e.text for e in found.elements if e.kind == "limit")
    assert limit == "the makespan plus the penalties of tasks left out is at most 3"
    assert found.status == "infeasible" and limit in str(found)


def test_problems_that_are_feasible():
    assert sl.explain(dispatch()).status == sl.explain(PROJECT["one crane"][0], objective_limit=8).status == "feasible"
    found = sl.explain(sl.Eviction(BATCH, 12, 60))  # every job can be killed
    assert (found.status, found.elements, found.minimal) == ("feasible", (), False)


def test_instances_and_their_names_are_explained_like_their_problems():
    instance = sl.load("project_small")
    for what in (instance, instance.problem, "project_small"):
        assert sl.explain(what, objective_limit=5).status == "infeasible"
    with pytest.raises(sl.SchedlabError, match="project_small"):
        sl.explain("project_smal")
    with pytest.raises(TypeError, match="expected a Model, a problem, an Instance or its name"):
        sl.explain(3)


@pytest.mark.parametrize(
    ("given", "error", "expected"),
    [
        ({"time_limit": "5"}, TypeError, "time_limit is '5'; expected a number"),
        ({"threads": 0}, ValueError, "threads is 0"),
        ({"seed": -1}, ValueError, "seed is -1"),
        ({"objective_limit": "x"}, TypeError, "objective_limit is 'x'; expected a number"),
    ],
)
def test_wrong_values_are_named(given, error, expected):
    with pytest.raises(error, match=expected):
        sl.explain("project_small", **given)


def test_the_result_of_an_infeasible_problem_points_here():
    hour = {"submit": 0, "walltime": 10, "units": 1, "request": {"cores": 1}, "queue": "q", "deadline": 15}
    jobs = [sl.Job(name, **hour) for name in ("a", "b")]
    p = sl.Dispatch(sl.Platform([sl.NodeGroup("n", 1, {"cores": 1})]), jobs, [sl.Queue("q", 60)])
    for backend in ("cpsat", "highs"):
        r = sl.solve(p, backend=backend, time_limit=20)
        assert r.status == "infeasible" and "sl.explain(problem)" in r.message


def test_the_constraints_of_a_model():
    m = sl.Model("two", horizon=9)
    a, b = m.interval("a", size=4), m.interval("b", size=3)
    m.add(sl.no_overlap([a, b]), "machine")
    m.add(a.end <= 5, "early")
    m.add(b.end <= 5, "early")
    m.add(b.end >= 1, "not too early")
    m.minimize(sl.max([a.end, b.end]))
    names = [e.name for e in sl.explain(m).elements]
    assert names == ["machine", "early", "early (2)"]
    assert [e.name for e in sl.explain(m, objective_limit=2).elements] == ["objective"]
    assert m.objectives and len(m.constraints) == 4


def test_a_limit_of_an_objective_that_a_removal_can_make_worse_is_refused():
    with pytest.raises(TypeError, match="objective_limit has 1 value"):
        sl.explain(PROFIT["too much work"][0], objective_limit=3)


def many():
    """Return a problem whose minimal sets are hard to prove: which of equal jobs do not fit."""
    return dispatch(*(job(f"j{k}", memory=6, deadline=10 * H) for k in range(60)))


def test_a_time_limit_leaves_an_infeasible_set_and_says_so():
    found = sl.explain(many(), time_limit=1.5, threads=1)
    assert found.status == "infeasible"
    assert not found.minimal and found.why
    assert "not proven minimal" in str(found)


def test_ctrl_c_and_the_callback_leave_the_smallest_set_so_far():
    sizes = []

    def stop(progress):
        sizes.append(progress.size)
        return len(sizes) < 4

    found = sl.explain(many(), threads=1, on_progress=stop)
    assert found.status == "infeasible" and found.why == "on_progress ended the call"
    assert len(found.elements) == sizes[-1] < len(found.parts.all)

    def interrupt(progress):
        if progress.checks == 4:
            raise KeyboardInterrupt

    found = sl.explain(many(), threads=1, on_progress=interrupt)
    assert (found.status, found.minimal, found.why, found.checks) == ("infeasible", False, "interrupted", 4)
    # 144 memory for two hours are 48 jobs of 6 memory and one hour
    assert len([e for e in found.elements if e.kind == "job"]) > 48 or found.elements == found.parts.all


def test_other_backends_find_sets_of_the_same_cause():
    problem = PROJECT["one crane"][0]
    found = sl.explain(problem, objective_limit=6, backend="highs", threads=1)
    assert {e.name for e in found.elements} == {"crane", "a", "b", "makespan"} and found.minimal
    with pytest.raises(sl.UnknownName):
        sl.explain(problem, backend="cpsatt")


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.frozensets(st.integers(0, n - 1), min_size=1), min_size=1))
    )
)
def test_a_minimal_set_is_one_of_the_minimal_conflicts(given_sets):
    n, conflicts = given_sets
    seen = []
    found = minimal_set(range(n), lambda some: any(c <= set(some) for c in conflicts), seen.append)
    minimal = [c for c in conflicts if not any(other < c for other in conflicts)]
    assert set(found) in [set(c) for c in minimal]
    assert all(any(c <= set(some) for c in conflicts) for some in seen)


TIMES = st.integers(0, 3)
TINY = st.lists(
    st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), TIMES, st.booleans()), min_size=2, max_size=4
)


def tiny(rows, running):
    """Return jobs of (units, cores per unit, seconds, slack, deadline or window) on two nodes of 2 cores."""
    jobs = []
    for k, (units, cores, seconds, slack, deadline) in enumerate(rows):
        limits = {"deadline": seconds + slack} if deadline else {"windows": ((0, slack),)}
        jobs.append(sl.Job(f"j{k}", 0, seconds, units, {"cores": cores}, "any", **limits))
    held = [sl.Running(sl.Job("r", 0, 9, 1, {"cores": 2}, "any"), 0, {"n-1": 1}, running)] if running else []
    return sl.Dispatch(sl.Platform([sl.NodeGroup("n", 2, {"cores": 2})]), jobs, QUEUES[:1], running=held)


def fits(problem):
    """Return whether some starts and nodes of all jobs are a valid schedule, by enumeration."""
    capacity = {n: v[problem.platform.resources.index("cores")] for n, v in problem.platform.capacity.items()}
    used = {n: [0] * 40 for n in capacity}
    for r in problem.running:
        for n, units in r.nodes.items():
            for t in range(problem.now, r.end):
                used[n][t] += units * r.job.request["cores"]

    def rest_fits(jobs):
        if not jobs:
            return True
        first, size = jobs[0], problem.duration(jobs[0])
        starts = [t for lo, hi in problem.start_windows(first) for t in range(lo, min(hi, 30) + 1)]
        for t, on in product(starts, product(range(first.units + 1), repeat=len(used))):
            rows = [(n, u * first.request["cores"]) for n, u in zip(used, on, strict=True)]
            if sum(on) == first.units and all(
                used[n][s] + d <= capacity[n] for n, d in rows for s in range(t, t + size)
            ):
                for sign in (1, -1):
                    for n, d in rows:
                        for s in range(t, t + size):
                            used[n][s] += sign * d
                    if sign == 1 and rest_fits(jobs[1:]):
                        return True
        return False

    return rest_fits(list(problem.jobs))


@settings(max_examples=25, deadline=None)
@given(TINY, st.integers(0, 3))
def test_tiny_problems_agree_with_enumeration(rows, running):
    problem = tiny(rows, running)
    found = sl.explain(problem, threads=1)
    assert found.status == ("feasible" if fits(problem) else "infeasible")
    if found.status == "infeasible":
        assert found.minimal and not fits(found.parts.part(found.elements))
        for some in combinations(found.elements, len(found.elements) - 1):
            assert fits(found.parts.part(some))


class Line:
    """Jobs of 3 seconds on one machine, by a deadline each: a kind of a third party."""

    kind, sense = "line", "minimize"

    def __init__(self, ends):
        self.ends = dict(ends)

    @property
    def formulations(self):
        return {"intervals": self.intervals}

    def intervals(self):
        m = sl.Model("line", horizon=20)
        jobs = {name: m.interval(name, size=3) for name in self.ends}
        m.add(sl.no_overlap(list(jobs.values())), "one machine")
        for name, end in self.ends.items():
            m.add(jobs[name].end <= end, f"deadline of {name}")
        m.minimize(sl.sum([v.end for v in jobs.values()]))
        return Encoding(m, lambda a: sl.Schedule({n: a[v].start for n, v in jobs.items()}), lambda s: sl.Assignment(m))

    def verify(self, schedule):
        return []

    def value(self, schedule):
        return sum(schedule.start.values())


class LineElements(Elements):
    """The jobs of a line."""

    def __init__(self, problem):
        self.problem = problem
        self.all = [Element("job", name, f"{name} ends by {end}") for name, end in problem.ends.items()]

    def part(self, kept):
        return Line({e.name: self.problem.ends[e.name] for e in kept})

    def sentence(self, found):
        return f"one machine cannot do {len(found)} of the jobs"


def test_a_kind_of_a_third_party(monkeypatch):
    line = Line({"a": 4, "b": 5, "c": 20})
    found = sl.explain(line)
    assert [e.name for e in found.elements] == ["one machine", "deadline of a", "deadline of b"]
    kind = ProblemKind("line", Line, elements=f"{__name__}:LineElements")
    monkeypatch.setattr("schedlab.models.kind.known", lambda name: kind)
    monkeypatch.setattr("schedlab.models.kind.resolve", lambda place: globals()[place.partition(":")[2]])
    found = sl.explain(line)
    assert ([e.name for e in found.elements], found.message) == (["a", "b"], "one machine cannot do 2 of the jobs")


def test_a_desired_use_is_named_instead_of_the_capacity():
    platform = sl.Platform([sl.NodeGroup("n", 1, {"cores": 4})])
    profile = DesiredProfile(platform, {("n", "cores"): Steps((-(10**10), 10), (2, 4))})
    jobs = [sl.Job(name, 0, 10, 1, {"cores": 2}, "q", deadline=12) for name in "ab"]
    problem = sl.Dispatch(platform, jobs, [sl.Queue("q", 60)], desired=profile)
    found = sl.explain(problem)
    assert {(e.kind, e.name) for e in found.elements} == {
        *((kind, name) for kind in ("job", "deadline") for name in "ab"),
        ("desired use", "cores of the n nodes"),
    }
    assert "at most 2 to 4, by the time, cores of each n node are in use" in str(found)
    assert sl.solve(problem.replace(desired=None), "cpsat").status == "optimal"


class TestWithoutAValue:
    """An objective that can have no value makes a model infeasible; a declared horizon is an element."""

    def test_the_element_of_an_objective(self):
        m = sl.Model("m")
        i = m.integer("i", 0, 9)
        m.add(i >= 5, "late")
        m.minimize(sl.element([1, 2, 3], i))
        assert sl.solve(m).status == "infeasible"
        found = sl.explain(m)
        assert (found.status, [str(e) for e in found.elements]) == (
            "infeasible",
            ["constraint: late", "value: the objective has a value"],
        )

    def test_the_piecewise_of_a_later_objective(self):
        m = sl.Model("m")
        a = m.interval("a", 3)
        m.add(a.start >= 7, "late")
        m.minimize([a.end, sl.piecewise(a.start, [(0, 1), (5, 2)])])
        found = sl.explain(m)
        assert (found.status, [e.name for e in found.elements]) == ("infeasible", ["late", "objective 2"])

    def test_an_objective_that_has_a_value(self):
        m = sl.Model("m")
        i = m.integer("i", 0, 9)
        m.minimize(sl.element([1, 2, 3], i))
        assert sl.explain(m).status == "feasible"
        assert sl.explain(m, objective_limit=0).status == "infeasible"

    @pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
    def test_the_horizon(self, backend):
        m = sl.Model("m", horizon=5)
        jobs = [m.interval(n, 4) for n in "abc"]
        m.add(sl.no_overlap(jobs), "one at a time")
        m.add(jobs[0].end >= 2, "late")
        found = sl.explain(m)
        assert [str(e) for e in found.elements] == [
            "constraint: one at a time",
            "horizon: no interval without start windows starts after the horizon, 5 s",
        ]
        conflict = sl.solve(m, backend=backend).conflict
        assert "one at a time" in conflict.names and conflict.names[-1] == "horizon of 5 s"

    @pytest.mark.parametrize("backend", ["cpsat", "highs", "cpo"])
    def test_a_horizon_that_takes_no_part(self, backend):
        m = sl.Model("m", horizon=50)
        a = m.interval("a", 4)
        m.add(a.end >= 9, "late")
        m.add(a.end <= 8, "early")
        assert set(sl.solve(m, backend=backend).conflict.names) == {"late", "early"}
        assert [e.name for e in sl.explain(m).elements] == ["late", "early"]


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_a_limit_that_nothing_keeps_is_the_only_element(backend):
    problem = sl.Project([sl.Task.single("a", 1, {}, due=0)], [], objective="late-jobs")
    found = sl.explain(problem, objective_limit=-1, backend=backend)
    assert found.minimal and [e.kind for e in found.elements] == ["limit"]
