"""``bench simulate LOG --site SITE --dispatchers slurm`` on a site on which jobs preempt others: the records, and their verification."""

import csv

import pytest
from schedlab.instances.sites import write_site
from schedlab.models import Partition, SchedulerSettings, Site, SiteNode

HEAD = "JobID|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|NNodes|ReqCPUS|AllocCPUS|NodeList"
LOG = """\
1|ana|a|p|1970-01-02T00:00:10|1970-01-02T00:00:10|1970-01-02T00:00:10|1970-01-02T00:01:50|100|00:03:00|COMPLETED|1|4|4|n1
2|ana|a|urgent|1970-01-02T00:00:40|1970-01-02T00:00:40|1970-01-02T00:00:40|1970-01-02T00:01:00|20|00:01:00|COMPLETED|1|4|4|n1
"""


@pytest.mark.parametrize(("mode", "back"), [("requeue", ["1"]), ("cancel", ["0"])])
def test_records_of_preempted_jobs_are_verified(bench, tmp_path, mode, back):
    (tmp_path / "jobs.txt").write_text(HEAD + "\n" + LOG)
    parts = [Partition("p", ("n1",), default=True), Partition("urgent", ("n1",), tier=5)]
    scheduler = SchedulerSettings(
        select_parameters=("cr_cpu",), preempt_type="partition_prio", preempt_mode=(mode,), bf_interval=1, sched_interval=1,
        priority_type="basic",
    )  # fmt: skip
    write_site(Site("s", [SiteNode("n1", 4)], parts, scheduler=scheduler), tmp_path / "site.toml")
    words = [tmp_path / "jobs.txt", "--site", tmp_path / "site.toml", "--dispatchers", "slurm", "--zone", "UTC"]
    code, out, err = bench("simulate", *words, "--out", tmp_path / "runs")
    assert code == 0, out + err
    (path,) = (tmp_path / "runs").glob("*.attempts.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [(row["why"], row["work_done"]) for row in rows] == [("preempted by 2", "0")]
    assert [row["returned"] for row in rows] == back
    code, out, err = bench("verify", tmp_path / "runs")
    assert code == 0, out + err
    path.write_text(path.read_text().replace("preempted by 2", "preempted by 3"))
    code, out, err = bench("verify", tmp_path / "runs")
    assert code == 1
    assert "which is no other job of the replay" in out + err
