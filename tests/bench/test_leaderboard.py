"""``bench leaderboard``: ranks, figures against formulas, the block bootstrap, files, and wrong use."""

import csv
import json
from datetime import UTC, datetime

import numpy as np
import pytest
import schedlab as sl
from schedlab.bench.cli.leaderboard import FIGURES, Replayed, Standing, ranking
from schedlab.bench.statistics.comparison import Blocks, jain_index
from schedlab.instances.sites import write_site
from schedlab.models import NodeEvent, Partition, SchedulerSettings, Site, SiteNode

DAY = 86_400
HOUR = 3600


@pytest.fixture
def on_three_logs(bench, in_process, tmp_path, monkeypatch):
    """Return what ``bench leaderboard`` prints about two generated logs and an instance, and its files."""
    monkeypatch.chdir(tmp_path)
    for name, seed in (("first", 1), ("second", 2)):
        draw = np.random.default_rng(seed)
        lines = ["; MaxProcs: 4"]
        for k in range(1, 41):
            run = int(draw.integers(30, 4000))
            submit = 700 * k
            lines.append(
                f"{k} {submit} 0 {run} {draw.integers(1, 5)} -1 -1 -1 {2 * run} -1 1 {draw.integers(1, 4)} 1 1 1 1 -1 -1"
            )
        (tmp_path / f"{name}.swf").write_text("\n".join(lines) + "\n")
    words = ["first.swf", "second.swf", "--nodes", "4", "--cores", "1", "--dispatchers", "fcfs,easy", "--jobs", "1"]
    code, out, err = bench(
        "leaderboard", *words, "--page", "b.html", "--csv", "b.csv", "--rank-by", "wait", "--explain"
    )
    assert code == 0, err
    return out, err, tmp_path


def test_figures_are_those_of_the_replays(on_three_logs):
    out, _, folder = on_three_logs
    rows = {(r["log"], r["dispatcher"]): r for r in csv.DictReader((folder / "b.csv").open())}
    assert len(rows) == 4
    platform = sl.Platform([sl.NodeGroup("n", 4, {"cores": 1})])
    for (log, dispatcher), row in rows.items():
        jobs = sl.read_swf(folder / f"{log}.swf")
        run = sl.simulate(jobs, platform=platform, dispatcher=dispatcher)
        took = np.maximum(run.end - run.start, 10)
        slowdown = np.maximum(1, (run.wait + run.end - run.start) / took)
        assert float(row["slowdown"]) == pytest.approx(slowdown.mean())
        assert float(row["wait"]) == pytest.approx(run.wait.mean() / HOUR)
        assert float(row["wait_p95"]) * HOUR == np.quantile(run.wait, 0.95, method="inverted_cdf")
        users = np.array([slowdown[run.workload.user == u].mean() for u in np.unique(run.workload.user)])
        assert float(row["fairness"]) == pytest.approx(users.sum() ** 2 / (len(users) * (users**2).sum()))
        assert float(row["wait_low"]) <= float(row["wait"]) <= float(row["wait_high"])
    waits = {d: [float(rows[log, d]["wait"]) for log in ("first", "second")] for d in ("fcfs", "easy")}
    assert all(easy < fcfs for easy, fcfs in zip(waits["easy"], waits["fcfs"], strict=True))
    assert "2 logs, ranked by wait" in out and "moving-block" in " ".join(out.split())


def test_the_page_and_records_are_written_and_a_second_call_repeats_nothing(on_three_logs, bench):
    _, _, folder = on_three_logs
    page = (folder / "b.html").read_text()
    assert "first" in page and "second" in page and "<table>" in page and "ranked by wait" in page
    code, _, err = bench(
        "leaderboard",
        "first.swf",
        "second.swf",
        "--nodes",
        "4",
        "--cores",
        "1",
        "--dispatchers",
        "fcfs,easy",
        "--jobs",
        "1",
    )
    assert code == 0 and err.count("kept") + err.count("earlier") >= 1
    records = [json.loads(p.read_text()) for p in (folder / "results" / "leaderboard").glob("*.1.*.json")]
    assert len([r for r in records if "method" in r]) == 4


