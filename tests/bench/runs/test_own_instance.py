"""An instance named as module:attribute in the bench: runs, keys, resuming, verification, export; a model's own formulation."""

import json
import os
import sys
import time

import pytest

pytestmark = pytest.mark.usefixtures("in_process")
OWN = """
import schedlab as sl
from schedlab.models import Encoding


def build(size={size}):
    model = sl.Model("two")
    a, b = model.interval("a", size=size), model.interval("b", size=4)
    model.add(sl.no_overlap([a, b]))
    model.minimize(sl.max([a.end, b.end]))
    return model


LONG = build(9)


def late(problem):
    ours = problem.formulations["model"]()
    ours.model.add(ours.model.intervals[0].start >= 5)
    return Encoding(ours.model, ours.read, ours.write, restriction=True)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_build.py").write_text(OWN.format(size=3))
    yield tmp_path
    sys.modules.pop("own_build", None)


def records(folder):
    return [json.loads(p.read_text()) for p in sorted((folder / "out").glob("*.json"))]


def run(bench, *words):
    return bench("run", *words, "--time-limit", 5, "--threads", 1, "--out", "out")


def test_objects_of_one_module_are_told_apart_resumed_and_run_again(bench, folder):
    assert run(bench, "own_build:build", "own_build:LONG", "--methods", "cpsat")[0] == 0
    made = records(folder)
    assert sorted((r["instance"], r["path"], r["objective"]) for r in made) == [
        ("own_build.LONG", "own_build:LONG", 13),
        ("own_build.build", "own_build:build", 7),
    ]
    assert len({r["key"] for r in made}) == 2
    assert run(bench, "own_build:build", "--methods", "cpsat")[2].count("(kept)") == 1
    sys.modules.pop("own_build")
    (folder / "own_build.py").write_text(OWN.format(size=5))
    later = time.time() + 10  # byte code of the file as it was counts for a file of the same second and length
    os.utime(folder / "own_build.py", (later, later))
    assert run(bench, "own_build:build", "--methods", "cpsat")[2].count("(kept)") == 0
    assert 9 in [r["objective"] for r in records(folder)]


def test_records_are_checked_if_the_user_names_the_module(bench, folder):
    assert run(bench, "own_build:build", "--methods", "cpsat")[0] == 0
    sys.modules.pop("own_build")
    code, out, _ = bench("verify", "out")
    assert code == 1 and "it names own_build:build, which is not imported" in out and "own_build" not in sys.modules
    assert bench("verify", "out", "--own", "own_build:build")[0] == 0
    assert bench("verify", "out", "--instance", "own_build:build")[0] == 0
    (schedule,) = (r["schedule"] for r in records(folder))
    (folder / "mine.json").write_text(json.dumps(schedule))
    assert "verified, objective 7" in bench("verify", "mine.json", "--instance", "own_build:build")[1]


def test_it_is_exported_explained_and_reported(bench, folder):
    assert bench("export", "own_build:build", "--format", "json", "--out", "m.json")[0] == 0
    assert bench("explain", "own_build:build")[0] == 0
    assert run(bench, "own_build:build", "--methods", "cpsat")[0] == 0
    assert bench("report", "out")[0] == 0


def test_a_wrong_name_ends_before_the_first_run(bench, folder):
    code, _, err = run(bench, "own_build:biuld", "--methods", "cpsat")
    assert code == 2 and "did you mean build" in " ".join(err.split()) and not (folder / "out").exists()
    code, _, err = run(bench, "own_build:late", "--methods", "cpsat")
    assert code == 2 and "cannot be called without arguments" in " ".join(err.split())


def test_a_model_file_takes_a_formulation_of_the_users_own(bench, folder):
    assert bench("export", "own_build:build", "--format", "json", "--out", "x.json")[0] == 0
    assert run(bench, "x.json", "--methods", "cpsat:own_build:late,cpsat")[0] == 0
    late, ours = sorted(records(folder), key=lambda r: "late" not in r["method"])
    assert (late["method"], late["status"], late["objective"]) == ("cpsat:own_build:late", "feasible", 8)
    assert (ours["status"], ours["objective"], late["bound"]) == ("optimal", 7, None)
    sys.modules.pop("own_build", None)
    assert bench("verify", "out")[0] == 0
