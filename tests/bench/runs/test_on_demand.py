"""``bench simulate --on-demand``, ``--evictor``, ``--checkpoints``, ``--failures``: records, tables, wrong input."""

import json
from pathlib import Path

import pytest
import schedlab as sl

pytestmark = pytest.mark.usefixtures("in_process")

LOG = "\n".join(["; MaxProcs: 8", *(f"{k} {600 * k} 0 7200 4 -1 -1 4 9000 -1 1 1 1 1 1 1 -1 -1" for k in range(1, 7))])
URGENT = "id,submit,nodes,start_within,duration\nscan,5000,4,900,1800\nprobe,20000,8,600,600\n"
MACHINE = ("--nodes", "8", "--cores", "1", "--dispatchers", "easy")


@pytest.fixture
def run(bench, tmp_path, monkeypatch):
    """Return a function that runs a command in a folder with a log and on-demand jobs; it returns (exit code, output)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.swf").write_text(LOG + "\n")
    (tmp_path / "urgent.csv").write_text(URGENT)

    def of(*arguments):
        code, out, err = bench(*arguments)
        return code, " ".join((out + err).split())

    return of


def test_replays_of_several_evictors_are_kept_verified_and_drawn(run, tmp_path):
    (tmp_path / "failures.csv").write_text("time,node,repair\n9000,node-1,600\n")
    options = ("--on-demand", "urgent.csv", "--evictor", "dp,kill", "--failures", "failures.csv", "--restart", "60")
    options += ("--requeue", "checkpoint:600")
    code, text = run("simulate", "log.swf", *MACHINE, *options, "--out", "r")
    assert code == 0, text
    assert "on-demand jobs and losses" in text and "easy kill" in text
    found = sl.read_results("r").set_index("replay.evictor")
    assert found["metrics.preemption_missed"].tolist() == [0, 0]
    assert found["metrics.preemption_failed"]["dp"] == 1
    assert found["metrics.preemption_killed"]["kill"] > 0
    assert run("verify", "r")[0] == 0
    path = next(p for p in Path("r").glob("*.json") if json.loads(p.read_text())["replay"]["evictor"] == "kill")
    whole = path.read_text()
    data = json.loads(whole)
    data["preemption"]["departures"][0]["strategy"] = "sys"
    path.write_text(json.dumps(data))
    code, text = run("verify", "r")
    assert (code == 1 and "expected the same time" in text) or "the plan for" in text
    path.write_text(whole)
    code, _ = run("plot", "r", "--out", "gantt.svg")
    assert code == 0 and (tmp_path / "gantt.svg").exists()
    (tmp_path / "urgent.csv").write_text(URGENT + "late,30000,1,0,60\n")
    code, text = run("verify", "r")
    assert code == 1 and "the file was changed after the replay" in text


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--evictor", "dp"), "--evictor: only with --on-demand"),
        (("--on-demand", "urgent.csv", "--evictor", "gready"), "greedy"),
        (("--on-demand", "urgent.csv", "--evictor", "reserve:0"), "expected a number of nodes such as reserve:512"),
        (("--on-demand", "urgent.csv", "--evictor", "reserve:8"), "expected fewer than the 8 nodes of the machine"),
        (
            ("--on-demand", "urgent.csv", "--checkpoints", "fixed:-5"),
            "fixed: seconds is '-5'; expected whole seconds, such as 300, 30min",
        ),
        (("--on-demand", "urgent.csv", "--checkpoints", "young:0"), "expected failures per node and year above 0"),
        (("--on-demand", "urgent.csv", "--restart", "-1"), "greater than or equal to 0"),
        (("--on-demand", "stream:rate=0"), "expected a number above 0"),
        (
            ("--on-demand", "stream:speed=1"),
            "no option of the kind of on-demand jobs stream called 'speed'; did you mean seed",
        ),
        (("--on-demand", "missing.csv"), "there is no such file"),
        (("--failures", "-1"), "expected a number of at least 0"),
        (("--on-demand", "urgent.csv", "--power-cap", "1kW"), "has no power"),
    ],
)
def test_wrong_options_are_refused(run, options, expected):
    code, text = run("simulate", "log.swf", *MACHINE, *options, "--out", "r")
    assert code == 2 and expected in text, text


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("od.csv", "id,submit,nodes,start_within,duration\na,0,1,-900,60\n", "od.csv, line 2, start_within: expected whole seconds of at least 0"),
        ("od.csv", "id,submit,nodes,start_within,duration\na,0,99,900,60\n", "od.csv, line 2, nodes: expected at most 8, the nodes of the machine, found '99'"),
        ("od.csv", "id,submit,nodes,start_within,duration\na,0,1,0,60\na,0,1,0,60\n", "od.csv, line 3, id: expected another id than that of line 2"),
        ("od.csv", "id,submit,nodes,duration\na,0,1,60\n", "od.csv, line 1, start_within: expected a column of this name"),
        ("fail.csv", "time,node\n60,n-77\n", "fail.csv, line 2, node: expected a node of the machine, node-1 ... node-8, found 'n-77'"),
        ("every.csv", "id,interval\n1,-60\n", "every.csv, line 2, interval: expected whole seconds of at least 1, found '-60'"),
    ],
)  # fmt: skip
def test_faults_of_files_have_their_place(run, tmp_path, name, content, expected):
    (tmp_path / name).write_text(content)
    options = {
        "od.csv": ("--on-demand", name),
        "fail.csv": ("--failures", name),
        "every.csv": ("--on-demand", "urgent.csv", "--checkpoints", f"log:{name}"),
    }[name]
    code, text = run("simulate", "log.swf", *MACHINE, *options, "--out", "r")
    assert code == 2 and expected in text, text


def test_a_job_of_the_same_id_and_a_machine_of_shared_nodes_are_refused(run, tmp_path):
    (tmp_path / "od.csv").write_text("id,submit,nodes,start_within,duration\n3,0,1,0,60\n")
    code, text = run("simulate", "log.swf", *MACHINE, "--on-demand", "od.csv", "--out", "r")
    assert code == 2 and "a batch job has this id" in text
    code, text = run("simulate", "eurora_99", "--dispatchers", "easy", "--on-demand", "od.csv", "--out", "r")
    assert code == 2 and "preemption needs a machine of equal nodes" in text
