"""The adaptive limit of [Bridi2018, 4.4]: each rule on a fake solver, properties, and replays of CP dispatchers."""

import math

import pytest
import schedlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab import WrongArgument, WrongValue
from schedlab.backends import Outcome
from schedlab.simulation import CPDispatcher
from schedlab.simulation.dispatchers.cp.control import AdaptiveControl, AdaptiveLimit, Attempt


class FakeSolver:
    """A solver that needs ``first`` seconds to its first solution; ``seen`` are the limits of its attempts."""

    def __init__(self, first):
        self.first, self.seen = first, []

    def __call__(self, limits):
        self.seen.append(limits)
        return Attempt(True, self.first) if self.first <= limits.length else Attempt(False)


def lengths(solver):
    return [limits.length for limits in solver.seen]


def test_the_limit_grows_by_k2_until_a_solution_and_follows_the_time_to_it():
    limit, solver = AdaptiveLimit(k1=2, k2=3), FakeSolver(10)
    assert limit.search(solver, 40).found
    assert lengths(solver) == [2, 6, 18]
    assert limit.delta == 10 + 2
    solver.first = 0.5
    limit.search(solver, 40)
    assert (lengths(solver)[3:], limit.delta) == ([12], 2.5)


def test_rule_1_the_limit_saturates():
    limit, solver = AdaptiveLimit(k1=50, attempts=6), FakeSolver(299)
    assert limit.search(solver, 40).found
    assert lengths(solver) == [50, 100, 200, 300]
    assert limit.delta == 300  # not 299 + 50


@pytest.mark.parametrize(("k1", "first_only"), [(60.0, False), (60.1, True)])
def test_rule_2_an_attempt_above_60_s_stops_at_its_first_solution(k1, first_only):
    solver = FakeSolver(1)
    AdaptiveLimit(k1=k1).search(solver, 40)
    assert [limits.first_only for limits in solver.seen] == [first_only]


def test_after_m_attempts_the_next_model_has_half_of_the_jobs():
    limit, solver = AdaptiveLimit(attempts=3), FakeSolver(math.inf)
    assert not limit.search(solver, 41).found
    assert (lengths(solver), limit.kept(100), limit.delta) == ([1, 2, 4], 21, 8)
    assert not limit.search(solver, limit.kept(100)).found
    assert limit.kept(100) == 11
    assert limit.kept(5) == 5  # a short queue is not cut
    solver.first = 0
    assert limit.search(solver, 11).found
    assert limit.kept(100) == 100  # all again


def test_a_final_attempt_is_not_repeated():
    limit, calls = AdaptiveLimit(), []
    assert not limit.search(lambda limits: calls.append(limits) or Attempt(False, final=True), 9).found
    assert (len(calls), limit.delta, limit.kept(9)) == (1, 1, 5)


def test_without_the_time_to_the_first_solution_the_limit_settles():
    """The attempt before, of delta / k2, was too short: delta / 2 + k1 converges to 2 k1."""
    limit = AdaptiveLimit()
    limit.delta = 16.0
    for _ in range(30):
        limit.search(lambda limits: Attempt(True), 9)
    assert limit.delta == pytest.approx(2)


@pytest.mark.parametrize(
    "wrong", [{"k1": 0}, {"k2": 1}, {"attempts": 0}, {"attempts": 1.5}, {"longest": 0.5}, {"patience": math.nan}]
)
def test_wrong_values_are_named(wrong):
    with pytest.raises(WrongValue, match=next(iter(wrong))):
        AdaptiveLimit(**wrong)


@settings(max_examples=70, deadline=None)
@given(
    st.floats(0.01, 100),
    st.floats(1.1, 4),
    st.integers(1, 6),
    st.lists(st.tuples(st.floats(0, 1000), st.integers(1, 5000)), min_size=1, max_size=20),
)
def test_the_state_stays_within_its_bounds(k1, k2, attempts, decisions):
    limit = AdaptiveLimit(k1, k2, attempts)
    for first, waiting in decisions:
        jobs, solver, before = limit.kept(waiting), FakeSolver(first), limit.delta
        found = limit.search(solver, jobs).found
        used = lengths(solver)
        assert 1 <= jobs <= waiting and 1 <= len(used) <= attempts
        assert used[0] == before and used == sorted(used) and max(used) <= 300
        assert all(short < first for short in used[:-1]) and found == (first <= used[-1])
        assert k1 <= limit.delta <= 300
        assert found or limit.kept(5000) == math.ceil(jobs / 2)


class FakeCompiled:
    """A compiled model of one integer x to minimize; its runs report the values of a script, in ``unit`` limits."""

    exactness = sl.backends.Exactness()

    def __init__(self, script):
        self.script, self.limits, self.x = list(script), [], None

    def run(self, watch, limits, warm=None):
        self.limits.append(limits.deterministic)
        for value in self.script.pop(0):
            a = sl.models.language.Assignment(self.model)
            a.integer[self.x.index] = value
            if not watch.solution(a):
                return Outcome("feasible")
        return Outcome("unknown")


def searched(script, units=16.0, warm=None, limit=None):
    """The result of a search with deterministic limits, and the lengths of the runs."""
    compiled = FakeCompiled(script)
    compiled.model = sl.Model("m")
    compiled.x = compiled.model.integer("x", 0, 100)
    compiled.model.minimize(compiled.x + 0)
    control = AdaptiveControl(units, deterministic=True, limit=limit)
    found = control.search(compiled, compiled.model, None, 1, 0.0, 0.0, 10)
    best = None if found.best is None else found.best.integer[compiled.x.index]
    return best, found.ended, compiled.limits


def test_rule_3_slices_of_10_s_go_on_while_they_improve():
    limit = AdaptiveLimit(k1=50)
    assert searched([[9], [8, 7], [6], [], [5]], limit=limit) == (6, "no-gain", [50, 10, 10, 10])


def test_short_attempts_run_in_one_piece_and_keep_their_best_solution():
    assert searched([[], [9, 4]]) == (4, "limit", [1, 2])


def test_an_attempt_above_60_s_has_one_run_and_one_solution():
    assert searched([[9, 4]], limit=AdaptiveLimit(k1=61)) == (9, "limit", [61])


def test_no_solution_after_all_attempts():
    assert searched([[], [], [], [], []]) == (None, "nothing", [1, 2, 4, 8, 16])


@pytest.mark.parametrize("family", ["pcp", "hcp"])
def test_other_dispatchers_take_it(family):
    day = sl.load("eurora_99")
    w = sl.Workload.of(day.dispatch).first(20)
    one, two = (
        sl.simulate(w, day.platform, CPDispatcher(family, 3, deterministic=0.05, adaptive=True)) for _ in range(2)
    )
    assert one.violations == [] and (one.start >= 0).all()
    assert one.start.tolist() == two.start.tolist()


def test_the_steps_of_the_usual_search_are_refused():
    with pytest.raises(WrongArgument, match="adaptive"):
        CPDispatcher("hcp", 3, k=3, adaptive=True)


def test_the_number_of_jobs_grows_again_step_by_step():
    limit, solver = AdaptiveLimit(attempts=1, growth=1.5), FakeSolver(math.inf)
    assert not limit.search(solver, 40).found
    solver.first, sizes = 0, []
    for _ in range(3):
        sizes.append(limit.kept(100))
        limit.search(solver, sizes[-1])
    assert sizes == [20, 30, 45]
    limit.search(solver, 10)  # a short queue does not make the next model smaller
    assert limit.kept(100) == 68
    with pytest.raises(WrongValue, match=r"growth is 1\.0"):
        AdaptiveLimit(growth=1.0)
