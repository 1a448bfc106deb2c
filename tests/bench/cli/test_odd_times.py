"""Options that are times: a value that no replay can have is an error of the command (exit code 2), before any replay."""

import pytest

pytestmark = pytest.mark.usefixtures("in_process")

LOG = """; MaxNodes: 8
; MaxProcs: 8
1 0 0 100 2 -1 -1 2 200 -1 1 1 1 1 1 1 -1 -1
2 10 5 300 4 -1 -1 4 400 -1 1 2 1 1 1 1 -1 -1
"""
OPTIONS = {
    "--period=": [],
    "--boot=": ["--node-policy=idle:30min"],
    "--shut-down=": ["--node-policy=idle:30min"],
    "--min-off=": ["--node-policy=idle:30min"],
    "--node-policy=idle:": [],
    "--restart=": ["--failures=900:repair=60"],
    "--checkpoints=fixed:": ["--failures=900:repair=60"],
    "--failures=900:repair=": [],
    "--requeue=checkpoint:": ["--events=EVENTS"],
    "--on-demand=stream:start_within=": [],
    "--on-demand=stream:notice=": [],
}
PARTS = {  # what messages call the part that an option names
    "--node-policy": ("node policy idle",),
    "--checkpoints": ("checkpoint",),
    "--failures": ("failure",),
    "--requeue": ("requeue rule checkpoint",),
    "--on-demand": ("stream",),
}
ODD = ["-1", "soon", "9" * 11, "9" * 25, str(2**63), "nan", "1e400", "٣"]


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "events.csv").write_text("time,kind,nodes,subject,value\n20,node-down,node-1,,\n")
    return tmp_path / "log.swf"


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("option", OPTIONS)
def test_an_impossible_time_is_an_error_of_the_option(bench, log, option, value):
    if value == "٣" and option.startswith(("--failures", "--on-demand")):
        pytest.skip("a number in any digits that Python reads")
    more = [text.replace("EVENTS", str(log.parent / "events.csv")) for text in OPTIONS[option]]
    out = log.parent / "out"
    code, _, err = bench("simulate", log, "--dispatchers", "easy", "--jobs", 1, "--out", out, *more, option + value)
    assert code == 2
    assert any(word in err for word in (option.partition("=")[0], *PARTS.get(option.partition("=")[0], ())))
    assert not out.exists()


@pytest.mark.parametrize("option", OPTIONS)
def test_a_usual_time_is_none(bench, log, option):
    more = [text.replace("EVENTS", str(log.parent / "events.csv")) for text in OPTIONS[option]]
    out = log.parent / "out"
    code, _, err = bench("simulate", log, "--dispatchers", "easy", "--jobs", 1, "--out", out, *more, f"{option}17")
    assert code == 0, err


@pytest.mark.parametrize("value", ["17", "0", str(10**11), str(10**25)])
def test_a_moment_without_jobs(bench, log, value):
    code, _, err = bench("import", "theta", log, "--at", value, "--nodes-needed", 1, "--out", log.parent / "moment")
    assert (code, "no job runs at" in err) == ((0, False) if value in ("17", "0") else (2, True))
