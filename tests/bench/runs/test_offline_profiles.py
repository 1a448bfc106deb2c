"""Desired profiles of offline problems: instance folders, ``bench run --desired`` and its check."""

from dataclasses import replace
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.instances import load, write
from schedlab.models.profiles import daily

pytestmark = pytest.mark.usefixtures("in_process")

NIGHT = "# period_s = 86400\ntime_s,resource,share\n0,cores,1\n28800,cores,0.6\n72000,cores,1\n"
RUN = ("run", "eurora_99", "--first", "12", "--methods", "first-solution:est", "--out", "r")


@pytest.fixture
def run(bench, tmp_path, monkeypatch):
    """Return a function that runs a command in a folder with profiles; it returns (exit code, output)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "night.csv").write_text(NIGHT)
    (tmp_path / "late.csv").write_text("time_s,resource,share\n900000000,cores,0.9\n")
    (tmp_path / "negative.csv").write_text("time_s,resource,share\n0,cores,-0.5\n")
    (tmp_path / "unknown.csv").write_text("time_s,resource,share,nodes\n0,tpus,0.5,*\n0,cores,0.5,attic\n")

    def of(*arguments):
        code, out, err = bench(*arguments)
        return code, " ".join((out + err).split())

    return of


@pytest.mark.parametrize("over_cost", [None, 0.25])
def test_a_folder_keeps_its_profile(tmp_path, over_cost):
    instance = load("eurora_99")
    problem = instance.problem.replace(
        desired=daily(instance.platform, {"08:00": 0.6, "20:00": 1.0}), over_cost=over_cost
    )
    short = problem.replace(desired=None, over_cost=None, jobs=problem.jobs[:5])
    problem = short.replace(desired=problem.desired, over_cost=over_cost)
    write(replace(instance, problem=problem), tmp_path / "with")
    found = load(tmp_path / "with").problem
    assert found.over_cost == over_cost and found.desired.steps == problem.desired.steps
    (tmp_path / "with" / "desired.csv").unlink()
    if over_cost is None:
        assert load(tmp_path / "with").problem.desired is None
    else:
        with pytest.raises(sl.SchedlabError, match=r"over_cost: expected a file desired\.csv"):
            load(tmp_path / "with")


def test_runs_with_a_profile_are_verified_again(run):
    for mode in ("hard", "soft:0.5"):
        code, text = run(*RUN, "--desired", "night.csv", "--profile", mode)
        assert code == 0, text
    assert "within night.csv" in run("verify", "r")[1] or run("verify", "r")[0] == 0
    found = sl.read_results("r")
    assert sorted(found["view.over_cost"].fillna(-1)) == [-1, 0.5]
    Path("night.csv").write_text(NIGHT.replace("0.6", "0.5"))
    code, text = run("verify", "r")
    assert code == 1 and "the file was changed after the run" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--profile", "hard"), "give the file of the desired use"),
        (("--desired", "night.csv", "--profile", "soft"), "expected hard, or soft:"),
        (("--desired", "night.csv", "--profile", "soft:-1"), "expected hard, or soft:"),
        (("--desired", "night.csv", "--profile", "firm"), "expected hard, or soft:"),
        (("--desired", "none.csv"), "none.csv"),
        (("--desired", "late.csv"), "covers nothing"),
        (("--desired", "negative.csv"), "a share of the capacity, 0 to 1"),
        (("--desired", "unknown.csv"), "attic"),
        (("--desired", "night.csv", "--methods", "easy"), "use bench simulate"),
    ],
)
def test_wrong_use_is_reported(run, options, words):
    code, text = run(*RUN, *options)
    assert code == 2 and words in text, text
