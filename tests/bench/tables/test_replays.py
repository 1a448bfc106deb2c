"""The table of the dispatchers for a fixed set of records; the progress of a replay."""

import io

import pytest
from rich.console import Console
from schedlab.bench import Run, View
from schedlab.bench.kinds.base import show_results
from schedlab.bench.records.record import record
from schedlab.bench.replays import ReplaySettings
from schedlab.bench.runs.progress import Lines, LiveDisplay
from schedlab.bench.tables import all_figures, dispatcher_columns, extract_replays, models
from schedlab.models.profiles import flat
from schedlab.simulation import simulate
from schedlab.simulation.dispatchers.registry import PREDICTED_BY

DAY = View(durations="runtime")
USUAL = ReplaySettings()
ENDED = dict.fromkeys(("trivial", "optimal", "limit", "no-gain", "infeasible", "nothing"), 0)


RATIOS = {f"accuracy_ratio_{p}": r for p, r in (("p5", 0.1), ("p25", 0.5), ("p50", 0.9), ("p75", 1.0), ("p95", 25.0))}
GUESSED = {
    "accuracy_mae": 1800.4,
    "accuracy_under": 0.25,
    "accuracy_over": 0.6,
    "accuracy_within_quarter": 0.4,
    **RATIOS,
}


def metrics(wait, slowdown, used=0.5, **more):
    calls = (
        {f"decisions_ended_{k}": v for k, v in {**ENDED, **more.pop("ended", {})}.items()} if "solver" in more else {}
    )
    solver = more.pop("solver", None)
    return {
        "wait_mean": wait, "wait_max": 10 * wait, "slowdown_mean": slowdown, "bounded_slowdown_mean": slowdown - 0.5,
        "WQT": wait / 4, "NL": 3, "utilisation_cores": used, "decisions_made": 500, "decisions_solver": solver,
        "decisions_seconds_mean": 0.0125, "decisions_seconds_p99": None if solver is None else 0.21,
        "decisions_seconds_max": None if solver is None else 0.25, **calls, **GUESSED, **more,
    }  # fmt: skip


def made(method, objective, wait, slowdown, seed=1, replay=USUAL, recorded=None, notes=(), offline=True, **more):
    if "solver" not in more:
        replay = replay.for_policies
    found = {
        "status": "feasible", "objective": objective, "verified": True, "sense": "minimize", "schedule": None,
        "seconds": {"build": None, "lower": None, "solve": None, "total": 1.0},
        "metrics": metrics(wait, slowdown, **more), "jobs_csv": "x.jobs.csv",
        "simulation": {"predictor": PREDICTED_BY.get(method.partition("@")[0].rpartition("-")[2], "walltime"), "recorded": recorded, "notes": list(notes), "offline": offline, "objective": "weighted-wait"},
    }  # fmt: skip
    run = Run("eurora_700", "eurora_700", "c", method, seed, view=DAY, replay=replay, kind="dispatch")
    return record(run, found, "2026-01-01T00:00:00+00:00")


def offline(method, objective, bound, content="c"):
    found = {
        "status": "feasible" if objective is not None else "unknown", "objective": objective, "bound": bound,
        "verified": True if objective is not None else None, "sense": "minimize",
        "schedule": {} if objective is not None else None,
    }  # fmt: skip
    return record(
        Run("eurora_700", "eurora_700", content, method, view=DAY, kind="dispatch"), found, "2026-01-01T00:00:00+00:00"
    )


SOLVER = {
    "solver": 200,
    "ended": {"optimal": 100, "limit": 60, "no-gain": 40},
    "decisions_gain_none": 120,
    "decisions_gain_mean": 0.0123,
    "decisions_solver_seconds_p99": 0.22,
    "decisions_urgent": 7,
}
RECORDS = [
    made("fcfs", 40.0, 4000.0, 90.0, used=0.7),
    made("easy-d", 25.0, 2500.0, 30.0, notes=["the log has no names"]),
    made("hcp3-d@cpsat", 20.0, 2000.0, 35.0, notes=["the log has no names"], **SOLVER),
    offline("multi-search", 16.0, None),
    offline("highs:pool@1800s..100000s-energy", None, 12.0),
]


def printed(records, width=120, explain=False):
    console = Console(file=io.StringIO(), width=width)
    wrong = show_results(console, records, explain)
    return console.file.getvalue(), wrong


def row(text, method):
    return next(line for line in text.splitlines() if line.startswith(method))