def test_logs_are_ranked_beside_instances_which_have_a_machine_of_their_own(on_three_logs, bench):
    words = ["first.swf", "eurora_99", "--nodes", "4", "--cores", "1", "--dispatchers", "fcfs,easy", "--jobs", "1"]
    code, out, err = bench("leaderboard", *words)
    assert code == 0, err
    assert "2 logs, ranked by slowdown" in out and "first, 40 jobs" in out and "eurora_99, 99 jobs" in out
    code, _, err = bench("leaderboard", "eurora_99", "--nodes", "4", "--dispatchers", "fcfs")
    assert code == 2 and "--nodes: for logs only" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["eurora_99", "--dispatchers", "fcfs", "--rank-by", "speed"], "slowdown-p95"),
        (["eurora_99", "eurora_99", "--dispatchers", "fcfs"], "two logs have the name eurora_99"),
        (["nothing.swf", "--dispatchers", "fcfs"], "nothing.swf"),
        (["eurora_99", "--dispatchers", "esy"], "easy"),
        (["eurora_99", "--dispatchers", "fcfs", "--page", "none/b.html"], "there is no folder none"),
    ],
)
def test_wrong_use_is_told(bench, words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = bench("leaderboard", *words)
    assert code == 2 and told in out + err and "Traceback" not in err


BEGIN = 1_700_000_000
HEAD = "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Elapsed|Timelimit|ReqCPUS|AllocCPUS|NNodes|NodeList|State"


def stamp(seconds):
    return datetime.fromtimestamp(BEGIN + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@pytest.fixture
def on_a_site(tmp_path, monkeypatch):
    """Write a site with two nodes, one of which fails, and a log in which jobs are cancelled, also while they run in a replay."""
    monkeypatch.chdir(tmp_path)
    nodes = ("n1", "n2")
    fails = [NodeEvent(BEGIN + 900, "node-down", ("n1",)), NodeEvent(BEGIN + 1500, "node-up", ("n1",))]
    site = Site(
        "lab",
        [SiteNode(name, 8) for name in nodes],
        [Partition("p", nodes, default=True)],
        scheduler=SchedulerSettings(select_parameters=("cr_cpu",)),
        events=fails,
    )
    write_site(site, "site.toml")
    draw = np.random.default_rng(3)
    lines = [HEAD]
    for k in range(1, 61):
        submit, start, ran, cpus = 60 * k, 60 * k + int(draw.integers(0, 500)), int(draw.integers(60, 900)), k % 12 + 1
        several = 2 if cpus > 8 else 1
        on = "n[1-2]" if several > 1 else nodes[k % 2]
        state, given = "COMPLETED", cpus
        if k % 4 == 0:
            start, ran, on, state, given = submit + 400, 0, "None assigned", "CANCELLED by 1", 0
        times = "|".join(stamp(t) for t in (submit, submit, start, start + ran))
        elapsed = f"{ran // 3600:02}:{ran // 60 % 60:02}:{ran % 60:02}"
        lines.append(f"{k}|u{k % 3}|a|p|normal|{times}|{elapsed}|00:20:00|{cpus}|{given}|{several}|{on}|{state}")
    (tmp_path / "jobs.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_figures_are_those_of_bench_simulate_where_jobs_fail_and_are_deleted(on_a_site, bench, in_process):
    """Job by job: the time in earlier attempts is no wait, and a job that was deleted while it ran has not started."""
    names = ("fcfs", "easy", "slurm")
    words = ["jobs.txt", "--site", "site.toml", "--cancelled", "--dispatchers", ",".join(names), "--jobs", "1"]
    code, _, err = bench("leaderboard", *words, "--csv", "b.csv", "--out", "records")
    assert code == 0, err
    rows = {row["dispatcher"]: row for row in csv.DictReader((on_a_site / "b.csv").open())}
    read = map(json.loads, (path.read_text() for path in (on_a_site / "records").glob("*.json")))
    records = {record["method"]: record for record in read if "method" in record}
    assert set(rows) == set(records) == set(names)
    for name, row in rows.items():
        metrics = records[name]["metrics"]
        assert float(row["wait"]) * HOUR == pytest.approx(metrics["wait_mean"], rel=1e-12)
        assert float(row["slowdown"]) == pytest.approx(metrics["bounded_slowdown_mean"], rel=1e-12)
    attempts = [(on_a_site / "records" / r["simulation"]["attempts_csv"]).read_text() for r in records.values()]
    assert any(",1\n" in text for text in attempts) and any(",0\n" in text for text in attempts)


def replayed(waits, submit):
    one = np.ones(len(waits), np.int64)
    wait = np.asarray(waits, np.int64)
    return Replayed(submit, wait, np.maximum(1, (wait + 60) / 60), one, one)


def test_a_dispatcher_whose_replay_failed_has_the_last_rank():
    submit = np.arange(0, 40 * DAY, HOUR)
    blocks = Blocks.of(submit)
    listed = [
        Standing("x", "a", replayed(5 + 0 * submit, submit), blocks, None),
        Standing("x", "b", None, None, None, "error"),
        Standing("x", "c", replayed(9 + 0 * submit, submit), blocks, None),
    ]
    ranks = {r.dispatcher: r for r in ranking(listed, FIGURES["wait"])}
    assert [ranks[name].rank for name in "acb"] == [1, 2, 3]
    assert ranks["b"].times is None and ranks["b"].failed == 1
    assert ranks["c"].times == pytest.approx(9 / 5) and ranks["a"].first == 1


def test_blocks_keep_the_dependence_of_days():
    """The mean of days that come in runs of seven varies more than that of independent days with the same values."""
    days = 56
    submit = np.arange(days) * DAY
    in_runs = np.where(np.arange(days) // 7 % 2 == 0, 0.0, 1.0)
    alternating = np.arange(days) % 2 * 1.0
    blocks = Blocks.of(submit)
    assert blocks.length == 7 and blocks.counts.shape == (1000, days)
    assert (blocks.counts.sum(axis=1) == days).all()
    assert blocks.means(submit, in_runs).std() > 3 * blocks.means(submit, alternating).std()


def test_resampled_figures_are_those_of_the_drawn_jobs():
    draw = np.random.default_rng(5)
    submit = np.sort(draw.integers(0, 30 * DAY, 200))
    values = draw.random(200)
    user = draw.integers(0, 5, 200)
    blocks = Blocks.of(submit, seed=3)
    place = blocks.slices(submit)
    means = blocks.means(submit, values)
    p95 = blocks.quantiles(submit, values, 0.95)
    jain = blocks.jain(submit, values, user)
    for b in range(0, 1000, 97):
        times = blocks.counts[b, place].astype(int)
        drawn = np.repeat(values, times)
        assert means[b] == pytest.approx(drawn.mean())
        assert p95[b] == np.quantile(drawn, 0.95, method="inverted_cdf")
        users = np.repeat(user, times)
        each = np.array([drawn[users == u].mean() for u in np.unique(users)])
        assert jain[b] == pytest.approx(float(jain_index(each)))


@pytest.mark.parametrize("span", [0, 5, HOUR, 3 * DAY, 9 * DAY])
def test_short_logs_are_divided_too(span):
    submit = np.linspace(0, span, 20).astype(np.int64)
    blocks = Blocks.of(submit)
    means = blocks.means(submit, np.ones(20))
    assert (means[np.isfinite(means)] == 1).all()
    assert Blocks.interval(means) == (1.0, 1.0)
