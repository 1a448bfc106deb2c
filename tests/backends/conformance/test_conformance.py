"""A small conformance run: enumeration against the definition, backends against enumeration, planted faults."""

import itertools
from collections import Counter

import pytest
import schedlab as sl
from draws import some_now
from schedlab.backends import Limits, Result
from schedlab.backends.conformance import (
    CONSTRUCTS,
    PATTERNS,
    EnumerationError,
    RandomPattern,
    agreement,
    brute_force,
    declaration,
    domain,
    planted,
    random_model,
)
from schedlab.backends.conformance import run as conformance
from typer.testing import CliRunner

LIMITS = Limits(time=20, threads=1)
LABELS = ("cpsat", "highs:pairwise", "highs:time-indexed", "pyomo", "cpo")  # Pyomo cannot be imported after docplex


def models(count, seed=1):
    return [random_model(seed + k).model for k in range(count)]


def small_enough(model, most=1500):
    product = 1
    for v in (*model.intervals, *model.integers):
        product *= len(domain(v))
    return product <= most


class TestEnumeration:
    def test_is_the_definition_where_everything_can_be_tried(self):
        """Compare with an enumeration without pruning, which uses only ``Model.check`` and ``Model.value``."""
        tried = [m for m in models(80) if small_enough(m)]
        assert len(tried) >= 10
        for m in tried:
            variables = [*m.intervals, *m.integers]
            values = []
            for chosen in itertools.product(*map(domain, variables)):
                s = sl.Assignment(m, dict(zip(variables, chosen, strict=True)))
                if not m.check(s):
                    values.append(tuple(m.value(e, s) for e in m.objectives))
            truth = brute_force(m)
            assert truth.feasible == bool(values)
            if values:
                best = min(values) if m.sense == "minimize" else max(values)
                assert truth.objectives == pytest.approx(best)
                assert m.check(truth.best) == [] == m.check(truth.first)

    def test_of_what_is_too_large_ends(self):
        m = sl.Model("large")
        for k in range(9):
            m.integer(f"x{k}", 0, 9)
        m.minimize(-sl.max(m.integers))
        with pytest.raises(EnumerationError):
            brute_force(m, node_limit=5000)


class TestRandomModels:
    def test_have_every_construct_and_are_infeasible_at_times(self):
        made = [random_model(k) for k in range(300)]
        counts = Counter(c for r in made for c in r.constructs)
        assert set(counts) == set(CONSTRUCTS)
        assert min(counts.values()) >= conformance.LEAST_SHARE * len(made)
        infeasible = sum(not brute_force(r.model).feasible for r in made[:60])
        assert infeasible >= 12

    def test_are_the_same_for_the_same_seed(self):
        assert declaration(random_model(5).model) == declaration(random_model(5).model)

    def test_written_as_python_they_declare_the_same(self):
        for m in models(25):
            scope = {"sl": sl}
            exec(declaration(m), scope)
            again = brute_force(scope["m"])
            assert again.objectives == pytest.approx(brute_force(m).objectives)


class TestCopies:
    def test_shifted_and_permuted_have_the_same_optimum(self):
        for m in models(30):
            truth = brute_force(m)
            for kind in (agreement.Copy, agreement.Shifted, agreement.Permuted):
                copied = kind(m)
                found = brute_force(copied.model)
                assert found.objectives == pytest.approx(truth.objectives)
                if found.best:
                    assert m.check(copied.back(found.best)) == []

    def test_more_capacity_is_never_worse(self):
        for m in models(30):
            truth, roomier = brute_force(m), brute_force(agreement.Roomier(m).model)
            if truth.feasible:
                assert agreement.compare(m, roomier.objectives, truth.objectives) <= 0

    def test_a_makespan_moves_with_the_time(self):
        m = sl.Model("day", horizon=20)
        a, b = m.interval("a", size=3, start=(7, 9)), m.interval("b", size=2, start=(7, 20))
        m.add(sl.no_overlap([a, b]))
        m.minimize(sl.max([a.end, b.end]))
        shifted = agreement.Shifted(m)
        best = brute_force(shifted.model).best
        assert brute_force(m).objectives == (12,)
        assert max(best.end) == 12 - shifted.shift


