"""Problems solved by methods: the syntax of methods, schedules from answers, warm starts, results without a solver."""

import pytest
import schedlab as sl
from schedlab.methods import parse_method
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue

PLATFORM = Platform([NodeGroup("n", 3, {"cores": 16})])


@pytest.fixture
def problem():
    jobs = [Job(f"j{k}", k, 5 + 7 * k % 11, 1 + k % 2, {"cores": 5 + 2 * (k % 4)}, "q") for k in range(9)]
    return Dispatch(PLATFORM, jobs, [Queue("q", 60)], "weighted-wait")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("highs:pool", {}),
        ("highs:pool@pairwise", {"lowering": "pairwise"}),
        ("highs:pool@900s", {"grid": 900}),
        ("highs:pool@900s-relax+warm", {"grid": 900, "side": "relax"}),
        ("highs:pool@60s..900s-lp", {"grid": (60, 900), "side": "relax", "integral": False}),
        ("highs:pool@60s..900s-energy", {"grid": (60, 900), "lowering": "energy", "integral": False}),
    ],
)
def test_the_grammar_of_lowerings(problem, text, options):
    method = parse_method(text, problem)
    assert (method.name, method.formulation, method.compile_options) == ("highs", "pool", options)
    assert method.start == ("usual" if text.endswith("+warm") else None)


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("multi-serach", "multi-search"),
        ("cpsta:pool", "cpsat"),
        ("cpsat:pol", "pool"),
        ("cpsat:pool+worm", "warm"),
        ("highs:pool@9oos", "@900s"),
        ("first-solution:aera", "area"),
    ],
)
def test_an_unknown_name_is_an_error_with_similar_names(problem, text, near):
    with pytest.raises(sl.UnknownName, match=near):
        parse_method(text, problem)


@pytest.mark.parametrize(
    "method",
    [
        "multi-search",
        "first-solution:-area",
        "cpsat:counts",
        "cpsat:pool+warm",
        "highs:pool@5s",
        "highs:classes@2s..20s-energy",
    ],
)
def test_every_method_gives_a_schedule_that_holds(problem, method):
    result = sl.solve(problem, method=method, time_limit=3, threads=1)
    assert problem.verify(result.schedule) == []
    assert result.objective == problem.value(result.schedule)
    assert result.bound is None or result.bound <= result.objective * (1 + 1e-6)


@pytest.mark.parametrize("formulation", ["units", "counts", "classes", "pool"])
def test_a_warm_method_ends_no_worse_than_its_start(problem, formulation):
    start = sl.multi_search(problem)
    result = sl.solve(problem, method=f"cpsat:{formulation}", warm_start=start.schedule, time_limit=2, threads=1)
    assert result.warm_start.fate == "accepted"
    assert result.objective <= start.objective * (1 + 1e-9)


@pytest.mark.parametrize("method", ["cpsat:pool", "highs:pool", "cpsat:classes"])
def test_a_schedule_that_is_proven_optimal_is_not_repaired(method):
    """The repair of a relaxation's answers has a tenth of the limit: here 28 hours, which no one waits for."""
    jobs = [Job(f"j{k}", 0, 2 + k, 1, {"cores": 9}, "q") for k in range(4)]
    one = Dispatch(Platform([NodeGroup("n", 1, {"cores": 16})]), jobs, [Queue("q", 60)], "waiting")
    found = sl.solve(one, method=method, time_limit=1e6, threads=1)
    assert (found.status, found.objective) == ("optimal", 2 + (2 + 3) + (2 + 3 + 4))


def test_a_start_that_breaks_the_problem_is_rejected_with_the_reason(problem):
    good = sl.first_solution(problem, "est")
    broken = sl.Schedule({**good.start, "j8": 0}, good.nodes)
    result = sl.solve(problem, method="cpsat:pool", warm_start=broken, time_limit=2, threads=1)
    assert result.warm_start.fate == "rejected"
    assert "'j8' starts at 0" in result.warm_start.reason
    assert problem.verify(result.schedule) == []


def test_a_deterministic_limit_gives_the_same_schedule_twice(problem):
    runs = [
        sl.solve(problem, method="cpsat:pool+warm", deterministic_limit=0.2, threads=1, seed=4).schedule
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_the_start_is_no_result_of_a_solver_that_cannot_take_the_model(monkeypatch, problem):
    from schedlab.backends import Outcome, WarmStart

    compiled = type(sl.compile(sl.Model("any"), "cpsat"))
    refuse = Outcome("unavailable", message="too large for this edition", warm=WarmStart("rejected", "never seen"))
    monkeypatch.setattr(compiled, "run", lambda self, watch, limits, warm=None: refuse)
    result = sl.solve(problem, method="cpsat:counts+warm", time_limit=2)
    assert (result.status, result.objective, result.schedule) == ("unavailable", None, None)
    assert result.message == "too large for this edition"


def test_models_and_problems_take_their_own_kind_of_start(problem):
    encoding = problem.formulations["pool"]()
    with pytest.raises(TypeError, match="takes an Assignment"):
        sl.solve(encoding.model, warm_start=sl.first_solution(problem, "est"))
    with pytest.raises(TypeError, match="not an Assignment"):
        sl.solve(problem, warm_start=encoding.write(sl.first_solution(problem, "est")))


def test_results_as_tables(problem):
    pytest.importorskip("pandas", reason="pandas is optional")
    of_problem = sl.solve(problem, method="multi-search")
    table = of_problem.to_pandas()
    assert dict(zip(table["job"], table["start"], strict=True)) == of_problem.schedule.start
    assert sum(table["nodes"].iloc[1].values()) == problem.jobs[1].units
    m = sl.Model("one of two")
    a, b = m.interval("a", size=3), m.interval("b", size=2, optional=True)
    m.minimize(a.start + b.presence)
    rows = sl.solve(m).to_pandas().set_index("name")
    assert rows.loc["a", "end"] == 3
    assert not rows.loc["b", "present"]
