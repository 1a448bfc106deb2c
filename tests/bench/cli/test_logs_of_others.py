"""``bench calibrate`` and ``bench whatif`` refuse in one line a log that does not say what its jobs asked of their site."""

import pytest
from schedlab.instances.sites import write_site
from schedlab.models import QOS, Limits, Partition, PBSSettings, SchedulerSettings, Site, SiteNode

RAN = "1 0 10 60 4 -1 -1 4 3600 -1 1 5 1 -1 -1 -1 -1 -1\n"
LEFT = "2 5 30 -1 4 -1 -1 4 3600 -1 5 5 1 -1 -1 -1 -1 -1\n"  # cancelled while it waited: a time that is of the site


@pytest.mark.parametrize(
    "command", [("calibrate",), ("whatif", "--dispatchers", "easy"), ("whatif", "--dispatchers", "slurm")]
)
@pytest.mark.parametrize(
    ("jobs", "why"), [(RAN, "does not say what its jobs asked"), (RAN + LEFT, "does not name the nodes")]
)
def test_a_log_in_swf_is_refused_in_one_line(tmp_path, monkeypatch, bench, command, jobs, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text("; UnixStartTime: 0\n" + jobs)
    write_site(Site("s", [SiteNode("n1", 4)], [Partition("p", ("n1",), default=True)]), "site.toml")
    asked = [] if command[0] == "calibrate" else ["--change", "nodes.p * 2"]
    code, out, err = bench(command[0], "log.swf", "--site", "site.toml", *command[1:], *asked)
    last = err[err.index("error: ") :]
    assert code == 2 and not out and why in " ".join(last.split()), out + err
    assert "replays" not in err and "one step" not in err  # it is refused before the bar of the progress


@pytest.mark.parametrize(
    "command", [("calibrate",), ("whatif", "--change", "nodes.p * 2"), ("show",), ("simulate", "--dispatchers", "easy")]
)
def test_a_log_that_has_a_header_alone_has_no_job(tmp_path, monkeypatch, bench, command):
    monkeypatch.chdir(tmp_path)
    head = "JobID|Account|Partition|QOS|User|Submit|Start|End|Timelimit|NNodes|NCPUS|NodeList|State"
    (tmp_path / "header.txt").write_text(f"{head}\n")
    write_site(Site("s", [SiteNode("n1", 4)], [Partition("p", ("n1",), default=True)]), "site.toml")
    code, out, err = bench(command[0], "header.txt", "--site", "site.toml", *command[1:])
    text = " ".join((out + err).split())
    assert code == 2 and "no job to replay" in text and "does not say" not in text, text


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_called_empty(tmp_path, monkeypatch, bench, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.txt").write_text(text)
    code, out, err = bench("show", "log.txt")
    assert (code, " ".join((out + err).split())) == (2, "error: log.txt: the file is empty; expected a log of jobs")


@pytest.mark.parametrize(("kind", "other"), [("pbs", "slurm"), ("slurm", "pbs")])
def test_the_rules_of_another_kind_of_site_are_refused_before_the_first_run(tmp_path, monkeypatch, bench, kind, other):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text("; UnixStartTime: 0\n" + RAN)
    scheduler = {"pbs": PBSSettings(), "slurm": SchedulerSettings()}[kind]
    parts = [Partition("p", ("n1",), default=True)]
    write_site(Site("s", [SiteNode("n1", 4)], parts, kind=kind, scheduler=scheduler), "site.toml")
    code, out, err = bench("simulate", "log.swf", "--site", "site.toml", "--dispatchers", f"{kind},{other}")
    assert (
        code == 2
        and f"--dispatchers: dispatcher {other}" in " ".join(err.split())
        and f"is one of {kind}" in " ".join(err.split())
    ), out + err
    assert not (tmp_path / "results").exists()


def test_jobs_that_never_start_are_not_counted_among_those_in_the_queue(tmp_path, monkeypatch, bench):
    """Jobs 2 and 3 were cancelled in the queue; job 3 asks for more CPUs than its QOS allows, and is left out."""
    monkeypatch.chdir(tmp_path)
    day = "2026-05-01T0"
    rows = [
        f"1|a|p|q|ana|{day}0:00:00|{day}0:00:10|{day}0:10:00|01:00:00|1|2|n1|COMPLETED|cpu=2",
        f"2|a|p|q|ana|{day}0:01:00|None|{day}0:05:00|01:00:00|1|2|None assigned|CANCELLED|cpu=2",
        f"3|a|p|q|ana|{day}0:01:00|None|{day}0:05:00|01:00:00|1|4|None assigned|CANCELLED|cpu=4",
    ]
    head = "JobID|Account|Partition|QOS|User|Submit|Start|End|Timelimit|NNodes|NCPUS|NodeList|State|ReqTRES"
    (tmp_path / "jobs.txt").write_text("\n".join([head, *rows]) + "\n")
    qos = [QOS("q", limits=Limits(max_tres_per_job={"cpu": 3}))]
    scheduler = SchedulerSettings(accounting_enforce=("limits", "qos"))
    parts = [Partition("p", ("n1",), default=True)]
    write_site(Site("s", [SiteNode("n1", 4)], parts, qos, scheduler=scheduler), "site.toml")
    words = ["simulate", "jobs.txt", "--site", "site.toml", "--cancelled", "--dispatchers", "easy"]
    code, out, err = bench(*words)
    text = " ".join((out + err).split())
    assert code == 0 and "job 3: never starts" in text, out + err
    assert "1 job never ran and had a place in the queue until leaving it" in text and "2 jobs never ran" not in text
