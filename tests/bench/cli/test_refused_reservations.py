"""Jobs that Slurm refuses for their reservations are held by ``bench calibrate``, unless the log has a start of them."""

import pytest
from schedlab.instances.sites import write_site
from schedlab.models import Association, Partition, SchedulerSettings, Site, SiteNode, SiteReservation

HEAD = "JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|NNodes|ReqCPUS|AllocCPUS|NodeList|Reservation"
DAY = "1970-01-02T00"
ROWS = f"""\
1|ana|chem|p|{DAY}:00:00|{DAY}:00:00|{DAY}:00:00|{DAY}:05:00|300|00:10:00|COMPLETED|1|4|4|n1|
2|ana|chem|p|{DAY}:00:10|{DAY}:00:10|Unknown|{DAY}:20:00|0|00:10:00|CANCELLED by 1|1|4|0|None assigned|ghost
3|ana|chem|p|{DAY}:00:20|{DAY}:00:20|Unknown|{DAY}:20:00|0|00:10:00|CANCELLED by 1|1|4|0|None assigned|course
4|eva|chem|p|{DAY}:00:30|{DAY}:00:30|{DAY}:05:00|{DAY}:07:00|120|00:10:00|COMPLETED|1|4|4|n1|ghost
5|ana|chem|p|{DAY}:00:40|{DAY}:00:40|{DAY}:07:00|{DAY}:08:00|60|00:10:00|COMPLETED|1|4|4|n1|course
6|eva|chem|p|{DAY}:00:50|{DAY}:00:50|{DAY}:08:00|{DAY}:09:00|60|00:10:00|COMPLETED|1|4|4|n1|
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return a folder with a log and its site, on which the reservation ``course`` is for eva alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + ROWS)
    site = Site(
        "s",
        [SiteNode("n1", 4), SiteNode("n2", 4)],
        [Partition("p", ("n1",), default=True), Partition("q", ("n2",))],
        associations=[Association("root"), Association("chem", parent="root")]
        + [Association("chem", user) for user in ("ana", "eva")],
        reservations=[SiteReservation("course", 86_400, 7200, ("n2",), users=("eva",))],
        scheduler=SchedulerSettings(select_parameters=("cr_cpu",)),
    )
    write_site(site, "site.toml")
    return tmp_path


@pytest.mark.parametrize("command", [("calibrate",), ("whatif", "--change", "nodes.p * 2")])
def test_jobs_that_slurm_refuses_are_held_unless_they_started(here, bench, command):
    more = ("--csv", "jobs.csv") if command[0] == "calibrate" else ("--out", "runs")
    code, out, err = bench(command[0], "jobs.txt", "--site", "site.toml", "--replays", "2", *command[1:], *more)
    text = " ".join(err.split())
    assert code == 0, out + err
    assert "job 2: never starts: the site has no reservation 'ghost'" in text
    assert "job 3: never starts: the reservation 'course' is not for user ana" in text
    assert "job 4: " not in text and "job 5: " not in text
    assert "the site has no reservation 'ghost' (2 jobs: 2, 4; " in text
    assert "left out where they never started, else they start as any other job" in text
    assert "is not for user ana (1 job: 5), and the log has a start of each: they start as jobs that may use it" in text
    if command[0] == "calibrate":
        compared = [line.partition(",")[0] for line in (here / "jobs.csv").read_text().splitlines()[1:]]
        assert {"1", "4", "6"} <= set(compared) <= {"1", "4", "5", "6"}


def test_jobs_that_ask_for_gpus_of_an_unknown_type_are_held_unless_they_started(here, bench):
    site = Site("s", [SiteNode("n1", 4, gpus={"a100": 2})], [Partition("p", ("n1",), default=True)])
    write_site(site, "gpus.toml")
    rows = [line.rpartition("|")[0] for line in ROWS.splitlines()]
    gpus = {"2": ",gres/gpu:a100=1", "3": ",gres/gpu:v100=1", "4": ",gres/gpu:k80=1", "6": ",gres/gpu:a100=1"}
    lines = [f"{row}|cpu=4{gpus.get(row[0], '')}" for row in rows]
    (here / "gpus.txt").write_text("\n".join([f"{HEAD.rpartition('|')[0]}|ReqTRES", *lines]) + "\n")
    for command in (("calibrate",), ("whatif", "--change", "partition.p.MaxTime = 60", "--out", "runs")):
        code, out, err = bench(command[0], "gpus.txt", "--site", "gpus.toml", "--replays", "1", *command[1:])
        text = " ".join(err.split())
        assert code == 0, out + err
        assert "job 3: never starts: it asks for GPUs of type 'v100'; the nodes have a100" in text
        assert "it asks for GPUs of type 'k80'; the nodes have a100 (1 job: 4), and the log has a start of each" in text
        assert "they start on GPUs of any type" in text and "job 2: never starts" not in text
