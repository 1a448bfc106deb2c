"""Resuming: an earlier record is checked before it is used; if it is not valid, the run is repeated."""

import json

import pytest
import schedlab as sl
from schedlab.bench import RunRequest, plan
from schedlab.bench.records import Checker, Store, answer, plain, read
from schedlab.bench.records.record import record
from schedlab.instances import load

SNAPSHOT = ["eurora_99", "--at", "12:00", "--first", "12"]
QUICK = ["--methods", "multi-search,first-solution:est", "--time-limit", "3", "--threads", "1"]
ASKED = RunRequest(["multi-search", "first-solution:est"], time_limit=3.0, threads=1, at=43200, first=12)


@pytest.fixture
def runs():
    """Return two runs of a snapshot of 12 jobs, as the command line plans them."""
    return plan(load("eurora_99"), "eurora_99", ASKED)


@pytest.fixture
def out(runs, tmp_path, monkeypatch):
    """Return a folder with the records of these runs."""
    monkeypatch.chdir(tmp_path)
    with Store(tmp_path / "out") as store:
        for run in runs:
            problem = run.view.of(load("eurora_99"))
            found = answer(problem, sl.solve(problem, method=run.method))
            store.write(record(run, plain(found), "2026-01-01T00:00:00+00:00"))
    return tmp_path / "out"


def change(folder, method, edit):
    path = next(folder.glob(f"{method}*.json"))
    record = json.loads(path.read_text())
    edit(record)
    path.write_text(json.dumps(record))


def test_records_that_hold_are_kept(bench, out):
    code, _, err = bench("run", *SNAPSHOT, *QUICK, "--out", out)
    assert code == 0 and err.count("(kept)") == 2 and "run again" not in err


def test_a_record_that_was_changed_is_run_again_and_the_reason_said(bench, out):
    change(out, "multi-search", lambda r: r.update(objective=1.0))
    change(out, "first-solution", lambda r: r.update(objective=float("nan")))
    before = {p.name for p in out.iterdir()}
    code, text, err = bench("run", *SNAPSHOT, *QUICK, "--out", out)
    assert code == 0 and "nan" not in text and "(kept)" not in err
    said = [line for line in err.splitlines() if "run again, its record is not valid" in line]
    assert len(said) == 2 and "it has objective 1.0" in said[0] and "NaN" in said[1]
    assert {p.name for p in out.iterdir()} == before
    assert bench("verify", out)[0] == 0


def test_verify_finds_the_same_fault(bench, out):
    change(out, "multi-search", lambda r: r.update(schema=0))
    code, text, _ = bench("verify", out)
    assert code == 1 and "it has schema 0" in text and "1 valid, 1 not valid" in text


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (lambda r: r.update(objective=1.0, gap=None, bound=None), "it has objective 1.0, its schedule has"),
        (lambda r: r.update(objective=None), "it has objective None"),
        (lambda r: r.update(bound=1.0), "it has gap None"),
        (lambda r: r.update(schema=None), "it has no schema"),
        (lambda r: r.update(schema=99), "it has schema 99"),
        (lambda r: r.pop("schema"), "it has no schema"),
        (lambda r: r.update(schedlab="0.0.9"), "its key"),
        (lambda r: r.update(method="lns"), "its key"),
        (lambda r: r.update(key="other"), "its key"),
        (lambda r: r.update(kind="project"), "it has kind project"),
        (lambda r: r.update(sense="maximize"), "it has sense maximize"),
        (lambda r: r.update(status="best"), "its status cannot be 'best'"),
        (lambda r: r.update(gap=0.0, status="optimal"), "it has gap 0.0"),
        (lambda r: r.update(seconds=5), "its seconds cannot be 5"),
        (lambda r: r.pop("violations"), "missing fields: violations"),
        (lambda r: next(iter(r["schedule"].values())).update(start=0), "start"),
        (lambda r: r.update(schedule=None), "no valid schedule"),
        (lambda r: r.update(path="../somewhere else"), ""),
    ],
)
def test_what_a_record_says_is_checked_before_it_counts(runs, out, edit, word):
    record = read(next(out.glob("multi-search*.json")))
    checker = Checker(out, lambda path, drop: load(path))
    assert checker.reason(runs[0], record) == ""
    edit(record)
    reason = checker.reason(runs[0], record)
    assert word in reason and bool(reason) is bool(word)
