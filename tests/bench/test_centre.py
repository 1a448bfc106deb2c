"""``bench calibrate`` and ``bench whatif`` on a small site whose scheduler does what everyone can compute: first come, first served."""

import csv
import heapq
import random
import re
from datetime import UTC, datetime

import pytest
from schedlab.bench import terminal

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


def test_each_column_of_a_calibration_has_a_name_of_its_own(bench, centre, tmp_path, monkeypatch):
    """On a page, where columns without a name are left out, and on a narrow terminal, where some columns are not shown."""
    pytest.importorskip("matplotlib")
    words = ["calibrate", centre / "jobs.txt", "--site", centre / "slurm.conf", "--replays", 1]
    code, _, err = bench(*words, "--page", tmp_path / "c.html")
    assert code == 0, err
    tables = [
        re.findall(r"<th[^>]*>([^<]*)</th>", row)
        for row in re.findall(r"<tr>.*?</tr>", (tmp_path / "c.html").read_text(), re.S)
    ]
    heads = next(cells for cells in tables if "rank corr." in cells)
    assert len(set(heads)) == len(heads) == 15 and {"median replayed", "p95 replayed", "mean replayed"} <= set(heads)
    assert ["all jobs"] in tables and ["one replay"] in tables
    monkeypatch.setattr(terminal, "PLAIN_WIDTH", 80)
    code, out, err = bench(*words)
    table = out[out.index("free: ") :].splitlines()
    assert code == 0 and max(map(len, table[:8])) <= 80
    assert "median" not in "".join(table[1:4]) and "".join(table[1:4]).split().count("mean") == 3
    assert "".join(table[1:4]).count("re-") == 2, table[1:4]


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
    assert len(kept) == 4 * (2 + 1)  # two replays by the rules of Slurm, one under fcfs
    before = [path.stat().st_mtime_ns for path in kept]
    code, again, _ = bench(*words)
    assert code == 0 and again == out
    assert [path.stat().st_mtime_ns for path in kept] == before
    kept[-1].unlink()  # as if Ctrl-C had come before the last one
    code, again, _ = bench(*words)
    assert code == 0 and again == out
    assert [path.stat().st_mtime_ns for path in kept[:-1]] == before[:-1] and kept[-1].exists()


def test_a_log_with_partitions_and_no_site_is_replayed_with_a_warning(bench, in_process, centre, tmp_path):
    log = centre / "jobs.txt"
    words = ["simulate", log, "--dispatchers", "fcfs", "--jobs", 1]
    code, _, err = bench(*words, "--nodes", 2, "--cores", 4, "--out", tmp_path / "without")
    assert code == 0 and "no site says which nodes a partition has" in " ".join(err.split())
    code, _, err = bench(*words, "--site", centre / "slurm.conf", "--out", tmp_path / "with")
    assert code == 0 and "no site says" not in err


def test_a_log_that_names_nodes_is_replayed_on_them(bench, in_process, centre, tmp_path):
    """Without options of the machine; the waits are listed by partition beside those recorded."""
    words = ["--dispatchers", "fcfs", "--jobs", 1, "--by", "partition"]
    code, out, err = bench("simulate", centre / "jobs.txt", *words, "--out", tmp_path / "seen")
    told = " ".join(err.split())
    assert code == 0 and "the site is that of the log: 2 nodes in 1 partition" in told and "no site says" not in told
    table = out[out.index("by partition") :]
    lines = [line.split() for line in table.splitlines() if "fcfs" in line or "as recorded" in line]
    assert lines[0][3] == lines[1][2], table  # the mean waits: first come, first served on the true machine
    assert bench("verify", tmp_path / "seen")[0] == 0
    site = tmp_path / "site.toml"
    code, out, err = bench("import", "site", "--from-log", centre / "jobs.txt", "--out", site)
    assert code == 0 and "2 nodes, 1 partition" in out and "not modelled" in out
    code, _, err = bench("simulate", centre / "jobs.txt", "--site", site, *words, "--out", tmp_path / "same")
    assert code == 0 and "the site is that of the log" not in err
    files = [next((tmp_path / name).glob("*.jobs.csv")).read_text() for name in ("seen", "same")]
    assert files[0] == files[1]


