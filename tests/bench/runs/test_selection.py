"""The selection of runs: views, methods, limits and seeds, and the key that identifies a run."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import schedlab as sl
from schedlab.bench import (
    DAY_REPLAYED,
    NOON,
    WHOLE,
    Run,
    RunRequest,
    View,
    WrongUse,
    defaults,
    how_long,
    key_of,
    parse_clock,
    parse_methods,
    parse_seeds,
    plan,
)
from schedlab.bench.runs.progress import worst_case
from schedlab.instances import load
from schedlab.instances.files import content_of

RUN = Run("day", "instances/day", "c0ffee", "cpsat:pool", solver="cpsat", version="9.15", kind="dispatch")


@pytest.mark.parametrize(
    "change",
    [
        {"content": "other"},
        {"method": "cpsat:pool+warm"},
        {"seed": 2},
        {"time_limit": 11.0},
        {"threads": 2},
        {"memory_gb": 4.0},
        {"version": "9.16"},
        {"schedlab": "0.2.0"},
        {"drop_impossible": True},
        {"view": View(at=43200)},
        {"view": View(first=100)},
        {"view": View(durations="runtime")},
        {"view": View(objective="makespan")},
    ],
)
def test_whatever_decides_the_outcome_changes_the_key(change):
    assert replace(RUN, **change).key != RUN.key


def test_where_an_instance_lies_does_not_change_the_key_and_a_record_gives_its_key_again():
    assert replace(RUN, path="elsewhere/day").key == RUN.key
    assert key_of({**RUN.head, "objective": 3.0}) == RUN.key


def test_the_content_of_an_instance_is_its_bytes(tmp_path):
    (tmp_path / "jobs.csv").write_text("id\nj1\n")
    before = content_of(tmp_path)
    (tmp_path / ".hidden").write_text("x")
    assert content_of(tmp_path) == before
    (tmp_path / "jobs.csv").write_text("id\nj2\n")
    assert content_of(tmp_path) != before


def test_by_default_a_large_day_shows_noon_the_whole_day_and_the_replayed_day():
    runs = plan(load("eurora_700"), "eurora_700", RunRequest())
    assert [r.view for r in runs if r.method == "multi-search"] == [NOON, WHOLE, DAY_REPLAYED]
    assert len(runs) == sum(map(len, defaults(load("eurora_700")).values()))
    assert {r.view for r in runs if r.replay is not None} == {DAY_REPLAYED}
    assert worst_case([r for r in runs if r.view != DAY_REPLAYED], 1) <= 360
    assert {r.solver for r in runs} == {"schedlab", "cpsat", "highs", "cpo"}


def test_a_small_machine_has_defaults_that_every_edition_takes():
    runs = plan(load("eurora_99"), "eurora_99", RunRequest())
    assert [r.method for r in runs if r.view == WHOLE] == [d.method for d in defaults(load("eurora_99"))[WHOLE]]
    assert "cpo:pool" in {r.method for r in runs}


def test_only_what_is_requested_is_run():
    day = load("eurora_330")
    (run,) = plan(day, "eurora_330", RunRequest(methods=["cpsat:pool"], time_limit=3, threads=1))
    assert (run.view, run.method, run.time_limit, run.threads) == (WHOLE, "cpsat:pool", 3, 1)
    noon = plan(day, "eurora_330", RunRequest(at=43200, first=50))
    assert {r.view for r in noon} == {View(43200, 50)}
    assert [r.method for r in noon] == [d.method for d in defaults(day)[NOON]]
    assert {r.time_limit for r in plan(day, "eurora_330", RunRequest(time_limit=2))} == {2}


def test_seeds_are_for_solvers_and_heuristics_run_once():
    runs = plan(load("eurora_99"), "eurora_99", RunRequest(methods=["multi-search", "cpsat:pool"], seeds=(1, 2, 3)))
    assert [(r.method, r.seed) for r in runs] == [("multi-search", 1)] + [("cpsat:pool", s) for s in (1, 2, 3)]


def test_the_view_of_a_day():
    day = load("eurora_700")
    noon = NOON.of(day)
    assert len(noon.jobs) == 100 and noon.now == 43200 and max(j.submit for j in noon.jobs) <= 43200
    assert View(objective="makespan").of(day).objective == "makespan"
    assert len(View(first=7).of(day).jobs) == 7
    assert View(durations="runtime").of(day).durations == "runtime"


def test_views_that_make_no_sense_are_refused():
    with pytest.raises(sl.UnknownName, match="waiting"):
        View(objective="waitin").of(load("eurora_99"))
    with pytest.raises(WrongUse, match="no jobs"):
        View(at=0).of(load("eurora_99"))
    with pytest.raises(WrongUse, match="project problem"):
        View(at=5).of(SimpleNamespace(problem=SimpleNamespace(kind="project")))


@pytest.mark.parametrize(("text", "seconds"), [("12:00", 43200), ("00:00:30", 30), ("86400", 86400), ("36:00", 129600)])
def test_times_of_day(text, seconds):
    assert parse_clock(text) == seconds


@pytest.mark.parametrize("text", ["noon", "12:60", "12:", "-5", "1:2:3:4"])
def test_times_that_are_none(text):
    with pytest.raises(WrongUse, match="such as 12:00"):
        parse_clock(text)


def test_lists_of_seeds_and_methods():
    assert parse_seeds("1-3,7,2") == (1, 2, 3, 7)
    for wrong in ("", "a", "3-1", "1-"):
        with pytest.raises(WrongUse, match="--seeds"):
            parse_seeds(wrong)
    assert parse_methods(["first-solution:power-per-profit.-duration, cpsat:pool", "cpsat:pool"]) == [
        "first-solution:power-per-profit.-duration",
        "cpsat:pool",
    ]
    with pytest.raises(WrongUse, match="--methods"):
        parse_methods([" , "])


def late(day, seconds):
    """Return the instance with all jobs submitted later by some seconds."""
    jobs = [replace(j, submit=j.submit + seconds) for j in day.jobs]
    return replace(day, problem=day.problem.replace(jobs=jobs))


def test_a_view_without_jobs_is_no_default_but_refused_if_it_is_requested():
    day = load("eurora_330")
    begin = min(j.submit for j in day.jobs)
    at_noon, after_noon = late(day, 43200 - begin), late(day, 43201 - begin)
    assert NOON in defaults(at_noon)
    assert list(defaults(after_noon)) == [WHOLE, DAY_REPLAYED]
    assert {r.view for r in plan(after_noon, "eurora_330", RunRequest())} == {WHOLE, DAY_REPLAYED}
    with pytest.raises(WrongUse, match="at 12:00, first 100' has no jobs"):
        plan(after_noon, "eurora_330", RunRequest(at=43200, first=100))
    later = plan(after_noon, "eurora_330", RunRequest(at=86400, first=50))
    assert [r.method for r in later] == [d.method for d in defaults(at_noon)[NOON]]


def policies(n, limit):
    return [
        replace(run, time_limit=limit) for run in plan(load("eurora_99"), "eurora_99", RunRequest(methods=["easy"]))
    ] * n


def test_how_long_runs_take_counts_the_limits_of_solvers_and_says_that_policies_are_quick():
    assert how_long([RUN], 1) == "1 run, at most 0.3 minutes"
    assert how_long([RUN] * 10, 1) == "10 runs, at most 3.0 minutes"
    assert how_long([RUN] * 10, 2) == "10 runs, at most 1.5 minutes"
    assert (
        how_long(policies(1, 3600), 1)
        == "1 run (1 replay without a solver: usually a few seconds, stopped after 3600 s)"
    )
    eight = "8 runs (8 replays without a solver: usually a few seconds each, stopped after 10 s each)"
    assert how_long(policies(8, 10), 1) == eight
    assert how_long([RUN, *policies(2, 3600)], 1) == (
        "3 runs (1 of them: at most 0.3 minutes in total; "
        "2 replays without a solver: usually a few seconds each, stopped after 3600 s each)"
    )


def test_a_dispatcher_that_asks_a_solver_is_no_quick_policy():
    runs = plan(load("eurora_99"), "eurora_99", RunRequest(methods=["hcp3@cpsat"], time_limit=52))
    assert how_long(runs, 1) == "1 run, at most 1.0 minutes"


def test_methods_without_randomness_are_said_to_need_one_seed(bench, tmp_path):
    words = ["run", "eurora_99", "--first", 5, "--out", tmp_path / "out", "--dry-run"]
    code, out, err = bench(*words, "--methods", "rule:est,lns,easy", "--seeds", "1-3")
    assert code == 0, err
    assert "one seed for rule:est, easy: nothing is drawn at random" in " ".join(err.split())
    assert len(out.splitlines()) == 1 + 3 + 1
    for seeds, methods in (("1-3", "lns"), ("2", "rule:est")):
        code, out, err = bench(*words, "--methods", methods, "--seeds", seeds)
        assert code == 0 and "one seed for" not in err
    code, out, err = bench("simulate", "eurora_99", "--dispatchers", "fcfs,easy", "--seeds", "1-2", "--dry-run")
    assert code == 0 and "one seed for fcfs, easy: " in " ".join(err.split())
