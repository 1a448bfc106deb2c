"""``bench calibrate`` and ``bench whatif`` on a small site whose scheduler does what everyone can compute: first come, first served."""

import csv
import heapq
import random
from datetime import UTC, datetime

import pytest

CONF = """ClusterName=lab
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,bf_resolution=1,sched_interval=2,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PriorityType=priority/basic
NodeName=n[1-2] CPUs=4
PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=60
"""
HEAD = "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|ReqCPUS|AllocCPUS|NNodes|NodeList|State|AllocTRES|Priority"


def stamp(seconds):
    return datetime.fromtimestamp(1_700_000_000 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@pytest.fixture(scope="module")
def centre(tmp_path_factory):
    """A folder with slurm.conf and the log of 60 jobs of one node each, which started first come, first served."""
    folder = tmp_path_factory.mktemp("centre")
    (folder / "slurm.conf").write_text(CONF)
    draw = random.Random(1)
    free = [(0, "n1"), (0, "n2")]
    lines = [HEAD]
    now = 0
    for k in range(1, 61):
        now += draw.randint(10, 140)
        ready, node = heapq.heappop(free)
        start = max(now, ready)
        ran = draw.randint(30, 290)
        heapq.heappush(free, (start + ran, node))
        times = [stamp(t) for t in (now, now, start, start + ran)]
        user = draw.choice(["ana", "ben"])
        tres = "billing=4,cpu=4,node=1"
        lines.append(f"{k}|{user}|chem|batch|normal|{'|'.join(times)}|{ran}|00:05:00|4|4|1|{node}|COMPLETED|{tres}|1")
    (folder / "jobs.txt").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.slow
def test_a_scheduler_without_secrets_is_calibrated_well(bench, centre, tmp_path):
    pytest.importorskip("matplotlib")
    words = ["calibrate", centre / "jobs.txt", "--site", centre / "slurm.conf", "--replays", 2, "--explain"]
    code, out, err = bench(*words, "--csv", tmp_path / "c.csv", "--page", tmp_path / "c.html")
    assert code == 0, err
    text = " ".join(out.split())
    assert text.count("good:") + text.count("exact:") >= 1 and "recall" in text and "two replays differ" in text
    rows = list(csv.DictReader((tmp_path / "c.csv").open()))
    assert len(rows) == 60 and {r["partition"] for r in rows} == {"batch"}
    errors = [abs(float(r["wait_recorded"]) - float(r["wait_replayed"])) for r in rows]
    assert sum(error <= 10 for error in errors) >= 45  # replays differ in fractions of seconds, which move what follows
    page = (tmp_path / "c.html").read_text()
    assert "The verdict" in page and "<svg" in page and "one step" in page


def test_more_nodes_shorten_the_waits_and_a_second_call_repeats_nothing(bench, centre, tmp_path):
    words = ["whatif", centre / "jobs.txt", "--site", centre / "slurm.conf", "--replays", 2, "--out", tmp_path / "kept"]
    words += ["--change", "nodes.batch + 2", "--change", "partition.batch.MaxTime = 30", "--dispatchers", "slurm,fcfs"]
    code, out, err = bench(*words, "--csv", tmp_path / "w.csv", "--page", tmp_path / "w.html")
    assert code == 0, err
    rows = {(r["title"], r["by"]): r for r in csv.DictReader((tmp_path / "w.csv").open())}
    more = rows["nodes.batch + 2, slurm", "all"]
    assert more["verdict"] == "shorter" and float(more["after"]) < float(more["before"]) / 2
    assert abs(float(rows["as it is, fcfs", "all"]["difference"])) < 10  # the rules of this site are fcfs
    assert rows["partition.batch.MaxTime = 30, slurm", "all"]["verdict"] in ("open", "equal")
    assert "all together" in out and "falls from" in (tmp_path / "w.html").read_text()
    kept = sorted((tmp_path / "kept").iterdir())
    assert len(kept) == 8
    before = [path.stat().st_mtime_ns for path in kept]
    code, again, _ = bench(*words)
    assert code == 0 and again == out
    assert [path.stat().st_mtime_ns for path in kept] == before


def test_a_log_with_partitions_and_no_site_is_replayed_with_a_warning(bench, in_process, centre, tmp_path):
    log = centre / "jobs.txt"
    words = ["simulate", log, "--dispatchers", "fcfs", "--jobs", 1]
    code, _, err = bench(*words, "--nodes", 2, "--cores", 4, "--out", tmp_path / "without")
    assert code == 0 and "no site says which nodes a partition has" in " ".join(err.split())
    code, _, err = bench(*words, "--site", centre / "slurm.conf", "--out", tmp_path / "with")
    assert code == 0 and "no site says" not in err


def test_a_damaged_replay_is_named(bench, centre, tmp_path):
    words = ["whatif", centre / "jobs.txt", "--site", centre / "slurm.conf", "--replays", 1, "--out", tmp_path]
    words += ["--change", "nodes.batch + 1"]
    assert bench(*words)[0] == 0
    path = sorted(tmp_path.glob("*.csv"))[0]
    path.write_text(path.read_text().replace(",", ";", 9))
    code, out, err = bench(*words)
    assert code != 0 and str(path) in out + err and "delete it" in out + err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["whatif", "--change", "nodes.batc + 2"], "did you mean batch"),
        (["whatif", "--change", "more"], "expected a change such as"),
        (["whatif", "--change", "nodes.batch + 1", "--dispatchers", "esy"], "easy"),
        (["whatif", "--change", "nodes.batch + 1", "--page", "none/w.html"], "there is no folder none"),
        (["calibrate", "--csv", "none/w.csv"], "there is no folder none"),
        (["calibrate", "--zone", "Mars"], "unknown time zone"),
    ],
)
def test_wrong_use_is_told(bench, centre, words, told):
    code, out, err = bench(words[0], centre / "jobs.txt", "--site", centre / "slurm.conf", *words[1:])
    assert code == 2 and told in out + err and "Traceback" not in err


def test_a_site_that_is_no_site_and_a_log_that_is_missing_are_told(bench, centre, tmp_path):
    code, out, err = bench("calibrate", centre / "jobs.txt", "--site", tmp_path / "none.conf")
    assert code == 2 and "none.conf" in out + err
    code, out, err = bench("calibrate", tmp_path / "none.txt", "--site", centre / "slurm.conf")
    assert code == 2 and "none.txt" in out + err