def test_times_of_a_site_outside_of_the_log_are_told(bench, in_process, centre, tmp_path):
    """The reservation was imported as if its times were those of Greenwich; the machine is in Tokyo."""
    (tmp_path / "res.txt").write_text(
        f"ReservationName=maint StartTime={stamp(-60)} EndTime={stamp(1800)} Duration=00:31:00\n   Nodes=n1 Flags=MAINT\n"
    )
    site = tmp_path / "site.toml"
    assert bench("import", "site", centre / "slurm.conf", tmp_path / "res.txt", "--out", site)[0] == 0
    words = ["--dispatchers", "fcfs", "--jobs", 1, "--out", tmp_path / "runs"]
    for zone, told in (("UTC", False), ("Asia/Tokyo", True)):
        code, _, err = bench("simulate", centre / "jobs.txt", "--site", site, "--zone", zone, *words)
        assert code == 0 and ("outside of the time of the log" in " ".join(err.split())) is told, err
        code, out, err = bench("calibrate", centre / "jobs.txt", "--site", site, "--zone", zone, "--replays", 1)
        assert code == 0 and ("outside of the time of the log" in " ".join((out + err).split())) is told, out + err


def test_a_site_keeps_jobs_on_as_many_nodes_as_they_asked_for(bench, in_process, centre, tmp_path):
    """Without a site, the shares of a job may come to lie on one node, which is told."""
    lines = (centre / "jobs.txt").read_text().splitlines()
    for old, new in (("|4|4|1|n", "|4|4|2|n"), ("node=1", "node=2"), ("|n1|", "|n[1-2]|"), ("|n2|", "|n[1-2]|")):
        lines[4] = lines[4].replace(old, new)
    log = tmp_path / "jobs.txt"
    log.write_text("\n".join(lines) + "\n")
    words = ["simulate", log, "--dispatchers", "fcfs", "--jobs", 1]
    code, _, err = bench(*words, "--nodes", 2, "--cores", 4, "--out", tmp_path / "without")
    assert code == 0 and "a replay without a site may put their shares on fewer nodes: 1 job" in " ".join(err.split())
    code, _, err = bench(*words, "--site", centre / "slurm.conf", "--out", tmp_path / "with")
    assert code == 0 and "fewer nodes" not in err
    code, out, err = bench("calibrate", log, "--site", centre / "slurm.conf", "--replays", 1)
    assert code == 0 and "fewer nodes" not in out + err


def test_groups_tell_how_many_jobs_started_as_recorded(bench, in_process, centre, tmp_path):
    """Of ana's jobs one was cancelled in the queue: it came a second after a job that waited, and left it in the next one."""
    lines = (centre / "jobs.txt").read_text().splitlines()
    cells = [dict(zip(HEAD.split("|"), line.split("|"), strict=True)) for line in lines[1:]]
    waited = next(row for row in reversed(cells) if row["Start"] > row["Submit"])
    since = datetime.fromisoformat(waited["Submit"]).replace(tzinfo=UTC).timestamp() - 1_700_000_000
    assert stamp(since + 2) <= waited["Start"]
    times = "|".join(stamp(t) for t in (since + 1, since + 1, since + 2, since + 2))
    lines.append(f"61|ana|chem|batch|normal|{times}|0|00:05:00|4|0|1|None assigned|CANCELLED||1")
    log = tmp_path / "jobs.txt"
    log.write_text("\n".join(lines) + "\n")
    words = ["simulate", log, "--site", centre / "slurm.conf", "--cancelled", "--dispatchers", "fcfs", "--jobs", 1]
    code, out, err = bench(*words, "--by", "user", "--explain", "--out", tmp_path / "runs")
    assert code == 0, err
    of_ana = sum("|ana|" in line for line in lines)
    code, board, _ = bench("leaderboard", *words[1:], "--out", tmp_path / "board")
    text = " ".join(board.split())
    assert code == 0 and "jobs, 61 jobs, of which 60 started" in text, text
    assert "not started: fcfs 1 (cancelled while they waited or ran, failed, or without room to the end)" in text
    table = [line.split() for line in out[out.index("by user") :].splitlines()]
    at = next(k for k, row in enumerate(table) if row[:1] == ["ana"])
    assert table[at][:3] == ["ana", str(of_ana), "fcfs"], table
    assert table[at + 1][:3] == ["as", "recorded", str(of_ana - 1)], table
    assert "started: jobs of the group that started, of which the figures are" in " ".join(out.split())


