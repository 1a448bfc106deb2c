"""A package of a third party is installed beside schedlab and used by name, without a change in schedlab.

The installation is a copy of the package and its entry points in the form of an installed distribution: ``pip install``
would need a network for its build tools.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SETTINGS = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BENCH = (sys.executable, "-m", "schedlab.bench.cli.app")


def describe(folder, name, version, groups):
    """Write the description of an installed distribution: its name, its version and its entry points."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line for group, names in groups.items() for line in (f"[{group}]", *(f"{k} = {v}" for k, v in names.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a folder in which the package is installed."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(HERE / "flow_shop", folder / "flow_shop", ignore=shutil.ignore_patterns("__pycache__"))
    describe(folder, SETTINGS["name"], SETTINGS["version"], SETTINGS["entry-points"])
    return folder


@pytest.fixture
def call(installed, tmp_path):
    """Return a function that runs a command in an empty folder beside the installed packages."""

    def run(*command, also=(), code=0):
        path = os.pathsep.join(map(str, (*also, installed, *filter(None, [os.environ.get("PYTHONPATH")]))))
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, timeout=600,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def records(folder):
    return [json.loads(p.read_text()) for p in sorted(folder.glob("results/*/*.json"))]


def test_bench_run_takes_the_backend_the_heuristic_and_the_dispatcher_by_their_names(call, tmp_path):
    methods = ["cpsat-one-thread:counts+warm", "random-orders:10", "area-first", "multi-search"]
    command = (
        *BENCH,
        "run",
        "eurora_99",
        "--first",
        "20",
        "--methods",
        ",".join(methods),
        "--seeds",
        "1-2",
        "--time-limit",
        "2",
    )
    table = call(*command)
    assert all(name in table for name in methods)
    found = {(r["method"], r["seed"]): r for r in records(tmp_path)}
    assert set(found) == {(m, s) for m in methods for s in (1, 2)} - {("multi-search", 2)}
    assert {r["verified"] for r in found.values()} == {True}
    assert {m for (m, _), r in found.items() if "source" not in r} == {"multi-search"}
    assert found[methods[1], 1]["objective"] != found[methods[1], 2]["objective"]
    assert call(*BENCH, "verify", "results/eurora_99").endswith("7 valid, 0 not valid\n")


def test_bench_run_repeats_the_methods_of_a_package_that_was_changed(call, installed, tmp_path):
    shutil.copytree(installed, tmp_path / "changed")
    command = (
        *BENCH,
        "run",
        "eurora_99",
        "--first",
        "2",
        "--methods",
        "random-orders:10,multi-search",
        "--time-limit",
        "2",
    )
    call(*command, also=[tmp_path / "changed"])
    call(*command, also=[tmp_path / "changed"])
    assert len(records(tmp_path)) == 2
    with (tmp_path / "changed" / "flow_shop" / "heuristics.py").open("a") as f:
        f.write("# a remark\n")
    call(*command, also=[tmp_path / "changed"])
    assert sorted(r["method"] for r in records(tmp_path)) == ["multi-search", "random-orders:10", "random-orders:10"]


def test_bench_simulate_takes_the_dispatchers_by_their_names(call, tmp_path):
    names = ["easy", "area-first-r", "widest-easy", "hcp3@cpsat-one-thread", "flow_shop.dispatchers:AreaFirst-r"]
    table = call(*BENCH, "simulate", "eurora_99", "--dispatchers", ",".join(names), "--first", "30")
    assert all(name in table for name in names)
    found = {r["method"]: r for r in records(tmp_path)}
    assert set(found) == set(names) and {r["verified"] for r in found.values()} == {True}
    assert found[names[1]]["objective"] == found[names[4]]["objective"]
    assert found["area-first-r"]["simulation"]["predictor"] == "real"
    refused = call(*BENCH, "simulate", "eurora_99", "--dispatchers", "area-frist", code=2)
    assert "did you mean area-first" in refused


PYTHON = """
import schedlab as sl
p = sl.load("eurora_99").problem.at(12 * 3600, first=10)
for method in ("random-orders:10", "cpsat-one-thread:pool+warm"):
    r = sl.solve(p, method=method, time_limit=2, seed=3)
    assert r.status in ("optimal", "feasible") and r.violations == [], r
r = sl.solve(p, method="cpsat:pool", warm_start="random-orders:10", time_limit=2)
assert r.warm_start.fate == "accepted", r.warm_start
for name in ("area-first", "widest-easy-d"):
    run = sl.simulate("eurora_99", dispatcher=name)
    assert run.violations == [] and (run.start >= 0).all()
m = sl.Model("one")
a = m.interval("a", size=3, start=(2, 9))
m.minimize(a.end)
assert sl.solve(m, backend="cpsat-one-thread").objective == 5
for call in (
    lambda: sl.solve(p, method="random-order:10"),
    lambda: sl.solve(p, method="random-orders:11"),
    lambda: sl.solve(sl.load("theta_12").problem, method="random-orders:10"),
    lambda: sl.simulate("eurora_99", dispatcher="area-frist"),
    lambda: sl.solve(m, backend="cpsat-one-thraed"),
):
    try:
        call()
    except sl.UnknownName as e:
        print(e)
"""


