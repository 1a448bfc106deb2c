"""A replay in memory and the same one read from its files: tables, pictures, HTML, metrics."""

import matplotlib

matplotlib.use("agg")

import numpy as np
import pytest
import schedlab as sl
from schedlab.models import Dispatch, Job, NodeEvent, NodeGroup, Platform, Queue, Running
from schedlab.simulation import Simulation, read_attempts, read_jobs, violations, write_attempts, write_jobs
from schedlab.simulation.result import gantt_of_replay

MACHINE = Platform([NodeGroup("n", 3, {"cores": 4})])


def job(name, submit, runtime, units=1, queue="short", cores=4):
    return Job(name, submit, 100, units, {"cores": cores}, queue, runtime=runtime)


JOBS = [job("a", 0, 30, 2), job("b", 5, 20, queue="<long>"), job("c", 6, 40, 1, cores=2)]
PROBLEM = Dispatch(MACHINE, JOBS, [Queue("short", 60), Queue("<long>", 60)])
EVENTS = [NodeEvent(10, "node-down", ["n-1"]), NodeEvent(50, "node-up", ["n-1"])]


@pytest.fixture
def failed():
    """A replay in which job a loses its first attempt."""
    return sl.simulate(PROBLEM, "fcfs", events=EVENTS)


def read_again(run, folder):
    """Return a replay after it was written to files and read."""
    write_jobs(run, folder / "jobs.csv")
    write_attempts(run, folder / "attempts.csv")
    workload, history = read_attempts(folder / "attempts.csv", run.workload, run.platform)
    back = read_jobs(folder / "jobs.csv").replay(workload, run.platform)
    back.history, back.states = history, run.states
    return back


def test_a_replay_from_its_files_is_of_the_same_type_and_has_the_same_metrics(failed, tmp_path):
    back = read_again(failed, tmp_path)
    assert type(back) is type(failed) is Simulation
    assert violations(back) == [] == failed.violations
    assert back.attempts.equals(failed.attempts) and len(back.attempts) == 4
    unknown = ("expected", "decisions", "ratio", "AO", "MO", "%O", "prediction_seconds", "accuracy")
    known = {k: v for k, v in failed.metrics.as_dict().items() if not k.startswith(unknown)}
    assert {k: v for k, v in back.metrics.as_dict().items() if not k.startswith(unknown)} == known
    assert known["wait_mean"] > 0


def test_what_the_files_do_not_have_is_unknown(failed, tmp_path):
    back = read_again(failed, tmp_path)
    assert (back.decisions, back.expected, back.first_reserved, back.seconds, back.seed) == (None,) * 5
    assert back.metrics.decisions.made is None and back.metrics.accuracy.mae is None
    assert repr(back) == "Simulation(3 of 3 jobs, not verified)"
    assert back.to_pandas()["expected"].isna().all()
    same = [c for c in back.to_pandas().columns if c != "expected"]
    assert back.to_pandas()[same].equals(failed.to_pandas()[same])


def test_attempts_on_request(failed):
    table = failed.to_pandas(attempts=True)
    assert table["why"].value_counts().to_dict() == {"completed": 3, "down: n-1": 1}
    assert len(failed.to_pandas()) == 3


def test_the_picture_by_hand(failed):
    """Job a on n-1 and n-2 is drawn until n-1 goes down, then n-1 is grey, and a runs again."""
    chart = gantt_of_replay(failed)
    assert chart.groups == ("<long>", "short", "ended early", "node down or off")
    bars = {(b.label, b.group, b.row, b.start, b.end, b.high - b.low) for b in chart.bars}
    assert ("a", "ended early", 0, 0, 10, 2) in bars
    assert ("", "node down or off", 0, 10, 50, 1) in bars
    assert ("b", "<long>", 2, 5, 25, 1) in bars
    assert [b.high - b.low for b in chart.bars if b.label == "c"] == [0.5]
    assert [r.label for r in chart.rows] == ["n-1", "n-2", "n-3"]


def test_plot_draws_it(failed, tmp_path):
    ax = failed.plot()
    assert ax.get_title(loc="left") == "3 jobs on 3 nodes"
    assert [t.get_text() for t in ax.get_legend().get_texts()][-1] == "node down or off"
    ax.figure.savefig(tmp_path / "replay.png")
    given = matplotlib.pyplot.subplots()[1]
    assert read_again(failed, tmp_path).plot(given, legend=False) is given and given.get_legend() is None
    matplotlib.pyplot.close("all")


def test_many_nodes_are_a_grid_whose_shares_are_the_use():
    platform = Platform([NodeGroup("n", 450, {"cores": 4})])
    jobs = [job(f"j{k}", k, 10 + k, 90, cores=2) for k in range(40)]
    run = sl.simulate(Dispatch(platform, jobs, [Queue("short", 60)]), "easy")
    chart = gantt_of_replay(run)
    cells = chart.cells
    assert cells.share.shape == (1, 150, 480) and chart.title.startswith("40 jobs on 450 nodes; a row is 3 nodes")
    used = cells.share.mean() * 450 * (cells.end - cells.start)
    assert used == pytest.approx(0.5 * 90 * sum(10 + k for k in range(40)))
    run.plot()
    matplotlib.pyplot.close("all")


def test_jobs_that_run_at_the_begin_and_jobs_that_never_start_are_named(tmp_path):
    at_begin = Running(job("r", 0, 50), start=-20, end=80, nodes={"n-2": 1})
    run = sl.simulate(PROBLEM, "fcfs", running=[at_begin], begin=0)
    chart = gantt_of_replay(run)
    assert [(b.label, b.row, b.end) for b in chart.bars if b.group == "running before"] == [("r", 1, 30)]
    lost = Simulation(run.workload, MACHINE, np.full(3, -1), np.full(3, -1), np.zeros(3, bool), run.placement)
    lost.placement = run.placement._replace(first=np.zeros(4, np.int64))
    assert "0 jobs on 3 nodes, 3 jobs never started" in lost.plot().get_title(loc="left")
    assert "0 of 3 started" in lost._repr_html_() and "not verified" in lost._repr_html_()
    matplotlib.pyplot.close("all")


def test_html_has_the_main_metrics_and_escapes_texts(failed):
    failed.dispatcher = "<script>"
    html = failed._repr_html_()
    assert "&lt;script&gt;" in html and "<script>" not in html
    assert "<th>jobs</th><td>3 of 3 started, 0 killed at their walltime</td>" in html
    assert f"mean {failed.metrics.wait.mean:,.1f} s" in html and "0 violations" in html