def test_each_dispatcher_has_a_line_and_the_best_of_each_column_is_marked():
    text, wrong = printed(RECORDS)
    assert wrong == [] and "eurora_700, replay of the day, 0.2 s a decision" in text
    assert row(text, "hcp3-d@cpsat").split() == [
        "hcp3-d@cpsat", "2,000*", "20,000*", "35.0", "34.5", "20*", "3", "50.0%", "500/200/100/60",
        "12.5/210/250", "25.0%", "40.0%", "yes",
    ]  # fmt: skip
    assert row(text, "easy-d").split()[3:5] == ["30.0*", "29.5*"]
    assert row(text, "fcfs").split() == [
        "fcfs", "4,000", "40,000", "90.0", "89.5", "40", "3", "70.0%*", "500", "12.5", "150.0%", "70.0%", "yes",
    ]  # fmt: skip


def test_below_the_table_are_the_offline_schedule_the_solver_and_the_notes_on_the_trace():
    text = " ".join(printed(RECORDS)[0].split())
    assert "best offline schedule, every runtime known in advance: 16 by multi-search, verified" in text
    assert "best true bound: 12 by highs:pool@1800s..100000s-energy" in text
    assert (
        "hcp3-d@cpsat: of 200 calls that used the solver, 50% proven optimal, 30% stopped by the limit, 20% stopped without "
        "further gain, 60% kept the warm start, mean gain 1.23%, 99th percentile 0.22 s; jobs put first against starvation: "
        "7 times" in text
    )
    assert "easy-d, hcp3-d@cpsat: the log has no names" in text
    assert "the whole instance" not in text  # the offline runs of the same jobs have no table of their own


@pytest.mark.parametrize("width", [80, 100, 110, 120])
def test_no_line_is_wider_than_the_terminal(width):
    for explain in (False, True):
        text, _ = printed(RECORDS, width, explain)
        assert max(map(len, text.splitlines())) <= width and "…" not in text
    assert "2,000*" in text and "25.0%" in text and ("500/200" in text) is (width >= 110)
    words = " ".join(text.split())
    assert ("Not shown, as the terminal is too narrow: calls: made/solver/opt/cut" in words) is (width < 110)
    assert "late: jobs that waited longer" in words if width > 100 else "bench plot shows them" in words


def test_with_explain_the_meaning_of_every_column_that_is_shown_is_below():
    results = extract_replays(RECORDS)[0][0][1]
    columns = dispatcher_columns(results)
    assert [c.name for c in columns] == [
        "mean wait s", "max wait s", "mean slowdown", "bounded slowdown", "WQT", "late jobs", "cores used",
        "calls: made/solver/opt/cut", "ms a call: mean/p99/max", "regret", "gap to bound",
    ]  # fmt: skip
    assert [c.name for c in columns if not c.meaning] == ["max wait s"]  # explained by the column beside it
    text = " ".join(printed(RECORDS, 120, explain=True)[0].split())
    assert all(c.meaning in text for c in columns)
    narrow = " ".join(printed(RECORDS, 80, explain=True)[0].split())
    assert "calls: decisions made" not in narrow and "wait: time from submission to start" in narrow


def test_without_explain_one_line_names_the_option():
    text = " ".join(printed(RECORDS)[0].split())
    assert "*: the best of its column. --explain says what each column means." in text
    assert text.count("--explain") == 2  # below the dispatchers and below the predictions
    assert not any(c.meaning in text for c in dispatcher_columns(extract_replays(RECORDS)[0][0][1]) if c.meaning)
    assert "too short: share" not in text and "--explain" not in printed(RECORDS, explain=True)[0]


def test_the_accuracy_of_predictions_is_below_by_predictor():
    better = made("easy-d", 25.0, 2500.0, 30.0, accuracy_mae=600.0, accuracy_over=0.55)
    text = " ".join(printed([RECORDS[0], made("sjf", 41.0, 1.0, 2.0), better, RECORDS[2]], explain=True)[0].split())
    assert "walltime 1,800 25.0% 60.0% 40.0% 0.10/0.50/0.90/1.00/25 fcfs, sjf" in text
    assert "data-driven 600 25.0% 55.0% 40.0% 0.10/0.50/0.90/1.00/25 easy-d" in text
    assert "data-driven 1,800 25.0% 60.0% 40.0% 0.10/0.50/0.90/1.00/25 hcp3-d@cpsat" in text
    assert "too short: share of the jobs that took longer than predicted" in text


def test_a_replay_that_failed_predicts_nothing():
    broken = {**RECORDS[0], "status": "error", "cause": "dispatcher", "verified": None, "objective": None}
    assert "predicted" not in printed([broken])[0]


