"""Methods that do not take a project, among the runs of several: which one, and what becomes of the run."""

import json

import pytest
import schedlab as sl
from schedlab.instances import write

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Write a plain project and one without idle time beside a resource of capacity 2, which list scheduling does not take."""
    monkeypatch.chdir(tmp_path)
    tasks = [sl.Task.single(name, 2, {"r": 1, "s": 1}) for name in "ab"]
    for name, no_idle in (("idle", False), ("tight", True)):
        project = sl.Project(tasks, [sl.Resource("r", 1, no_idle=no_idle), sl.Resource("s", 2)])
        write(sl.Instance(name, "project", project, description=name), tmp_path / "data" / name)
    return tmp_path


def test_bounds_without_a_start_are_refused_and_no_crash(bench, data):
    code, out, err = bench("run", "data/tight", "--methods", "bounds", "--time-limit", 5, "--out", "out")
    found = json.loads(next((data / "out").glob("*.json")).read_text())
    assert (code, found["status"], found["cause"]) == (0, "unavailable", "unavailable"), out + err
    assert found["message"].startswith("bounds needs a start, as multi-sgs supports only projects whose rules")
    assert bench("verify", "out")[0] == 0


def test_the_instance_that_a_method_does_not_take_is_named(bench, data):
    """Among several folders, and in a folder of instances; one instance alone needs no name."""
    for words in (["data/idle", "data/tight"], ["data"]):
        code, _, err = bench("run", *words, "--methods", "multi-sgs,cpsat:modes", "--time-limit", 5, "--out", "out")
        assert code == 2 and "tight: the method 'multi-sgs' does not take this project problem" in err
    code, _, err = bench("run", "data/tight", "--methods", "multi-sgs", "--time-limit", 5, "--out", "out")
    assert code == 2 and "tight: the" not in err and "does not take this project problem" in err


def test_a_method_that_no_instance_of_several_knows_is_named_without_one(bench, data):
    code, _, err = bench("run", "data", "--methods", "multi-sgz", "--time-limit", 5, "--out", "out")
    assert code == 2 and "idle" not in err and "multi-sgs" in err
