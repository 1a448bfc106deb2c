"""A formulation in a file of the current folder, named as module:attribute: runs, resuming, verification, errors."""

import json
import sys

import pytest
from schedlab.models.kind import FORMULATIONS

pytestmark = pytest.mark.usefixtures("in_process")
OWN = """
from schedlab.models.dispatch.formulations import counts, pool

mine = {made}


def broken(problem):
    return 1 / 0
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_models.py").write_text(OWN.format(made="counts"))
    yield tmp_path
    sys.modules.pop("own_models", None)


def run(bench, *methods, options=()):
    words = ["--at", "12:00", "--first", 3, "--methods", ",".join(methods), "--time-limit", 5, "--out", "out", *options]
    return bench("run", "eurora_99", *words)


def records(folder):
    return [json.loads(p.read_text()) for p in sorted((folder / "out").glob("*.json")) if p.name != "manifest.json"]


def test_it_is_run_resumed_verified_and_run_again_when_its_source_has_changed(bench, folder):
    assert run(bench, "cpsat:own_models:mine+warm", "cpsat:counts")[0] == 0
    own, ours = sorted(records(folder), key=lambda r: "own_models" not in r["method"])
    assert own["method"] == "cpsat:own_models:mine+warm" and own["source"] and "source" not in ours
    assert own["objective"] == ours["objective"] and own["status"] == ours["status"] == "optimal"
    assert run(bench, "cpsat:own_models:mine+warm", "cpsat:counts")[2].count("(kept)") == 2
    sys.modules.pop("own_models")  # bench verify is a process of its own
    (folder / "own_models.py").rename(folder / "moved.py")
    assert bench("verify", "out")[0] == 0
    (folder / "own_models.py").write_text(OWN.format(made="pool"))
    assert run(bench, "cpsat:own_models:mine+warm", "cpsat:counts")[2].count("(kept)") == 1
    assert bench("verify", "out")[0] == 0


def test_wrong_names_are_explained_before_the_first_run(bench, folder):
    code, _, err = run(bench, "cpsat:own_models:brokn")
    assert code == 2 and "no object of the module own_models called 'brokn'; did you mean broken" in " ".join(
        err.split()
    )
    code, _, err = run(bench, "cpsat:nowhere:mine")
    assert code == 2 and "no module nowhere is in the current folder" in " ".join(err.split())
    assert not (folder / "out").exists() or records(folder) == []


def test_an_error_of_its_own_is_a_failed_run_that_names_the_line(bench, folder):
    assert run(bench, "cpsat:own_models:broken")[0] == 1
    (record,) = records(folder)
    assert (
        record["status"] == "error"
        and "ZeroDivisionError" in record["message"]
        and "own_models.py, line" in record["message"]
    )


def test_it_is_exported_and_shown(bench, folder):
    options = ["--at", "12:00", "--first", 3, "--formulation", "own_models:mine", "--format", "lp", "--out", "m.lp"]
    assert bench("export", "eurora_99", *options)[0] == 0 and (folder / "m.lp").stat().st_size > 100
    FORMULATIONS.register("dispatch.mine", print)
    try:
        assert "counts, units, classes, pool, mine" in bench("show", "eurora_99")[1]
    finally:
        FORMULATIONS.unregister("dispatch.mine")