def test_python_takes_all_parts_by_their_names_and_corrects_names(call):
    corrections = call(sys.executable, "-c", PYTHON).splitlines()
    assert len(corrections) == 5
    for line, word in zip(
        corrections,
        ("did you mean random-orders", "10", "eviction problems", "did you mean area-first", "cpsat-one-thread"),
        strict=True,
    ):
        assert word in line


BROKEN = {
    "schedlab.heuristics": {"nothing": "not_there:X", "no-heuristic": "json:dumps", "lns": "json:loads"},
    "schedlab.dispatchers": {"no-dispatcher": "fractions:Fraction"},
    "schedlab.backends": {"absent": "not_there:X", "no-backend": "fractions:Fraction"},
}


def test_a_broken_package_is_explained_and_hides_no_other(call, tmp_path):
    describe(tmp_path / "more", "broken", "2", BROKEN)
    also = [tmp_path / "more"]
    text = call(*BENCH, "doctor", also=also, code=1)
    for line in (
        "ok       cpsat-one-thread: ",
        "ok       the dispatcher area-first of flow-shop 0.1.0 (flow_shop.dispatchers:AreaFirst)",
        "ok       the dispatcher widest-easy of flow-shop 0.1.0 (flow_shop.dispatchers:WIDEST_EASY)",
        "ok       the heuristic random-orders of flow-shop 0.1.0 (flow_shop.heuristics:RANDOM_ORDERS)",
        "broken   the heuristic nothing of broken 2 (not_there:X) cannot be imported: ModuleNotFoundError",
        "broken   the heuristic no-heuristic of broken 2 (json:dumps) is not a schedlab.heuristics.Heuristic",
        "broken   the dispatcher no-dispatcher of broken 2 (fractions:Fraction) is not a dispatcher: it has no name",
        "missing  absent: the backend absent of broken 2 (not_there:X) cannot be imported",
        "missing  no-backend: the backend no-backend of broken 2 (fractions:Fraction) is not a backend",
        "trap     the heuristic lns of broken 2 (json:loads) is ignored: another one has this name",
    ):
        assert line in text, f"{line} is not in {text}"
    methods = "random-orders:10,cpsat-one-thread:pool,area-first,lns"
    call(*BENCH, "run", "eurora_99", "--first", "3", "--methods", methods, "--time-limit", "2", also=also)
    assert {r["verified"] for r in records(tmp_path)} == {True}
    for name in ("nothing", "absent:pool"):
        error = call(*BENCH, "run", "eurora_99", "--methods", name, also=also, code=2)
        assert error.startswith("error: the ") and f" {name.partition(':')[0]} of broken 2 (" in error


SHOP = """id,first,second
a,5,2
b,1,6
c,9,7
d,3,8
e,10,4
"""
COPY = "import sys, schedlab as sl; from schedlab.instances import write; write(sl.load('shop'), sys.argv[1])"
SOLVED = """
import schedlab as sl
p = sl.load("shop").problem
for method in ("johnson", "cpsat:intervals", "cpsat-one-thread:positions+warm", "highs:positions"):
    r = sl.solve(p, method=method, time_limit=20, seed=1)
    print(method, r.status, r.objective, r.violations)
"""


@pytest.fixture
def shop(tmp_path):
    """Write an instance of the kind of the package: Johnson's example with five jobs, makespan 30."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "instance.toml").write_text('kind = "flow-shop"\ndescription = "Five jobs."\n')
    (tmp_path / "shop" / "jobs.csv").write_text(SHOP)
    return tmp_path / "shop"


def test_its_problem_kind_is_run_by_every_command(call, shop, tmp_path):
    shown = call(*BENCH, "show", "shop")
    assert "work: 28 s on machine 1, 27 s on machine 2" in shown and "formulations: intervals, positions" in shown
    methods = ["johnson", "cpsat:intervals+warm", "highs:positions", "cpsat-one-thread:positions"]
    table = call(*BENCH, "run", "shop", "--methods", ",".join(methods), "--time-limit", "20")
    assert all(name in table for name in methods) and "best schedule: 30 by" in table
    found = {r["method"]: r for r in records(tmp_path)}
    assert {(r["status"], r["objective"], r["idle_s"], r["kind"]) for r in found.values()} == {
        ("optimal", 30, 3, "flow-shop")
    }
    assert call(*BENCH, "verify", "results/shop").endswith("4 valid, 0 not valid\n")
    call(*BENCH, "plot", "results/shop", "--out", "page.html")
    assert "cpsat:intervals+warm: makespan 30 s" in (tmp_path / "page.html").read_text()
    call(*BENCH, "export", "shop", "--formulation", "positions", "--format", "mps", "--out", "shop.mps")
    assert (tmp_path / "shop.mps").stat().st_size > 0
    refused = call(*BENCH, "simulate", "shop", "--dispatchers", "easy", code=2)
    assert "flow-shop" in refused and "Traceback" not in refused


def test_its_problem_kind_in_python_and_as_a_folder(call, shop, tmp_path):
    lines = call(sys.executable, "-c", SOLVED).splitlines()
    assert len(lines) == 4 and all(line.endswith("optimal 30 []") for line in lines)
    call(sys.executable, "-c", COPY, tmp_path / "copy")
    assert "work: 28 s on machine 1" in call(*BENCH, "show", tmp_path / "copy")
    (shop / "jobs.csv").write_text(SHOP.replace("9,7", "9,-7"))
    assert "jobs.csv, line 4, second: expected a whole number" in call(*BENCH, "show", "shop", code=2)