def test_features_are_not_known_from_a_log(bench, in_process, centre, tmp_path):
    lines = (centre / "jobs.txt").read_text().splitlines()
    table = [lines[0] + "|Constraints", *(f"{line}|{'ib' if k % 3 else ''}" for k, line in enumerate(lines[1:]))]
    log = tmp_path / "jobs.txt"
    log.write_text("\n".join(table).replace("|n1|", "|a[rack_1]|") + "\n")
    code, _, err = bench("simulate", log, "--dispatchers", "fcfs", "--jobs", 1, "--out", tmp_path / "o")
    told = " ".join(err.split())
    assert code == 0 and "60 jobs" in told and "features that 40 jobs asked for: ignored" in told, told
    assert "2 nodes in 1 partition" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "expected files such as slurm.conf"),
        (["slurm.conf", "--columns", "JobID"], "--columns JobID: only with --from-log"),
        (["slurm.conf", "--from-log", "jobs.txt"], "leave slurm.conf out"),
        (["--from-log", "none.txt"], "there is no such file"),
        (["--from-log", "without.txt"], "no job of the log has nodes"),
    ],
)
def test_an_import_of_a_site_without_files_is_told(bench, centre, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(centre)
    table = [line.split("|") for line in (centre / "jobs.txt").read_text().splitlines()]
    at = HEAD.split("|").index("NodeList")
    (centre / "without.txt").write_text("\n".join("|".join(row[:at] + row[at + 1 :]) for row in table) + "\n")
    code, out, err = bench("import", "site", *words, "--out", tmp_path / "s.toml")
    assert code == 2 and told in " ".join((out + err).split()), out + err


def test_jobs_without_a_limit_have_that_of_the_partition_of_the_site(bench, in_process, centre, tmp_path):
    log = tmp_path / "jobs.txt"
    log.write_text((centre / "jobs.txt").read_text().replace("|00:05:00|", "|Partition_Limit|"))
    words = ["--dispatchers", "fcfs", "--jobs", 1, "--out", tmp_path / "out"]
    code, _, err = bench("simulate", log, "--site", centre / "slurm.conf", *words)
    assert code == 0 and "the limit of the partition is used: 60 jobs" in " ".join(err.split())


@pytest.fixture(scope="module")
def strange(centre, tmp_path_factory):
    """The log with a job in an unknown partition, one on an unknown node, and a QOS that the site does not have."""
    lines = (centre / "jobs.txt").read_text().splitlines()
    lines[3] = lines[3].replace("|batch|", "|bacth|")
    lines[5] = lines[5].replace("|n1|", "|x9|").replace("|n2|", "|x9|")
    lines[7] = lines[7].replace("|normal|", "|hgh|")
    folder = tmp_path_factory.mktemp("strange")
    (folder / "jobs.txt").write_text("\n".join(lines) + "\n")
    (folder / "qos.txt").write_text("Name|Priority|UsageFactor\nnormal|0|1\nhigh|5|1\n")
    return folder


@pytest.mark.parametrize(
    ("how", "jobs", "told"),
    [
        (
            (),
            59,
            ["job 3: the site has no partition 'bacth'", "no QOS 'hgh' (1 job: 7; did you mean high?)", "no node 'x9'"],
        ),
        (("--on-unknown", "skip"), 57, ["no partition 'bacth'", "no QOS 'hgh'", "no node 'x9'"]),
    ],
)
def test_jobs_that_do_not_fit_the_site_are_named(bench, in_process, centre, strange, tmp_path, how, jobs, told):
    site = f"{centre / 'slurm.conf'},{strange / 'qos.txt'}"
    words = ["simulate", strange / "jobs.txt", "--site", site, "--dispatchers", "fcfs", "--jobs", 1, "--out", tmp_path]
    code, _, err = bench(*words, *how)
    text = " ".join(err.split())
    assert code == 0 and f"{jobs} jobs" in text, text
    assert all(each in text for each in told), text
    assert bench("verify", tmp_path)[0] == 0


def test_a_log_that_does_not_fit_the_site_stops_if_told(bench, centre, strange, tmp_path):
    site = f"{centre / 'slurm.conf'},{strange / 'qos.txt'}"
    for command in (["simulate", "--out", tmp_path], ["calibrate"], ["whatif", "--change", "nodes.batch + 1"]):
        code, out, err = bench(command[0], strange / "jobs.txt", "--site", site, "--on-unknown", "stop", *command[1:])
        text = " ".join((out + err).split())
        assert code == 2 and "do not fit" in text and "Traceback" not in text, text
        assert "no partition 'bacth' (1 job: 3; did you mean batch?)" in text and "no node 'x9' (1 job: 5;" in text
    code, out, err = bench("simulate", centre / "jobs.txt", "--on-unknown", "stop", "--nodes", 2, "--cores", 4)
    assert code == 2 and "only with --site" in out + err
    code, out, err = bench("simulate", centre / "jobs.txt", "--site", site, "--on-unknown", "stp")
    assert code == 2 and "did you mean stop" in out + err


def test_a_calibration_leaves_jobs_out_that_ran_on_unknown_nodes(bench, centre, strange):
    site = f"{centre / 'slurm.conf'},{strange / 'qos.txt'}"
    code, out, err = bench("calibrate", strange / "jobs.txt", "--site", site, "--replays", 1)
    text = " ".join((out + err).split())
    assert code == 0 and "58 jobs" in text and "job 5: the site has no node 'x9'" in text, text


@pytest.fixture
def enforced(centre, tmp_path):
    """A site that enforces the limits of its account."""
    (tmp_path / "dump.cfg").write_text(
        "Cluster - 'lab':Fairshare=1\nParent - 'root'\nAccount - 'chem':Fairshare=4:MaxSubmitJobs=9\n"
    )
    conf = (centre / "slurm.conf").read_text() + "AccountingStorageEnforce=limits\n"
    (tmp_path / "slurm.conf").write_text(conf)
    return f"{tmp_path / 'slurm.conf'},{tmp_path / 'dump.cfg'}"


@pytest.mark.parametrize(
    ("dispatchers", "change", "words"),
    [
        ("fcfs", "account.chem.GrpSubmit = 500", "dispatcher fcfs does not obey GrpSubmitJobs (1 time; "),
        ("slurm", "account.chem.GrpWall = 60", "dispatcher slurm does not obey grp_wall of account chem"),
        ("slurm", "account.chem.GrpSubmit = 500", "dispatcher slurm does not obey grp_submit of account chem"),
        ("slurm", "account.chem.MaxSubmit = 3", "dispatcher slurm does not obey max_submit of account chem"),
        ("fcfs", "account.chem.MaxSubmit = 3", "dispatcher fcfs does not obey max_submit of account chem"),
    ],
)
def test_a_change_that_a_dispatcher_does_not_obey_is_refused(
    bench, centre, tmp_path, enforced, dispatchers, change, words
):
    asked = ["whatif", centre / "jobs.txt", "--site", enforced, "--replays", 1, "--out", tmp_path / "o"]
    code, out, err = bench(*asked, "--change", change, "--dispatchers", dispatchers)
    text = " ".join((out + err).split())
    assert code == 2 and words in text, text


def test_a_resource_with_a_spelling_error_is_refused(bench, centre, tmp_path, enforced):
    words = ["whatif", centre / "jobs.txt", "--site", enforced, "--replays", 1, "--out", tmp_path / "o"]
    code, out, err = bench(*words, "--change", "account.chem.GrpTRES = cpus=160")
    text = " ".join((out + err).split())
    assert code == 2 and "'cpus' is no resource: did you mean cpu?" in text, text


def test_jobs_that_can_never_start_end_the_replay_and_are_counted(bench, centre, tmp_path):
    conf = (centre / "slurm.conf").read_text() + "PriorityType=priority/multifactor\n"
    (tmp_path / "slurm.conf").write_text(conf)
    words = ["whatif", centre / "jobs.txt", "--site", tmp_path / "slurm.conf", "--replays", 1, "--out", tmp_path / "o"]
    code, out, err = bench(*words, "--change", "partition.batch.MaxTime = 1")
    text = " ".join((out + err).split())
    assert (
        code == 0
        and "that did not start in every replay, to its end or until they were cancelled, are left out" in text
    ), text
    assert re.search(
        r"partition.batch.MaxTime = 1: \d+ jobs without a start in its one replay, with one in that of the site as it is, which may be chance: ",
        text,
    ), text


def test_a_log_without_nodes_is_no_log_to_calibrate_with(bench, centre, tmp_path):
    rows = [line.split("|") for line in (centre / "jobs.txt").read_text().splitlines()]
    at = rows[0].index("NodeList")
    (tmp_path / "jobs.txt").write_text("\n".join("|".join(r[:at] + r[at + 1 :]) for r in rows) + "\n")
    code, out, err = bench("calibrate", tmp_path / "jobs.txt", "--site", centre / "slurm.conf", "--replays", 1)
    text = " ".join((out + err).split())
    assert code != 0 and "expected the column NodeList" in text, text


@pytest.fixture
def overfull(centre, tmp_path):
    """The log with two jobs that ran on more CPUs than their node has: 64 and 5 in place of 4."""
    lines = (centre / "jobs.txt").read_text().splitlines()
    for row, cpus in ((4, 64), (9, 5)):
        lines[row] = lines[row].replace("|4|4|1|", f"|{cpus}|{cpus}|1|").replace("cpu=4,", f"cpu={cpus},")
    (tmp_path / "jobs.txt").write_text("\n".join(lines) + "\n")
    return tmp_path / "jobs.txt"


@pytest.mark.parametrize("command", [["calibrate"], ["whatif", "--change", "nodes.batch + 1"]])
def test_jobs_with_more_cpus_than_their_nodes_hold_are_named(bench, centre, overfull, command):
    code, out, err = bench(command[0], overfull, "--site", centre / "slurm.conf", *command[1:])
    text = " ".join((out + err).split())
    assert code == 2 and "Traceback" not in text, text
    assert re.search(r"job 4 ran with 64 CPUs on 'n[12]', which has 4 on the site", text), text
    assert re.search(r"job 9 ran with 5 CPUs on 'n[12]', which has 4", text) and "--on-unknown skip" in text, text


def test_a_job_may_have_all_cpus_of_nodes_of_several_sizes(bench, tmp_path):
    """5 CPUs on 2 nodes of 1 and 4: as equal units they would be 6."""
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=two\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nNodeName=n1 CPUs=1\nNodeName=n2 CPUs=4\n"
        "PartitionName=p Nodes=n[1-2] Default=YES\n"
    )
    (tmp_path / "jobs.txt").write_text(
        "JobID|Partition|User|Submit|Start|End|Timelimit|NNodes|NCPUS|NodeList|State\n"
        "1|p|ana|2024-05-01T10:00:00|2024-05-01T10:00:01|2024-05-01T10:05:00|00:10:00|2|5|n[1-2]|COMPLETED\n"
    )
    code, out, err = bench("calibrate", tmp_path / "jobs.txt", "--site", tmp_path / "slurm.conf", "--replays", 1)
    assert code == 0, out + err


