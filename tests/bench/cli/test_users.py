"""``bench generate fing`` and ``bench simulate --users``: records, their verification, figures, errors."""

import csv

import pytest

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture
def fing(bench, tmp_path, monkeypatch):
    """Return the name of a small generated workload in the current folder."""
    monkeypatch.chdir(tmp_path)
    assert bench("generate", "fing", "--jobs", 80, "--users", 6, "--load", 8, "--nodes", 4, "--out", "small")[0] == 0
    return "small"


def test_records_of_users_are_verified(bench, fing, tmp_path):
    code, out, _ = bench(
        "simulate",
        fing,
        "--dispatchers",
        "psp,easy",
        "--users",
        "impatient:patience=60",
        "--by",
        "user-accuracy",
        "--out",
        "r",
    )
    assert code == 0 and "by user-accuracy" in out and "users impatient:patience=60" in out
    assert bench("verify", "r")[0] == 0
    assert bench("plot", "r", "--figure", "accuracy", "--out", "waits.svg")[0] == 0
    stored = next(tmp_path.glob("r/psp*.jobs.csv"))
    rows = list(csv.reader(stored.read_text().splitlines()))
    column = rows[0].index("requested_time")
    rows[3][column] = str(int(float(rows[3][column])) + 7)
    stored.write_text("\n".join(",".join(row) for row in rows) + "\n")
    code, out, err = bench("verify", "r")
    assert code == 1 and "users impatient:patience=60: job" in out + err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--users", "cfx"], "there is no group of users 'cfx'; did you mean cf or cfg?"),
        (["--users", "cf:seed=-1"], "users cf: seed is -1"),
    ],
)
def test_wrong_users(bench, options, message):
    code, _, err = bench("simulate", "eurora_99", *options)
    assert code == 2 and message in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--load", 0], "load is 0; expected a number above 0"),
        (["--estimates", "ci"], "expected one of be, ge, cf, cfg"),
    ],
)
def test_wrong_options_of_the_generator(bench, tmp_path, options, message):
    code, _, err = bench("generate", "fing", "--out", tmp_path / "x", *options)
    assert code == 2 and message in err