def test_all_figures_of_a_replay_are_in_the_grids():
    """Every metric of a replay is printed somewhere: each gets a value that no other has."""
    run = simulate("eurora_99", dispatcher="easy")
    jobs = simulate("eurora_99", dispatcher="easy", desired=flat(run.platform, 0.5)).metrics.as_dict()
    shown_elsewhere = {n for n in jobs if n.startswith(("accuracy", "not_started")) or n in ("jobs", "bsld_floor")}
    parts = {
        n for n in jobs if n[:5] in ("short", "mediu", "long_") and n.split("_")[-1] in ("std", "median", "p95", "p99")
    }
    parts |= {n for n in jobs if n.endswith("seconds_total")} - {"decisions_seconds_total"}
    marked = {name: 1000.0 + k for k, name in enumerate(jobs)}
    found = made("easy", 1.0, 1.0, 1.0)
    found["metrics"] = marked
    results = extract_replays([found])[0][0][1]
    cells = {
        c
        for grid in (*all_figures(results), models(results))
        for line in grid.texts
        for cell in line
        for c in cell.split("/")
    }
    for name in jobs.keys() - shown_elsewhere - parts:
        v = marked[name]
        shown = {f"{v / 60:,.1f}"} if name == "makespan" else set()
        forms = {f"{v:.3f}", f"{v:,.0f}", f"{v:.0f}", f"{1000 * v:,.0f}", f"{100 * v:.1f}%", f"{100 * v:.2f}%"} | shown
        assert forms & cells, name


def test_seeds_are_means_and_a_run_that_failed_says_why_and_never_wins():
    cut = {**RECORDS[0], "method": "pcp3@cpsat", "status": "unknown", "cause": "timeout", "verified": None}
    cut |= {"objective": None, "message": "stopped at its limit of 60 s: 3 of 700 jobs had started"}
    pair = [made("hcp3@cpsat", o, 100 * o, o, seed=s, **SOLVER) for s, o in ((1, 10.0), (2, 20.0))]
    text, _ = printed([*pair, cut, RECORDS[0]])
    assert row(text, "hcp3@cpsat").split()[1:4] == ["1,500*", "15,000*", "15.0*"]
    assert row(text, "pcp3@cpsat").split()[1] == "-" and row(text, "pcp3@cpsat").rstrip().endswith("cut")
    assert "3 of 700 jobs had started" in text


def test_the_recorded_schedule_has_a_row_that_is_never_marked():
    real = {"wait_mean": 1.0, "wait_max": 2.0, "slowdown_mean": 1.0, "WQT": 0.5, "NL": 0}
    text, _ = printed([made("fcfs", 9.0, 900.0, 9.0, recorded=real), made("easy", 8.0, 800.0, 8.0, recorded=real)])
    line = row(text, "as recorded")
    assert line.split()[2:5] == ["1", "2", "1.00"] and "*" not in line and line.rstrip().endswith("-")
    assert "800*" in row(text, "easy")


def test_a_bound_that_a_verified_replay_refutes_is_reported():
    text, wrong = printed([*RECORDS[:3], offline("highs:pool@1800s-relax", None, 21.0)])
    assert len(wrong) == 1 and "refuted" in " ".join(text.split())


def test_other_machines_loads_and_contents_are_other_tables():
    loaded = made("fcfs", 50.0, 1.0, 1.0, replay=ReplaySettings(load=1.2), offline=False)
    groups, left = extract_replays([*RECORDS, loaded, offline("multi-search", 1.0, None, content="other")])
    assert [title for title, _ in groups] == [
        "eurora_700, replay of the day, 0.2 s a decision",
        "eurora_700, replay of the day, load 1.2",
    ]
    assert [len(b.offline) for _, b in groups] == [2, 0] and [r["content"] for r in left] == ["other"]


RUN = Run("log", "log.swf", "c", "easy", view=DAY, replay=ReplaySettings(trace=True).for_policies, kind="dispatch")


def progress_event(done, seconds):
    return {"event": "progress", "done": done, "total": 5000, "seconds": seconds}


def test_plain_lines_have_rate_and_time_left_every_ten_seconds():
    console = Console(file=io.StringIO(), width=120)
    lines = Lines([RUN], console)
    for seconds in range(1, 31):
        lines.progress(RUN, progress_event(100 * seconds, float(seconds)))
    lines_printed = console.file.getvalue().splitlines()
    assert [line.partition("seed 1: ")[2] for line in lines_printed] == [
        "1,000 of 5,000 jobs, 100 jobs/s, 0:00:40 left",
        "2,000 of 5,000 jobs, 100 jobs/s, 0:00:30 left",
        "3,000 of 5,000 jobs, 100 jobs/s, 0:00:20 left",
    ]


def test_the_bar_of_a_replay_is_that_of_its_jobs():
    live = LiveDisplay([RUN], Console(file=io.StringIO(), width=120, force_terminal=True))
    with live:
        live.begun(RUN)
        live.progress(RUN, progress_event(2500, 5.0))
        task = next(t for t in live.bars.tasks if t.id == live.tasks[RUN.key])
        assert (task.completed, task.total) == (2500, 5000) and "500 jobs/s, 0:00:05 left" in task.fields["news"]