def test_jobs_with_more_cpus_than_their_nodes_hold_are_left_out_if_told(bench, centre, overfull):
    words = ["calibrate", overfull, "--site", centre / "slurm.conf", "--on-unknown", "skip", "--replays", 1]
    code, out, err = bench(*words)
    text = " ".join((out + err).split())
    assert code == 0 and "58 jobs" in text and "job 4: it ran with 64 CPUs on 'n" in text, text


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
        (["whatif", "--change", "nodes.batch * 1e6"], "partition batch would have 2,000,000 nodes; at most "),
        (["whatif", "--change", "nodes.batch + 900000000"], "partition batch would have 900,000,002 nodes; at most "),
        (["whatif", "--change", "nodes.batch * 0.2"], "partition batch would have 0.4 nodes; at least 1 is expected"),
        (["whatif", "--change", "nodes.batch * 1e999"], "expected a number"),
        (["whatif", "--change", "nodes.batch * nan"], "expected a number"),
        (["whatif", "--change", "node.n1.state = DOWN"], "does not obey the states of nodes (n1)"),
        (["whatif", "--change", "nodes.batch + 1", "--dispatchers", "esy"], "easy"),
        (["whatif", "--change", "nodes.batch + 1", "--page", "none/w.html"], "there is no folder none"),
        (["whatif", "--change", "nodes.batch + 1", "--dispatchers", ","], "expected at least one dispatcher"),
        (["whatif", "--change", "nodes.batch + 1", "--csv", "."], "--csv .: cannot be written (it is a folder)"),
        (["whatif", "--change", "nodes.batch + 1", "--out", __file__], "cannot be written (it is a file)"),
        (["calibrate", "--csv", "none/w.csv"], "there is no folder none"),
        (["calibrate", "--page", "."], "--page .: cannot be written (it is a folder)"),
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
