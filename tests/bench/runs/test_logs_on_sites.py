"""``bench simulate LOG --site SITE``: reservations of the site, jobs that run at the begin, tables by units."""

import csv
import re

import pytest
from schedlab.instances.sites import write_site
from schedlab.models import NodeEvent, Partition, SchedulerSettings, Site, SiteNode, SiteReservation

HEAD = "JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|NNodes|ReqCPUS|AllocCPUS|NodeList|Reservation"
LOG = """\
1|ana|a|p|1970-01-02T00:00:10|1970-01-02T00:00:10|1970-01-02T00:00:10|1970-01-02T00:00:50|40|00:01:00|COMPLETED|1|4|4|n1|
2|ana|a|p|1970-01-02T00:01:00|1970-01-02T00:01:00|1970-01-02T00:01:00|1970-01-02T00:01:20|20|00:01:00|COMPLETED|2|8|8|n[1-2]|
3|ana|a|p|1970-01-02T00:01:10|1970-01-02T00:01:10|1970-01-02T00:02:00|1970-01-02T00:02:20|20|00:01:00|COMPLETED|1|4|4|n1|course
"""
DAY = 86_400


def small_site(folder, reservations=()):
    nodes = ("n1", "n2")
    site = Site("s", [SiteNode(n, 4) for n in nodes], [Partition("p", nodes, default=True)], reservations=reservations)
    write_site(site, folder / "site.toml")


def starts(folder, dispatcher):
    rows = [line.split(",") for line in (folder / "starts.csv").read_text().splitlines()]
    return {row[0]: int(row[rows[0].index(dispatcher)]) - DAY for row in rows[1:]}


def test_reservations_of_a_site_hold_under_easy_and_the_record_is_verified(bench, tmp_path):
    """The second job must not run into the reservation from 100 to 160; the third one runs in it."""
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + LOG)
    small_site(tmp_path, [SiteReservation("course", DAY + 100, 60, ("n1",))])
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "easy", "--zone", "UTC"]
    code, _, err = bench("simulate", *words, "--out", tmp_path / "runs", "--starts", tmp_path / "starts.csv")
    assert code == 0, err
    assert starts(tmp_path, "easy") == {"1": 10, "2": 160, "3": 100}
    code, out, err = bench("verify", tmp_path / "runs")
    assert code == 0, out + err


WIDE = """\
1|ana|a|p|1970-01-02T00:00:00|1970-01-02T00:00:00|1970-01-02T00:00:00|1970-01-02T00:01:40|100|00:02:00|COMPLETED|2|8|8|n[1-2]|
2|ana|a|p|1970-01-02T00:01:10|1970-01-02T00:01:10|1970-01-02T00:01:40|1970-01-02T00:02:00|20|00:01:00|COMPLETED|1|4|4|n1|
"""


def test_a_job_that_runs_at_the_begin_keeps_its_nodes_and_its_cpus(bench, tmp_path):
    """slurm divides other jobs into CPUs; the first job holds all CPUs of both nodes until 100 s."""
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + WIDE)
    small_site(tmp_path)
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "slurm,easy", "--zone", "UTC"]
    window = ["--window", "1970-01-02T00:01:1h", "--busy", "kept"]
    code, _, err = bench("simulate", *words, *window, "--out", tmp_path / "runs", "--starts", tmp_path / "starts.csv")
    assert code == 0, err
    assert (starts(tmp_path, "slurm")["2"] >= 100, starts(tmp_path, "easy")["2"]) == (True, 100)


def test_a_table_by_units_has_the_groups_of_each_dispatcher(bench, tmp_path):
    """easy has units of two nodes and of one, slurm one for each CPU; both tables have the CPUs that the jobs asked for."""
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + WIDE)
    small_site(tmp_path)
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "slurm,easy", "--zone", "UTC"]
    code, out, err = bench("simulate", *words, "--by", "units", "--out", tmp_path / "runs")
    assert code == 0, err
    assert re.findall(r"^(\d[\d-]*) +(\d+) (slurm|easy)\b", out, re.MULTILINE) == [
        ("2-4", "1", "slurm"),
        ("5-16", "1", "slurm"),
    ]
    assert len(re.findall(r"^ +easy\b", out, re.MULTILINE)) == 2


