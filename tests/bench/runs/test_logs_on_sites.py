"""``bench simulate LOG --site SITE``: reservations of the site, jobs that run at the begin, tables by units."""

import re

from schedlab.instances.sites import write_site
from schedlab.models import Partition, Site, SiteNode, SiteReservation

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


def test_an_offered_load_has_no_recorded_cancellations(bench, tmp_path):
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + WIDE)
    small_site(tmp_path)
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "easy", "--load", "0.5"]
    code, _, err = bench("simulate", *words, "--cancelled", "--out", tmp_path / "runs")
    assert code == 2 and "--load 0.5 beside --cancelled" in err
