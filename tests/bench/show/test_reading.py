"""What a log's reader repaired and left out is shown by every command, and options mean the same in each."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("in_process")

HEAD = "JobID|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|State|NodeList|ReqTRES"
ROWS = [
    "1|2024-03-01T08:00:00|2024-03-01T08:10:00|2024-03-01T09:10:00|01:00:00|02:00:00|2|8|COMPLETED|n[1-2]|cpu=8,gres/gpu=2",
    "1.batch|2024-03-01T08:00:00|2024-03-01T08:10:00|2024-03-01T09:10:00|01:00:00||1|4|COMPLETED|n1|",
    "2|2024-03-01T08:05:00|2024-03-01T09:00:00|2024-03-01T09:00:00|00:00:00|02:00:00|1|4|CANCELLED by 7|None assigned|cpu=4",
    "3|2024-03-01T09:05:00|2024-03-01T09:05:00|2024-03-01T09:25:00|00:20:00|02:00:00|1|4|COMPLETED|n1|cpu=4",
    "broken",
]
SAID = [
    "not obeyed: requested several nodes, a replay without a site may put their shares on fewer nodes: 1 job",
    "not read: 1 line",
    "skipped: 1 row of job steps, which the rows of their jobs cover",
    "left out: 1 job",
    "job 2: it never started: it was cancelled in the queue",
]
MACHINE = ["--nodes", "2", "--cores", "8", "--per-node", "gpus=2", "--zone", "Europe/Rome"]


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("jobs.txt")
    path.write_text("\n".join([HEAD, *ROWS]))
    return path


@pytest.mark.parametrize(
    "command",
    [["show"], ["import", "sacct", "--out", "x"], ["simulate", "--dispatchers", "easy", "--out", "x"]],
    ids=["show", "import", "simulate"],
)
def test_every_command_tells_how_a_log_was_read(bench, log, command):
    form = [command[1]] if command[0] == "import" else []
    code, out, err = bench(command[0], *form, str(log), *command[1 + len(form) :], *MACHINE)
    assert code == 0 and [line for line in SAID if line not in out + err] == []


def test_the_zone_moves_the_hours_of_the_day(bench, log):
    code, out, _ = bench("show", str(log), *MACHINE)
    assert code == 0 and "(Europe/Rome)" in out and "08:00" in out
    code, out, _ = bench("show", str(log), *MACHINE[:-2])
    assert code == 0 and "(UTC)" in out and "08:00" in out
    code, out, err = bench("show", str(log), "--nodes", "2", "--cores", "8")  # no GPUs
    assert code == 0 and "requests gpus, which the platform does not have" in out + err


def test_a_log_without_header_is_replayed_verified_and_not_repeated(bench, log):
    log.write_text("\n".join(ROWS[:4]) + "\n")
    options = [str(log), "--dispatchers", "easy", *MACHINE, "--columns", HEAD.replace("|", ","), "--out", "records"]
    assert bench("simulate", *options)[0] == 0
    assert bench("verify", "records")[0] == 0
    code, out, err = bench("simulate", *options)
    assert code == 0 and "(kept)" in out + err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "eurora_99", "--zone", "Europe/Rome"], "--zone: for logs only"),
        (["show", "nowhere.swf", "--zone", "Europe/Rome"], "nowhere.swf: there is no such file"),
        (["show", "jobs.txt", *MACHINE[:6], "--zone", "Mars"], "unknown time zone"),
        (["simulate", "eurora_99", "--per-node", "gpus=2"], "--per-node: for logs only"),
        (["simulate", "jobs.txt", *MACHINE[:4], "--per-node", "gpus"], "expected names and whole numbers"),
        (["simulate", "jobs.txt", *MACHINE[:4], "--columns", "JobID"], "there is a header"),
        (["show", "log.swf", "--zone", "Europe/Rome"], "has no use for zone"),
    ],
)
def test_a_wrong_use_is_a_sentence(bench, log, arguments, message):
    Path("log.swf").write_text("; MaxProcs: 4\n1 0 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n")
    code, out, err = bench(*arguments)
    assert (code, out) == (2, "") and message in err and "Traceback" not in err
