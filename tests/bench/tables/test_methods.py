"""Tables of a fixed set of records."""

import io

import pytest
from rich.console import Console
from schedlab.bench import NOON, Run
from schedlab.bench.kinds.base import show_results
from schedlab.bench.records import failed, plain, times
from schedlab.bench.records.record import record
from schedlab.bench.tables import ViewResults, group_by_view


def made(method, objective=None, bound=None, seed=1, **fields):
    found = {
        "status": "feasible" if objective is not None else "unknown",
        "objective": objective,
        "bound": bound,
        "verified": None if objective is None else True,
        "sense": "minimize",
        "seconds": {"build": 0.25, "lower": 0.5, "solve": 9.25, "total": 10.0},
        "warm_start": {"fate": "none", "reason": "", "returned": False},
        "incumbents": [] if objective is None else [{"seconds": 1.5, "objective": objective, "bound": bound}],
        "schedule": None if objective is None else {"j": {"start": 0, "nodes": {"n": 1}}},
        **fields,
    }
    return record(
        Run("eurora_700", "eurora_700", "c", method, seed, view=NOON, kind="dispatch"),
        found,
        "2026-01-01T00:00:00+00:00",
    )


def fate(name, **more):
    return {"warm_start": {"fate": name, "reason": "", "returned": False, **more}}


RECORDS = [
    made("multi-search", 19.9),
    made("cpsat:counts", 30.2, 15.0),
    made("cpsat:counts+warm", 19.5, 15.5, **fate("accepted")),
    made("cpsat:pool+warm", 19.9, 15.7, **fate("accepted", returned=True)),
    made("highs:pool@900s+warm", 25.0, **fate("rejected", reason="job j7 ends too late")),
    made("highs:classes@60s..3600s-lp", None, 17.55),
    made("cpo:pool", status="unavailable", cause="unavailable", message="larger than 2^1000"),
    made("cpo:units", cause="timeout", message="killed: it did not end"),
]


def printed(records, width=120, explain=False):
    console = Console(file=io.StringIO(), width=width)
    wrong = show_results(console, records, explain)
    return console.file.getvalue(), wrong


def row(text, method):
    return next(line for line in text.splitlines() if method in line.split())