class TestPatterns:
    @pytest.mark.parametrize("pattern", PATTERNS)
    def test_each_has_solutions_and_is_small(self, pattern):
        feasible = 0
        for seed in range(40):
            made = RandomPattern(pattern, seed)
            assert made.used <= set(CONSTRUCTS)
            feasible += brute_force(made.model).feasible
        assert feasible >= 20

    def test_each_eighth_model_is_of_a_pattern(self):
        counts = Counter(p for k in range(64) for p in PATTERNS if p in random_model(k).constructs)
        assert counts == dict.fromkeys(PATTERNS, 2)


class TestPlantedFaults:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", planted.PARAMETERS)
    def test_a_parameter_that_is_wrong_is_caught(self, name):
        """CP-SAT is wrong with it or ends its process; ``tests/backends/cpsat`` tests where the backend sets it."""
        if not planted.known_to_be_wrong(name):
            pytest.skip("this version of ortools is not known to be wrong with the parameter")
        assert planted.caught_by(name, seed=1, most=100) is not None

    @pytest.mark.slow
    def test_each_is_caught(self):
        caught = conformance.catch_faults(planted.FAULTS, seed=1)  # 515 models catch all
        assert [name for name, k in caught.items() if k is None] == []
        assert len(caught) >= 6

    def test_a_faithful_copy_is_not(self):
        class Faithful(agreement.Copy):
            """The copy has no fault."""

        assert conformance.catch_faults([Faithful], seed=1, most=40) == {"Faithful": None}


class TestJudgement:
    @pytest.fixture
    def m(self):
        m = sl.Model("one", horizon=4)
        m.minimize(m.interval("a", size=3).end)
        return m

    def verdict(self, m, result):
        return agreement.judge(m, brute_force(m), result)

    def answer(self, m, start, status="optimal", objective=None, bound=None):
        s = sl.Assignment(m, {m.intervals[0]: start})
        return Result(status, "mine", None, start + 3 if objective is None else objective, bound, assignment=s)

    def test_right_answers(self, m):
        assert self.verdict(m, self.answer(m, 0)) == []
        assert self.verdict(m, self.answer(m, 0, bound=3)) == []
        assert self.verdict(m, self.answer(m, 2, status="feasible", bound=1)) == []
        assert self.verdict(m, Result("unknown", "mine", None)) == []

    @pytest.mark.parametrize(
        ("given", "word"),
        [
            ({"start": 1}, "the optimum"),
            ({"start": 9}, "violates"),
            ({"start": 0, "objective": 2}, "reports objective"),
            ({"start": 0, "bound": 3.1}, "bound 3.1 is false"),
            ({"start": 0, "status": "unbounded"}, "unbounded"),
        ],
    )
    def test_wrong_answers(self, m, given, word):
        assert word in self.verdict(m, self.answer(m, **given))[0]

    def test_infeasible_where_there_is_a_solution(self, m):
        assert "reports infeasible" in self.verdict(m, Result("infeasible", "mine", None))[0]

    def test_later_objectives_count_only_where_earlier_ones_are_equal(self, m):
        assert agreement.compare(m, (1, 5), (1, 4)) == 1
        assert agreement.compare(m, (1, 3), (1, 4)) == -1
        assert agreement.compare(m, (1 + 1e-7, 9), (1, 4)) == 0
        assert agreement.compare(m, (0, 9), (1, 4)) == -1


def available(label):
    contender = agreement.Contender(label)
    here = sl.backends.backend(contender.backend).availability()
    if not here.ok:
        pytest.skip(f"{label} is not installed: {here.reason}")
    return contender


@pytest.mark.parametrize("first", some_now([2001, 2013, 2025], 1))
@pytest.mark.parametrize("label", LABELS)
def test_backend_agrees_with_enumeration(label, first):
    available(label)
    count = 12 if label != "pyomo" else 6
    for case in conformance.cases(count, first, [label], LIMITS):
        for verdict in case.verdicts:
            assert verdict.wrong == (), f"seed {case.seed}, {verdict.check}"
            assert verdict.decided


