"""``bench show`` of a log whose machine is not known, and the options that show, import and simulate have in common."""

import re

import pytest
from schedlab.bench.replays import OF_LOGS, SETTINGS
from schedlab.instances import load

LOG = """\
JobID|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|NCPUS|State|NodeList|Partition
1|2024-05-01T10:00:00|2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|01:00:00|02:00:00|2|8|COMPLETED|n[1-2]|a
1.batch|2024-05-01T10:00:00|Unknown|2024-05-01T10:05:00|2024-05-01T11:05:00|01:00:00||1|4|COMPLETED|n1|
2|2024-05-01T10:01:00|Unknown|None|2024-05-01T10:31:00|00:00:00|01:00:00|1|4|CANCELLED by 7|None assigned|a
3|2024-05-01T10:02:00|2024-05-01T10:02:00|2024-05-01T10:05:00|2024-05-01T10:06:00|00:01:00|UNLIMITED|1|4|COMPLETED|n3|b
4|noon|Unknown|2024-05-01T10:05:00|2024-05-01T10:06:00|00:01:00|01:00:00|1|4|COMPLETED|n3|b
"""


@pytest.fixture(autouse=True)
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "jobs.txt"
    path.write_text(LOG)
    return path


@pytest.fixture
def shown(bench):
    """Return a function that gives the output of a command, with single blanks."""

    def of(*words):
        code, out, err = bench(*words)
        assert code == 0, err
        return re.sub(r"\s+", " ", out)

    return of


def test_a_log_of_an_unknown_machine_is_shown_with_all_that_was_left_out(shown, log):
    out = shown("show", str(log))
    for text in (
        "jobs.txt: 2 jobs in 2.0 min",
        "not read: 1 line",
        "line 6: Submit is 'noon'",
        "skipped: 1 row of job steps",
        "left out: 1 job job 2: it never started: it was cancelled in the queue",
        "describe the machine: --site site.toml, or --nodes 300 --cores 32",
    ):
        assert text in out


def test_show_import_and_simulate_take_the_same_options(shown):
    for command in (["show"], ["import", "sacct"], ["simulate"]):
        text = shown(*command, "--help")
        assert all(SETTINGS[name].flag in text for name in OF_LOGS), command


def test_cancelled_jobs_are_shown_imported_and_replayed_alike(shown, log, tmp_path):
    machine = ["--nodes", "4", "--cores", "4", "--cancelled", "--zone", "Europe/Rome"]
    assert "jobs.txt: 3 jobs" in shown("show", str(log), *machine)
    assert "3 jobs on 4 nodes" in shown("import", "sacct", str(log), *machine, "--out", "made")
    instance = load(tmp_path / "made")
    assert [j.id for j in instance.dispatch.jobs] == ["1", "2", "3"]
    assert [(e.time, e.kind, e.subject) for e in instance.events] == [(10 * 3600 + 31 * 60, "delete", "2")]
    assert instance.dispatch.jobs[0].recorded.nodes == "n[1-2]"


def test_many_lines_that_cannot_be_read_are_counted_by_reason(shown, log):
    faulty = [f"{n}|noon {n}|x|x|x|00:01:00|x|1|4|COMPLETED|n3|b" for n in range(5, 30)]
    log.write_text(LOG + "\n".join([*faulty, "cut", "cut|too"]) + "\n")
    out = shown("show", str(log))
    assert "not read: 28 lines, the first 10 of them" in out
    assert "in all 26 lines: Submit is ...; expected a time such as ..." in out
    assert "in all 2 lines: ... fields; the header has ..." in out or "in all 1 line: ... field" in out
