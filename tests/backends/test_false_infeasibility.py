"""A proof of infeasibility is held against known solutions: the start, incumbents, and what the search for a conflict finds."""

import pytest
import schedlab as sl
from schedlab.backends import base


def model():
    m = sl.Model("two jobs", horizon=20)
    a, b = m.interval("a", size=3), m.interval("b", size=4)
    m.add(sl.no_overlap([a, b]))
    m.minimize(sl.max([a.end, b.end]))
    return m, sl.Assignment(m, {a: 0, b: 5})


COMPILED = type(sl.compile(model()[0], "cpsat"))


@pytest.fixture
def wrong(monkeypatch):
    """Let CP-SAT call every model infeasible, as it did for some with an experimental parameter."""
    monkeypatch.setattr(COMPILED, "run", lambda *args, **options: base.Outcome("infeasible"))


def test_a_solution_that_the_search_for_a_conflict_finds(wrong):
    m, _ = model()
    r = sl.solve(m, backend="cpsat")
    assert r.status == "error" and r.assignment is None
    assert r.message == (
        "cpsat calls the model infeasible, which is a fault of this backend: its search for a conflict found a solution, "
        "which was verified"
    )


def test_a_solution_that_is_found_for_a_decomposed_model(wrong, monkeypatch):
    from schedlab.backends.decompositions import Construct

    monkeypatch.setattr(
        type(base.backend("cpsat")), "supports", frozenset(Construct) - {Construct.NO_OVERLAP}, raising=False
    )
    m, _ = model()
    assert sl.solve(m, backend="cpsat").status == "error"


def test_a_known_start(wrong):
    m, start = model()
    r = sl.solve(m, backend="cpsat", warm_start=start)
    assert r.status == "error" and "a solution is known, which was verified" in r.message
    assert m.check(r.assignment) == []  # it stays, so that nothing is lost


def test_a_start_that_violates_the_model_proves_nothing(wrong, monkeypatch):
    m, start = model()
    start.set(m.intervals[1], 1, 5)
    monkeypatch.setattr("schedlab.backends.driver.CONFLICT_SECONDS", 0.0)
    assert sl.solve(m, backend="cpsat", warm_start=start).status == "infeasible"


def test_a_false_solution_of_the_search_for_a_conflict_proves_nothing(wrong, monkeypatch):
    m, _ = model()
    false = base.NoConflict.of(sl.Assignment(m, dict.fromkeys(m.intervals, 0)))
    monkeypatch.setattr(COMPILED, "conflict", lambda *args: false)
    assert sl.solve(m, backend="cpsat").status == "infeasible"


def test_the_true_proof_keeps_its_conflict():
    m = sl.Model("full")
    m.add(sl.no_overlap([m.interval("a", size=3, start=(0, 2)), m.interval("b", size=4, start=(0, 2))]), "machine")
    r = sl.solve(m, backend="cpsat")
    assert (r.status, r.conflict.names) == ("infeasible", ("machine",))


def test_a_restriction_may_have_no_solution():
    m = sl.Model("grid", horizon=12)
    a, b = m.interval("a", size=3, start=(0, 9)), m.interval("b", size=4, start=(3, 8))
    m.add(sl.no_overlap([a, b]))
    m.add(b.start == 3)
    m.minimize(a.end)
    start = sl.Assignment(m, {a: 0, b: 3})
    r = sl.solve(m, backend="highs", lowering="time-indexed", grid=5, warm_start=start)
    assert r.status == "feasible"


def test_a_problem_keeps_its_schedule(request):
    from schedlab.models import Project, Resource, Task

    tasks = [Task.single("a", 3, {"crane": 1}), Task.single("b", 4, {"crane": 1})]
    problem = Project(tasks, [Resource("crane", 1)])
    start = sl.solve(problem, "cpsat").schedule
    request.getfixturevalue("wrong")
    r = sl.solve(problem, "cpsat", warm_start=start)
    assert r.status == "error" and "fault of this backend" in r.message
    assert r.schedule is not None


EXPLAINED = (
    "infeasible, which is a fault of this backend: highs found a solution, which was verified; try backend='highs'"
)


def test_an_explanation_is_checked_by_another_backend(wrong):
    found = sl.explain(model()[0])
    assert (found.status, found.elements, found.minimal) == ("error", (), False)
    assert found.message == found.why == f"cpsat calls a part of the problem {EXPLAINED}"
    assert sl.explain(model()[0], backend="highs").status == "feasible"


def test_an_explanation_of_a_problem_with_a_limit_of_its_objective(wrong):
    from schedlab.models import Project, Resource, Task

    tasks = [Task.single("a", 3, {"crane": 1}), Task.single("b", 4, {"crane": 1})]
    problem = Project(tasks, [Resource("crane", 1)])
    assert EXPLAINED in sl.explain(problem, objective_limit=7).message


def test_an_explanation_is_held_against_the_answers_to_its_own_questions(monkeypatch):
    """CP-SAT is wrong about models with all constraints alone: without one of them its answers are right."""
    true = COMPILED.run

    def false_for_two(self, *args, **options):
        return base.Outcome("infeasible") if len(self.model.constraints) >= 2 else true(self, *args, **options)

    monkeypatch.setattr(COMPILED, "run", false_for_two)
    off = base.Availability("highs", None, "switched off")
    monkeypatch.setattr("schedlab.backends.highs.Highs.availability", lambda self: off)
    m, _ = model()
    m.add(m.intervals[0].end <= m.intervals[1].start)
    m.add(m.intervals[1].start >= 2)
    found = sl.explain(m)
    assert found.status == "error"
    assert "a check of another part found a solution" in found.message
