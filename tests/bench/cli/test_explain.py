"""``bench explain``: the reason, progress, JSON and exit codes."""

import json

import pytest

SETTINGS = """\
kind = "dispatch"
objective = "weighted-wait"

[[platform.groups]]
name = "gpu"
count = 2
capacity = { cores = 16, memory = 64 }

[[queues]]
name = "any"
ewt_s = 60
"""
JOBS = "id,queue,submit,units,cores,memory,walltime,runtime,deadline\n"


@pytest.fixture
def day(tmp_path):
    """Return the folder of a day on which two jobs do not fit the memory."""
    folder = tmp_path / "day"
    folder.mkdir()
    (folder / "instance.toml").write_text(SETTINGS)
    rows = [
        "j12,any,28800,2,1,40,3600,600,32400",
        "j40,any,28800,2,1,36,3600,600,32400",
        "j41,any,36000,2,1,36,3600,600,",
    ]
    (folder / "jobs.csv").write_text(JOBS + "\n".join(rows) + "\n")
    return folder


def test_the_reason_is_printed(bench, day):
    code, out, _ = bench("explain", day, "--threads", 1)
    assert code == 0
    assert "j12 and j40 both need more than half of the memory of the gpu nodes between 08:00 and 09:00" in out


def test_a_view_that_is_feasible(bench, day):
    code, out, _ = bench("explain", day, "--first", 1)
    assert code == 0 and out.startswith("feasible: ")


def test_the_answer_as_json(bench, day):
    code, out, _ = bench("explain", day, "--json", "--threads", 1)
    found = json.loads(out)
    assert code == 0 and found["status"] == "infeasible" and found["minimal"]
    assert {e["name"] for e in found["elements"]} == {"memory of the gpu nodes", "j12", "j40"}


def test_limits_of_the_objective(bench):
    code, out, _ = bench("explain", "theta_24", "--nodes-needed", 4000, "--objective-limit", "100,", "--threads", 1)
    assert code == 0 and "the loss in node-seconds is at most 100" in out


def test_an_answer_that_was_not_found_in_time(bench):
    code, out, _ = bench("explain", "project_small", "--objective-limit", 35, "--time-limit", 0.001)
    assert code == 1 and out.startswith("unknown: the time limit ended")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere"),
        (["project_small", "--objective-limit", "soon"], "expected a number, or one for each objective"),
        (["project_small", "--objective-limit", "1,2"], "objectives that can be limited: makespan"),
        (["project_small", "--at", "12:00"], "--at is for dispatch"),
        (["project_small", "--backend", "cpsatt"], "cpsat"),
    ],
)
def test_wrong_use(bench, arguments, words):
    code, _, err = bench("explain", *arguments)
    assert code == 2 and words in err