def test_the_table_shows_the_result_of_each_method():
    text, wrong = printed(RECORDS)
    assert wrong == []
    assert "eurora_700, at 12:00, first 100, 1 thread" in text
    best = row(text, "cpsat:counts+warm")
    assert best.startswith("* ")
    assert best.split()[2:] == [
        "feasible", "19.500", "15.500", "17.550", "10.0%", "1.50", "1.50", "0.25/0.50/9.25", "accepted", "yes",
    ]  # fmt: skip
    assert sum(line.startswith("* ") for line in text.splitlines()) == 1
    assert "returned" in row(text, "cpsat:pool+warm") and "rejected" in row(text, "highs:pool@900s+warm")
    assert "bound only" in row(text, "highs:classes@60s..3600s-lp")
    assert "unavailable" in row(text, "cpo:pool") and "timeout" in row(text, "cpo:units")
    assert "best schedule: 19.500 by cpsat:counts+warm, verified" in text
    assert "best true bound: 17.550 by highs:classes@60s..3600s-lp, gap 10.0%" in text
    assert "cpo:pool: larger than 2^1000" in text
    assert "highs:pool@900s+warm: warm start rejected: job j7 ends too late" in text


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_of_a_table_is_wider_than_the_terminal(width):
    text, _ = printed(RECORDS, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert "19.500" in text and "10.0%" in text


def test_the_columns_are_explained_only_with_explain():
    short, full = (" ".join(printed(RECORDS, explain=explain)[0].split()) for explain in (False, True))
    assert "*: the best objective. --explain says what each column means. best schedule" in short
    assert "build/lower/solve s: seconds for" not in short
    assert "*: the best objective. status: how the run ended" in full and "build/lower/solve s: seconds for" in full
    assert "--explain" not in full


def test_several_seeds_are_one_row_with_mean_least_and_greatest():
    records = [made("cpsat:pool", v, 15.0, seed=s) for s, v in enumerate((20.0, 21.0, 25.0), 1)]
    text, _ = printed([*records, made("multi-search", 21.9)])
    line = row(text, "cpsat:pool")
    assert "mean" in text and "22" in line.split() and "20..25" in line.split()
    assert row(text, "multi-search").startswith("* ")
    mixed, _ = printed([records[0], made("cpsat:pool", seed=2)])
    assert "1 feasible" in mixed and "1 unknown" in mixed
    assert not any(line.startswith("* ") for line in mixed.splitlines())


def test_where_more_is_better_the_greatest_objective_is_the_best():
    results = ViewResults([made("a:x", 5.0, 9.0, sense="maximize"), made("b:x", 7.0, 8.0, sense="maximize")])
    assert (results.best.method, results.bound["bound"], results.schedule["objective"]) == ("b:x", 8.0, 7.0)


def test_a_bound_that_a_verified_schedule_refutes_is_reported():
    text, wrong = printed([made("cpsat:pool", 20.0, 22.0), made("multi-search", 21.0)])
    assert len(wrong) == 1 and "refuted" in " ".join(text.split())


def test_a_proof_of_infeasibility_that_a_verified_schedule_refutes_is_reported():
    text, wrong = printed([made("cpsat:mine", status="infeasible"), made("multi-search", 21.0)])
    assert len(wrong) == 1 and "the status infeasible of cpsat:mine is refuted" in " ".join(text.split())


def test_a_schedule_that_does_not_hold_never_wins():
    bad = made("cpsat:pool", 1.0, status="error", verified=False)
    assert failed(bad)
    results = ViewResults([bad, made("multi-search", 21.0)])
    assert results.best.method == "multi-search"
    assert "NO" in row(printed([bad])[0], "cpsat:pool")


def test_records_of_different_views_and_threads_are_different_tables():
    whole = {**made("multi-search", 3.0), "view": {**made("x")["view"], "at": None, "first": None}}
    four = {**made("multi-search", 3.0), "threads": 4}
    titles = [title for title, _ in group_by_view([made("multi-search", 2.0), whole, four])]
    assert len(titles) == 3 and "the whole instance" in titles[1] and "4 threads" in titles[2]


def test_times_of_a_trace():
    trace = [(0.1, None), (0.5, 9.0), (0.7, 9.0), (2.0, 4.0), (3.0, 4.0)]
    events = [{"seconds": s, "objective": o, "bound": None} for s, o in trace]
    assert times(events, "minimize") == (0.5, 2.0)
    assert times(events, "maximize") == (0.5, 0.5)
    assert times(events[:1], "minimize") == (None, None)


def test_unknown_is_null():
    assert plain({"a": float("inf"), "b": (1, float("nan")), 3: None}) == {"a": None, "b": [1, None], "3": None}
    assert made("cpsat:pool")["gap"] is None


def test_ordered_objectives_are_shown_and_compared_in_their_order():
    runs = [
        made("cpsat:counts", [7.0, 3.0], [7.0, 2.5], seed=1),
        made("cpsat:counts", [7.0, 5.0], [7.0, None], seed=2),
        made("highs:pool", [7.0, 2.0], [6.0, None], seed=1),
        made("highs:pool", [8.0, 1.0], None, seed=2),
    ]
    text, wrong = printed(runs)
    assert "7 / 4" in row(text, "cpsat:counts") and "7 / 2.5000" in row(text, "cpsat:counts")
    assert "7.5000 / 1.5000" in row(text, "highs:pool") and "6 / -" in row(text, "highs:pool")
    assert "best schedule: 7 / 2 by highs:pool, verified" in text and wrong == []
