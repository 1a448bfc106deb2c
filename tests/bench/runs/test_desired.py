"""``bench simulate --desired`` and ``--power-cap``; ``bench show`` of a profile."""

import shutil
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.bench.replays import study_names
from schedlab.simulation import desired_figures

pytestmark = pytest.mark.usefixtures("in_process")
DAY_NIGHT = "# period_s = 86400\ntime_s,resource,share\n0,cores,1\n28800,cores,0.6\n72000,cores,1\n"
LOG = "\n".join(
    ["; MaxProcs: 4", *(f"{k} {10 * k} 0 100 2 -1 -1 2 120 -1 1 {k % 2} 1 1 1 1 -1 -1" for k in range(1, 9))]
)


@pytest.fixture
def run(bench, tmp_path, monkeypatch):
    """Return a function that runs a command in a folder with a profile and a log; it returns (exit code, output)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "day-night.csv").write_text(DAY_NIGHT)
    (tmp_path / "log.swf").write_text(LOG + "\n")

    def of(*arguments):
        code, out, err = bench(*arguments)
        return code, " ".join((out + err).split())

    return of


def test_replays_beside_a_desired_profile_have_its_figures(run, tmp_path):
    code, text = run(
        "simulate", "eurora_99", "--dispatchers", "easy,easy-profile", "--desired", "day-night.csv", "--out", "r"
    )
    assert code == 0, text
    assert "dissim" in text and "desired use of day-night.csv" in text
    found = sl.read_results("r").set_index("method")
    assert found["metrics.desired_over_cores"]["easy-profile"] < found["metrics.desired_over_cores"]["easy"]
    assert run("verify", "r")[0] == 0
    path = next(Path("r").glob("easy.1.*.json"))
    whole = path.read_text()
    path.write_text(whole.replace('"desired_over_cores": ', '"desired_over_cores": 1'))
    code, text = run("verify", "r")
    assert code == 1 and "it has metrics.desired_over_cores 1" in text
    path.write_text(whole)
    code, text = run("plot", "r", "--figure", "desired", "--out", "use.svg")
    assert code == 0 and "desired" in (tmp_path / "use.svg").read_text()
    (tmp_path / "day-night.csv").write_text(DAY_NIGHT + "80000,cores,0.5\n")
    code, text = run("verify", "r")
    assert code == 1 and "the file was changed after the replay" in text


def test_the_profile_of_an_instance_is_that_of_its_replays(run, tmp_path):
    shutil.copytree(sl.load("eurora_99").path, tmp_path / "own")
    (tmp_path / "own" / "desired.csv").write_text(DAY_NIGHT)
    code, text = run("simulate", "own", "--dispatchers", "easy-profile", "--out", "r")
    assert code == 0 and run("verify", "r")[0] == 0, text
    (over,) = sl.read_results("r")["metrics.desired_over_cores"]
    found, day = sl.simulate("own", dispatcher="easy-profile"), sl.load("eurora_99").problem
    given = sl.simulate(day, dispatcher="easy-profile", desired="day-night.csv")
    assert found.schedule() == given.schedule() != sl.simulate(day, dispatcher="easy").schedule()
    assert desired_figures(found, found.desired)["over"]["cores"] == pytest.approx(over)


def test_the_help_names_all_studies(run):
    code, text = run("simulate", "--help")
    assert code == 0 and all(name in text for name in study_names())


def test_a_profile_may_begin_after_the_first_jobs(run, tmp_path):
    """Eight jobs of 2 cores and 100 s run from second 10 on, two at a time from 20 to 410, one up to 420."""
    (tmp_path / "later.csv").write_text("# origin_s = 50\ntime_s,resource,share\n0,cores,0.25\n")
    code, text = run(
        "simulate",
        "log.swf",
        "--nodes",
        "4",
        "--cores",
        "1",
        "--dispatchers",
        "easy",
        "--desired",
        "later.csv",
        "--out",
        "r",
    )
    assert code == 0, text
    (over,) = sl.read_results("r")["metrics.desired_machine_over_cores"]
    assert over == pytest.approx(((4 - 1) * (410 - 50) + (2 - 1) * (420 - 410)) / 3600)  # core-hours


def test_caps_are_replayed_beside_a_replay_without_one(run, tmp_path):
    options = ("--nodes", "4", "--cores", "1", "--watts-per-core", "10", "--dispatchers", "easy", "--out", "c")
    code, text = run("simulate", "log.swf", *options, "--power-cap", "20W,30W")
    assert code == 0, text
    assert "wait and slowdown against the power cap" in text and (tmp_path / "c" / "power-caps.svg").exists()
    found = sl.read_results("c")
    peaks = dict(zip(found["replay.power_cap"].fillna(0), found["metrics.power_peak"], strict=True))
    assert peaks == {0: 40.0, 20.0: 20.0, 30.0: 20.0}  # each job takes 20 W
    assert run("verify", "c")[0] == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--dispatchers", "easy-profile"], "give its file with --desired FILE"),
        (["--desired", "none.csv"], "none.csv"),
        (["--power-cap", "much"], "expected a power above 0 such as 600kW"),
        (["--power-cap", "0kW"], "expected a power above 0"),
        (["--power-cap", "5kW"], "has no power"),
        (["--watts-per-core", "-1"], "--watts-per-core -1"),
        (["--power-cap", "15W", "--watts-per-core", "10"], "no job"),
    ],
)
def test_options_that_cannot_be_obeyed_are_refused_before_any_replay(run, options, words):
    code, text = run("simulate", "log.swf", "--nodes", "4", "--cores", "1", *options)
    assert code == 2 and words in text, text


def test_a_profile_after_the_log_is_refused(run, tmp_path):
    (tmp_path / "late.csv").write_text("time_s,resource,share\n99999,cores,0.5\n")
    code, text = run("simulate", "log.swf", "--nodes", "4", "--cores", "1", "--desired", "late.csv")
    assert code == 2 and "covers nothing" in text


def test_faults_of_a_profile_name_file_line_and_field(run, tmp_path):
    (tmp_path / "bad.csv").write_text("time_s,resource,share\n0,cores,-1\n")
    code, text = run("simulate", "eurora_99", "--desired", "bad.csv")
    assert code == 2 and "bad.csv, line 2, share: expected a share of the capacity" in text
    (tmp_path / "bad.csv").write_text("time_s,resource,share\n0,tapes,1\n")
    code, text = run("simulate", "eurora_99", "--desired", "bad.csv")
    assert code == 2 and "line 2, resource: expected one of cores" in text


def test_show_prints_and_draws_a_profile(run, tmp_path):
    code, text = run("show", "day-night.csv", "--plot", "p.svg")
    assert code == 0 and "repeated every 86,400 s" in text and "60%" in text
    assert "share of each node" in (tmp_path / "p.svg").read_text()
    assert run("show", "day-night.csv", "--plot", "p.png")[0] == 2
