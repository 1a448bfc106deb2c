"""The options of bench simulate for dispatchers with a solver: --objective, --decision-time and --deterministic."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture
def simulate(bench, tmp_path):
    def call(*arguments):
        return bench("simulate", "eurora_99", "--first", 15, "--out", tmp_path / "out", *arguments)

    return call


def records(folder):
    return [json.loads(p.read_text()) for p in sorted(folder.glob("*.json"))]


def test_the_objective_and_the_deterministic_limit_are_part_of_the_key(simulate, tmp_path):
    command = ("--dispatchers", "hcp3@cpsat,hcp3@cpsat:waiting", "--deterministic", "0.01", "--jobs", 2)
    code, _, err = simulate(*command, "--objective", "late-jobs", "--starts", tmp_path / "one.csv")
    assert code == 0 and "0.01 deterministic units a decision, objective late-jobs" in err
    code, _, err = simulate(*command, "--objective", "late-jobs")
    assert code == 0 and err.count("(kept)") == 2
    code, _, err = simulate(*command, "--objective", "makespan")
    assert code == 0 and err.count("(kept)") == 1  # the other names its objective
    replays = [r["replay"] for r in records(tmp_path / "out")]
    assert sorted(str(r["objective"]) for r in replays) == ["None", "late-jobs", "makespan"]
    assert all((r["decision_time"], r["deterministic"]) == (None, 0.01) for r in replays)
    code, _, _ = simulate(*command, "--objective", "late-jobs", "--again", "--starts", tmp_path / "two.csv")
    assert code == 0 and (tmp_path / "one.csv").read_text() == (tmp_path / "two.csv").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--objective", "weighted-wai"], ["weighted-wait"]),
        (["--dispatchers", "easy,hcp3@cpsat:waiting", "--objective", "waiting"], ["--objective waiting", "easy"]),
        (["--decision-time", "1", "--deterministic", "2"], ["--decision-time 1", "--deterministic 2", "one of them"]),
        (["--deterministic", "0"], ["--deterministic 0", "above 0"]),
        (["--decision-time", "inf"], ["--decision-time inf"]),
        (["--dispatchers", "hcp3,cpmodel", "--max-stretch", "30"], ["--max-stretch 30", "cpmodel"]),
    ],
)
def test_wrong_options_name_what_was_expected(simulate, options, words):
    dispatchers = [] if "--dispatchers" in options else ["--dispatchers", "hcp3@cpsat"]
    code, _, err = simulate(*dispatchers, *options)
    assert code == 2 and all(word in err for word in words)


def test_cpmodel_and_the_portfolio_are_replayed_and_show_their_phases(simulate, tmp_path):
    code, out, _ = simulate("--dispatchers", "cpmodel@cpsat,portfolio@cpsat", "--deterministic", "0.02")
    assert code == 0 and "phases of the scheduling cycle" in out
    used = {r["method"]: r["metrics"].get("decisions_used_cpmodel") for r in records(tmp_path / "out")}
    assert used["cpmodel@cpsat"] is None and used["portfolio@cpsat"] > 0