NEVER_RAN = """\
1|ana|a|p|1970-01-02T00:00:00|1970-01-02T00:00:00|1970-01-02T00:00:00|1970-01-02T00:01:40|00:01:40|00:02:00|COMPLETED|1|1|16|16|n1|billing=16,cpu=16,mem=16000M,node=1|sbatch -n 16 --mem-per-cpu=1000 x
2|ana|a|p|1970-01-02T00:00:10|1970-01-02T00:00:10|Unknown|1970-01-02T00:09:00|00:00:00|00:02:00|CANCELLED by 0|1|1|32|0|None assigned||sbatch -n 32 --mem-per-cpu=4000 x
3|ana|a|p|1970-01-02T00:00:20|1970-01-02T00:00:20|Unknown|1970-01-02T00:09:00|00:00:00|00:02:00|CANCELLED by 0|1|1|32|0|None assigned||sbatch -N 1 -n 32 --mem-per-cpu=4000 x
"""


def test_a_job_that_never_ran_is_on_as_many_nodes_as_slurm_needs_for_it(bench, tmp_path):
    """Nodes of 16 CPUs and 32,000 MB hold 8 CPUs with 4,000 MB each: job 2 needs 4 of them; job 3 asked for one, which is too small."""
    head = "JobID|User|Account|Partition|Submit|Eligible|Start|End|Elapsed|Timelimit|State|NNodes|ReqNodes|ReqCPUS|AllocCPUS|NodeList|AllocTRES|SubmitLine"
    (tmp_path / "jobs.txt").write_text(head + "\n" + NEVER_RAN)
    nodes = tuple(f"n{k}" for k in range(1, 7))
    site = Site(
        "s",
        [SiteNode(n, 16, memory=32_000) for n in nodes],
        [Partition("p", nodes, default=True)],
        scheduler=SchedulerSettings(select_parameters=("cr_cpu_memory",)),
    )
    write_site(site, tmp_path / "site.toml")
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "fcfs,slurm", "--cancelled"]
    code, _, err = bench("simulate", *words, "--zone", "UTC", "--out", tmp_path / "runs")
    assert code == 0, err
    assert "left out: larger than the platform: 1 job" in err and "job 3: " in err and "job 2: " not in err
    for path in (tmp_path / "runs").glob("*.jobs.csv"):
        rows = {row["job_id"]: row for row in csv.DictReader(path.open())}
        assert {name: len(hosts(row["allocated_resources"])) for name, row in rows.items()} == {"1": 1, "2": 4}
        assert int(rows["2"]["starting_time"]) >= DAY + 10


def hosts(ranges):
    """Return the numbers in a text such as ``0-3 7``."""
    bounds = (part.split("-") for part in ranges.split())
    return [n for each in bounds for n in range(int(each[0]), int(each[-1]) + 1)]


def test_an_offered_load_has_no_recorded_cancellations(bench, tmp_path):
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + WIDE)
    small_site(tmp_path)
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "easy", "--load", "0.5"]
    code, _, err = bench("simulate", *words, "--cancelled", "--out", tmp_path / "runs")
    assert code == 2 and "--load 0.5 beside --cancelled" in err


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ({"reservations": [SiteReservation("course", DAY + 100, 60, ("n1",))]}, "reservations of the site 's'"),
        ({"events": [NodeEvent(DAY + 10, "node-down", ("n1",))]}, "outages of the site 's'"),
    ],
)
def test_an_offered_load_is_refused_beside_times_of_the_site(bench, tmp_path, times, told):
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + WIDE)
    nodes = ("n1", "n2")
    site = Site("s", [SiteNode(n, 4) for n in nodes], [Partition("p", nodes, default=True)], **times)
    write_site(site, tmp_path / "site.toml")
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "easy", "--load", "0.5"]
    code, _, err = bench("simulate", *words, "--out", tmp_path / "runs")
    assert code == 2 and f"--load 0.5 beside {told}: it moves submit times" in " ".join(err.split())


def test_an_offered_load_is_that_on_the_nodes_of_the_site(bench, tmp_path):
    """100 s of 6 cores and 20 s of 4 are 680 core-seconds: 85 s of the 8 cores; at a load of 0.5 the second job comes after 170 s."""
    site = Site("s", [SiteNode("n1", 6), SiteNode("n2", 2)], [Partition("p", ("n1", "n2"), default=True)])
    write_site(site, tmp_path / "site.toml")
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + WIDE.replace("COMPLETED|2|8|8|n[1-2]", "COMPLETED|1|6|6|n1"))
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "easy", "--load", "0.5"]
    code, _, err = bench("simulate", *words, "--out", tmp_path / "runs")
    assert code == 0, err
    [jobs] = [list(csv.DictReader(path.open())) for path in (tmp_path / "runs").glob("*.jobs.csv")]
    first, second = (int(row["submission_time"]) for row in jobs)
    assert second - first == (100 * 6 + 20 * 4) / 8 / 0.5
