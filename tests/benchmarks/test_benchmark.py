"""Benchmarks as name, build and sweep: what is timed, and what is printed."""

import json
import runpy
import sys
from pathlib import Path

import pytest
from schedlab.benchmarks import compare, replays
from schedlab.benchmarks.benchmark import Benchmark, Case, main
from schedlab.instances import lublin_workload
from schedlab.models import NodeGroup, Platform

FOLDER = Path(compare.__file__).parent


@pytest.fixture
def calls():
    return []


@pytest.fixture
def counted(calls):
    """Return a benchmark of two points, each of 30 jobs."""
    return Benchmark("counted", lambda point: Case(lambda: calls.append(point), 30, most=2.0), ("a", "b"), repeats=2)


def test_points_are_timed_in_turns_after_one_call_of_each(counted, calls, capsys):
    main([counted], ["--json"])
    assert calls == ["a", "b", "a", "b", "a", "b"]
    times = json.loads(capsys.readouterr().out)
    assert list(times) == ["counted/a", "counted/b"] and [len(seconds) for seconds in times.values()] == [2, 2]


def test_the_table_has_the_targets_and_benchmarks_without_data_are_left_out(counted, capsys):
    main([counted, Benchmark("logs", lambda point: Case(print, 1), ("a",), data=Path("none.swf"))], [])
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines() if line.split()[:1] in (["a"], ["b"])]
    assert [row[0] for row in rows] == ["a", "b"] and {row[-1] for row in rows} == {"2"}
    assert "logs: not measured, as none.swf is missing" in shown
    with pytest.raises(SystemExit):
        main([counted], ["others"])


def test_two_versions_are_compared_point_by_point(monkeypatch, capsys):
    times = {"one": {"KTH/easy": [2.0, 1.0]}, sys.executable: {"KTH/easy": [0.5, 4.0]}}
    monkeypatch.setattr(compare, "measured", lambda python, names: times[python])
    monkeypatch.setattr(sys, "argv", ["compare", "one", "KTH", "--rounds", "1"])
    compare.main()
    row = next(line.split() for line in capsys.readouterr().out.splitlines() if "KTH/easy" in line)
    assert row == ["KTH/easy", "1.0000", "0.5000", "0.50", "1.50"]


@pytest.mark.parametrize("name", replays.FEATURES)
def test_replays_with_features_have_no_violations(name):
    machine = Platform([NodeGroup("n", 64, {"cores": 1})])
    replays.FEATURES[name](lublin_workload(60, 1, 64, 0.9, 16).on(machine), machine).run()


MODULES = sorted(path for path in FOLDER.rglob("*.py") if '"__main__"' in path.read_text() or path.stem == "__main__")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(FOLDER).with_suffix("").as_posix())
def test_the_help_of_each_module_only_helps(path, monkeypatch, capsys):
    name = "schedlab.benchmarks." + ".".join(path.relative_to(FOLDER).with_suffix("").parts)
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    for loaded in [name, *(m for m in sys.modules if m.startswith(f"{name}."))]:
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(name, run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: ")
