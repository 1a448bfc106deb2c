"""A start that the problem accepts refutes what a wrong formulation proves; further objectives of a model break ties."""

import pytest
import schedlab as sl
from schedlab.models import Encoding, Resource, Schedule, Task

TASKS = {"a": 3, "b": 2, "c": 4}


def project():
    return sl.Project([Task.single(n, d, {"m": 1}) for n, d in TASKS.items()], [Resource("m", 1)])


def encoding(earliest=0, horizon=None, ties=0, less=0):
    def made(problem):
        m = sl.Model("line", horizon=horizon)
        window = None if not earliest else (earliest, earliest + 20)
        tasks = {n: m.interval(n, size=d, start=window) for n, d in TASKS.items()}
        m.add(sl.no_overlap(list(tasks.values())), "machine")
        last = sl.max([v.end for v in tasks.values()])
        m.minimize([last, sl.sum([v.start for v in tasks.values()])] if ties else last - less)

        def read(assignment):
            return Schedule({n: assignment[v].start for n, v in tasks.items()}, {n: {"1": 1} for n in tasks})

        def write(schedule):
            return sl.Assignment(m, {v: schedule.start[n] for n, v in tasks.items()})

        return Encoding(m, read, write, ties=ties)

    return made


def crowded(problem):
    """Return the encoding without its machine."""
    made = encoding()(problem)
    made.model.constraints = []
    return made


@pytest.fixture(autouse=True)
def registered():
    from schedlab.models.kind import FORMULATIONS

    sl.register_formulation("project", "late", encoding(earliest=1))
    sl.register_formulation("project", "short", encoding(horizon=3))
    sl.register_formulation("project", "tied", encoding(ties=1))
    sl.register_formulation("project", "cheap", encoding(less=5))
    sl.register_formulation("project", "dear", encoding(less=-5))
    sl.register_formulation("project", "crowded", crowded)
    yield
    for name in ("late", "short", "tied", "cheap", "dear", "crowded"):
        FORMULATIONS.unregister(f"project.{name}")


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
@pytest.mark.parametrize(("name", "message"), [("late", "the bound 10"), ("short", "the status infeasible is false")])
def test_a_verified_start_refutes_a_wrong_formulation(backend, name, message):
    problem = project()
    start = sl.solve(problem, "multi-sgs").schedule
    alone = sl.solve(problem, method=f"{backend}:{name}", time_limit=20)
    assert alone.status in ("optimal", "infeasible")  # nothing is known that refutes it
    r = sl.solve(problem, method=f"{backend}:{name}", warm_start=start, time_limit=20)
    assert r.status == "error" and message in r.message


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
@pytest.mark.parametrize("warm", ["", "+warm"])
def test_objectives_that_break_ties_are_none_of_the_problem(backend, warm):
    r = sl.solve(project(), method=f"{backend}:tied{warm}", time_limit=20)
    assert (r.status, r.objective, r.bound) == ("optimal", 9, 9)
    assert r.schedule.start == {"b": 0, "a": 2, "c": 5}


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_a_model_with_a_better_objective_than_the_problem_is_told(backend):
    r = sl.solve(project(), method=f"{backend}:cheap", time_limit=20)
    assert (r.status, r.objective, r.bound) == ("feasible", 9, 4)
    assert "'line' values this answer at 4, the problem at 9" in r.message


OWNER = "which is not one of schedlab"


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_an_error_of_a_formulation_says_whose_it_is_and_what_to_mend(backend):
    problem = project()
    r = sl.solve(problem, method=f"{backend}:crowded", time_limit=20)
    assert r.status == "error" and f"The formulation 'crowded' is wrong, {OWNER}" in r.message
    assert "fails the check of 'm'" in r.message and "add the constraint" in r.message
    start = sl.solve(problem, "multi-sgs").schedule
    late = sl.solve(problem, method=f"{backend}:late", warm_start=start, time_limit=20)
    assert f"The formulation 'late' is wrong, {OWNER}: its constraint" in late.message
    assert "excludes a verified schedule" in late.message
    dear = sl.solve(problem, method=f"{backend}:dear", time_limit=20)
    assert (
        dear.status == "error"
        and "not that of the problem: it values this answer at 14, the problem at 9" in dear.message
    )


def test_an_error_of_a_formulation_of_schedlab_blames_nobody_else(monkeypatch):
    monkeypatch.setattr(sl.Project, "formulations", property(lambda self: {"modes": lambda: crowded(self)}))
    r = sl.solve(project(), method="cpsat:modes", time_limit=20)
    assert r.status == "error" and OWNER not in r.message


def with_mode(name):
    """Return the encoding that reads this mode of each task."""

    def made(problem):
        right = encoding()(problem)

        def read(assignment):
            return Schedule(right.read(assignment).start, {n: {name: 1} for n in TASKS})

        return Encoding(right.model, read, right.write)

    return made


@pytest.mark.parametrize("warm", ["", "+warm"])
def test_an_unknown_mode_is_an_error_also_at_the_times_of_the_start(warm):
    from schedlab.models.kind import FORMULATIONS

    sl.register_formulation("project", "modeless", with_mode("zzz"))
    try:
        r = sl.solve(project(), method=f"cpsat:modeless{warm}", time_limit=20)
    finally:
        FORMULATIONS.unregister("project.modeless")
    assert r.status == "error"
    assert "must run in one of ['1'], given is {'zzz': 1}" in r.message and "'modeless' is wrong" in r.message


def test_a_shorter_mode_at_the_times_of_the_start_is_taken():
    modes = (sl.Mode("slow", 5), sl.Mode("fast", 2))
    problem = sl.Project([Task("a", modes)], [])
    start = Schedule({"a": 0}, {"a": {"slow": 1}})
    r = sl.solve(problem, backend="cpsat", warm_start=start, time_limit=20)
    assert (r.status, r.objective, r.schedule.nodes) == ("optimal", 2, {"a": {"fast": 1}})
