"""``bench simulate LOG --site SITE`` with the reservations of the site, under a dispatcher that is not Slurm."""

from schedlab.instances.sites import write_site
from schedlab.models import Partition, Site, SiteNode, SiteReservation

HEAD = "JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|NNodes|ReqCPUS|AllocCPUS|NodeList|Reservation"
LOG = """\
1|ana|a|p|1970-01-02T00:00:10|1970-01-02T00:00:10|1970-01-02T00:00:10|1970-01-02T00:00:50|40|00:01:00|COMPLETED|1|4|4|n1|
2|ana|a|p|1970-01-02T00:01:00|1970-01-02T00:01:00|1970-01-02T00:01:00|1970-01-02T00:01:20|20|00:01:00|COMPLETED|2|8|8|n[1-2]|
3|ana|a|p|1970-01-02T00:01:10|1970-01-02T00:01:10|1970-01-02T00:02:00|1970-01-02T00:02:20|20|00:01:00|COMPLETED|1|4|4|n1|course
"""
DAY = 86_400


def test_reservations_of_a_site_hold_under_easy_and_the_record_is_verified(bench, tmp_path):
    """The second job must not run into the reservation from 100 to 160; the third one runs in it."""
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + LOG)
    nodes = ("n1", "n2")
    course = SiteReservation("course", DAY + 100, 60, ("n1",))
    site = Site("s", [SiteNode(n, 4) for n in nodes], [Partition("p", nodes, default=True)], reservations=[course])
    write_site(site, tmp_path / "site.toml")
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "easy", "--zone", "UTC"]
    code, _, err = bench("simulate", *words, "--out", tmp_path / "runs", "--starts", tmp_path / "starts.csv")
    assert code == 0, err
    rows = [line.split(",") for line in (tmp_path / "starts.csv").read_text().splitlines()]
    assert {row[0]: int(row[rows[0].index("easy")]) - DAY for row in rows[1:]} == {"1": 10, "2": 160, "3": 100}
    code, out, err = bench("verify", tmp_path / "runs")
    assert code == 0, out + err