@pytest.mark.parametrize("label", LABELS)
def test_a_later_objective_has_to_have_a_value(label):
    """The first objective alone has its optimum at x = 3, at which the second is undefined."""
    m = sl.Model("staged")
    x = m.integer("x", 0, 3)
    m.maximize([x, sl.element([5, 4], x)])
    r = available(label).solve(m, LIMITS)
    assert (r.status, r.objective) == ("optimal", (1, 4))


@pytest.mark.parametrize("label", LABELS)
def test_a_start_does_not_hide_an_answer_that_is_a_little_better(label):
    """HiGHS reported 0 as the optimum if the start was given before its presolve."""
    m = sl.Model("start", horizon=17)
    a, b = m.interval("a", size=0, start=(2, 3), optional=True), m.interval("b", size=(0, 1), start=(3, 3))
    m.minimize(-0.2 * a.presence + 1.5 * sl.overlap(b, 3, 5))
    r = available(label).solve(m, LIMITS, sl.Assignment(m, {b: (3, 3)}))
    assert (r.status, r.objective) == ("optimal", -0.2)


@pytest.mark.parametrize("label", LABELS)
def test_a_demand_of_zero_fits_where_the_capacity_is_taken(label):
    """CP-SAT 9.15 reports infeasible if the model is passed unchanged."""
    m = sl.Model("full node", horizon=9)
    running, queued = m.interval("running", size=6, start=0), m.interval("queued", size=2, start=2)
    units = m.integer("units here", 0, 4)
    m.add(sl.cumulative([running, queued], [16, 4 * units], 16))
    m.maximize(units)
    r = available(label).solve(m, LIMITS)
    assert (r.status, r.objective) == ("optimal", 0)


@pytest.mark.parametrize("label", [label for label in LABELS if label != "pyomo"])
def test_a_solution_is_not_lost_in_presolve(label):
    """HiGHS with presolve only reported infeasible. It still does through Pyomo, which reports the status of HiGHS."""
    m = sl.Model("presolve", horizon=9)
    a, b, c = (m.interval(n, size=s) for n, s in (("a", (2, 3)), ("b", 4), ("c", 2)))
    latest = 3 * sl.max([c.end + 2 * b.end, c.size + b.start]) + 2 * sl.overlap(c, 2, 3)
    m.add(latest >= 60)
    m.add(latest <= 60)
    points = [(-5, -1), (15, -1), (19, -2), (21, 4), (23, -3), (25, 0)]
    m.add(1.5 * b.end - 0.2 * sl.piecewise(2 * b.end - a.end, points) >= 13.7)
    assert available(label).solve(m, LIMITS).status == "optimal"


class TestCommand:
    @pytest.fixture
    def run(self):
        import typer

        app = typer.Typer()
        app.command()(conformance.main)
        return lambda *words: CliRunner().invoke(app, words)

    def test_prints_what_was_met_and_passes(self, run, monkeypatch):
        monkeypatch.setattr(conformance, "FAULTS", planted.FAULTS[:2])
        result = run("--count", "12", "--seed", "3", "--backends", "cpsat")
        assert result.exit_code == 0, result.output
        for word in ("12 models", "cumulative", "cpsat", "DroppedConstraint", "conformant"):
            assert word in result.output

    def test_an_unknown_backend_names_the_near_ones(self, run):
        result = run("--backends", "cpsta")
        assert result.exit_code == 2
        assert "cpsat" in result.output

    def test_a_disagreement_is_made_small_and_fails_the_run(self, run, monkeypatch):
        """The backend minimizes models that are to be maximized."""

        def minimized(self, model, limits):
            copied = planted.SenseForgotten(model)
            return agreement.brought_back(copied, agreement.run(copied.model, "cpsat", limits))

        monkeypatch.setattr(agreement.Contender, "solve", minimized)
        monkeypatch.setattr(conformance, "FAULTS", ())
        result = run("--count", "15", "--backends", "cpsat")
        assert result.exit_code == 1
        assert "m = sl.Model(" in result.output
        assert "not conformant" in result.output
