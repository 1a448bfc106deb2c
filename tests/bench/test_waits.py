"""The wait of a job that was requeued is one thing: what the log records of it in ``bench simulate`` and ``bench calibrate``."""

import json
from datetime import UTC, datetime

import pytest
from schedlab.instances import read_sacct, read_trace
from schedlab.instances.log_preparation import with_latest_starts
from schedlab.instances.sites import write_site
from schedlab.models import Partition, SchedulerSettings, Site, SiteNode
from schedlab.simulation import calibrate, slurm_jobs
from schedlab.simulation.metrics import recorded

BEGIN = 1_700_000_000
HEAD = "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Elapsed|Timelimit|ReqCPUS|AllocCPUS|NNodes|NodeList|State"
ROWS = (  # job, submit, start, end, state; job 2 waits 40 s, runs 60 s, and waits 130 s once more
    (1, 0, 0, 100, "COMPLETED"),
    (2, 60, 100, 160, "REQUEUED"),
    (3, 70, 160, 290, "COMPLETED"),
    (2, 160, 290, 400, "COMPLETED"),
)
WAITS = {"1": 0, "2": 40 + 130, "3": 90}


def stamp(seconds):
    return datetime.fromtimestamp(BEGIN + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@pytest.fixture
def log(tmp_path):
    site = Site(
        "lab",
        [SiteNode("n1", 4)],
        [Partition("p", ("n1",), default=True)],
        scheduler=SchedulerSettings(select_parameters=("cr_cpu",)),
    )
    write_site(site, tmp_path / "site.toml")
    lines = [HEAD]
    for job, submit, start, end, state in ROWS:
        times = "|".join(map(stamp, (submit, submit, start, end)))
        elapsed = f"00:{(end - start) // 60:02}:{(end - start) % 60:02}"
        lines.append(f"{job}|ana|a|p|normal|{times}|{elapsed}|00:10:00|4|4|1|n1|{state}")
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join(lines) + "\n")
    return path, site


def test_the_recorded_wait_of_a_requeued_job_is_that_before_all_its_attempts(log):
    path, site = log
    workload = read_sacct(path)
    assert {job.id: job.wait for job in slurm_jobs(workload)} == WAITS
    metrics = recorded(workload)
    assert metrics.wait.mean == pytest.approx(sum(WAITS.values()) / 3) and metrics.wait.max == 170
    assert metrics.queue_mean == pytest.approx(sum(WAITS.values()) / 400)
    found = calibrate(workload, site, replays=2)
    assert {job.id: wait for job, wait in zip(found.jobs, found.recorded.tolist(), strict=True)} == WAITS


def test_simulate_records_the_wait_that_calibrate_compares(log, bench, in_process):
    path, _ = log
    words = [path, "--site", path.with_name("site.toml"), "--dispatchers", "easy", "--jobs", "1"]
    code, _, err = bench("simulate", *words, "--out", path.with_name("runs"))
    assert code == 0, err
    [record] = [json.loads(each.read_text()) for each in path.with_name("runs").glob("easy*.json")]
    assert record["simulation"]["recorded"]["wait_mean"] == pytest.approx(sum(WAITS.values()) / 3)


def test_the_note_and_the_queue_of_the_log_have_the_same_waits(log):
    path, _ = log
    lines = path.read_text().splitlines()
    eligible = HEAD.split("|").index("Eligible")
    cells = lines[4 - 1].split("|")  # job 3 is held for 30 s
    cells[eligible] = stamp(100)
    path.write_text("\n".join([*lines[:3], "|".join(cells), *lines[4:]]) + "\n")
    trace = read_trace(path)
    mean = sum(WAITS.values()) / 3
    assert trace.wait.tolist() == [WAITS[job] for job in trace.ids]
    [note] = [note for note in trace.workload.report.notes if "mean recorded wait" in note]
    assert f"the mean recorded wait is {mean:.0f} s from the submit time, {mean - 10:.0f} s from that time" in note
    assert [queue.ewt for queue in trace.workload.queues] == [round(mean)]
    assert (with_latest_starts(trace, "mean-wait").latest_start - trace.submit).tolist() == [round(mean)] * 3
