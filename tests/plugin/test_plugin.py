"""A package of a third party is installed beside schedlab and used by name, without a change in schedlab."""

import json
import shutil

import pytest
from installed import describe


def records(folder):
    return [json.loads(p.read_text()) for p in sorted(folder.glob("results/*/*.json"))]


def run(instance, methods, *options, seconds=2):
    """Return the words of ``bench run``."""
    return ("run", instance, "--methods", ",".join(methods), "--time-limit", seconds, *options)


@pytest.mark.slow
def test_bench_run_takes_the_backend_the_heuristic_and_the_dispatcher_by_their_names(beside, tmp_path):
    methods = ["cpsat-one-thread:counts+warm", "random-orders:10", "area-first"]
    table, other_seed, checked = beside.benches(
        run("eurora_99", methods, "--first", 20),
        run("eurora_99", methods[1:2], "--first", 20, "--seeds", 2, "--executor", "listing,file=begun"),
        ("verify", "results/eurora_99"),
        workers=True,
    )
    assert all(name in table for name in methods) and methods[1] in other_seed
    assert (tmp_path / "begun").read_text() == f"{methods[1]}\n"
    found = {(r["method"], r["seed"]): r for r in records(tmp_path)}
    assert set(found) == {*((m, 1) for m in methods), (methods[1], 2)}
    assert {r["verified"] for r in found.values()} == {True} and all("source" in r for r in found.values())
    assert found[methods[1], 1]["objective"] != found[methods[1], 2]["objective"]
    assert checked.endswith("4 valid, 0 not valid\n")


@pytest.mark.slow
def test_bench_run_repeats_the_methods_of_a_package_that_was_changed(beside, package, tmp_path):
    shutil.copytree(package, tmp_path / "changed")
    beside = beside.also(tmp_path / "changed")
    command = run("eurora_99", ["random-orders:10", "multi-search"], "--first", 2)
    beside.benches(command, command)
    assert len(records(tmp_path)) == 2
    with (tmp_path / "changed" / "flow_shop" / "heuristics.py").open("a") as f:
        f.write("# a remark\n")
    beside.benches(command)
    found = records(tmp_path)
    assert sorted(r["method"] for r in found) == ["multi-search", "random-orders:10", "random-orders:10"]
    assert {r["method"] for r in found if "source" not in r} == {"multi-search"}


@pytest.mark.slow
def test_bench_simulate_takes_the_dispatchers_by_their_names(beside, tmp_path):
    names = ["easy", "area-first-r", "widest-easy", "hcp3@cpsat-one-thread", "flow_shop.dispatchers:AreaFirst-r"]
    table, refused = beside.benches(
        ("simulate", "eurora_99", "--dispatchers", ",".join(names), "--first", 30),
        ("simulate", "eurora_99", "--dispatchers", "area-frist"),
        codes=(0, 2),
    )
    assert all(name in table for name in names)
    found = {r["method"]: r for r in records(tmp_path)}
    assert set(found) == set(names) and {r["verified"] for r in found.values()} == {True}
    assert found[names[1]]["objective"] == found[names[4]]["objective"]
    assert found["area-first-r"]["simulation"]["predictor"] == "real"
    assert "did you mean area-first" in refused


PYTHON = """
import schedlab as sl
p = sl.load("eurora_99").problem.at(12 * 3600, first=4)
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


def test_python_takes_all_parts_by_their_names_and_corrects_names(beside):
    corrections = beside.python("-c", PYTHON).splitlines()
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
    "schedlab.users": {"no-users": "fractions:Fraction"},
    "schedlab.evictors": {"no-evictor": "fractions:Fraction"},
    "schedlab.problems": {"no-kind": "fractions:Fraction"},
}


# only parts of third parties: each solver is started once, and that of CP Optimizer ten times
DOCTOR = """
import sys
from schedlab.bench.cli import doctor
from schedlab.bench.terminal import console_for
everything = doctor.available()
doctor.available = lambda: {k: v for k, v in everything.items() if k not in ("cpsat", "cpo", "highs", "pyomo")}
sys.exit(0 if doctor.examine(console_for()) else 1)
"""


@pytest.mark.slow
def test_a_broken_package_is_explained_and_hides_no_other(beside, tmp_path):
    describe(tmp_path / "more", "broken", "2", BROKEN)
    methods, unusable = ["cpsat-one-thread:pool", "lns", "random-orders:10"], ("nothing", "absent:pool")
    beside = beside.also(tmp_path / "more")
    text = beside.python("-c", DOCTOR, code=1)
    _, *errors = beside.benches(
        run("eurora_99", methods, "--first", 3, seconds=0.5),
        *(run("eurora_99", [name]) for name in unusable),
        codes=(0, 2, 2),
    )
    for line in (
        "ok       cpsat-one-thread: ",
        "ok       the dispatcher area-first of flow-shop 0.1.0 (flow_shop.dispatchers:AreaFirst)",
        "ok       the dispatcher widest-easy of flow-shop 0.1.0 (flow_shop.dispatchers:WIDEST_EASY)",
        "ok       the heuristic random-orders of flow-shop 0.1.0 (flow_shop.heuristics:RandomOrders)",
        "broken   the heuristic nothing of broken 2 (not_there:X) cannot be imported: ModuleNotFoundError",
        "broken   the heuristic no-heuristic of broken 2 (json:dumps) is not a subclass of schedlab.heuristics.Heuristic",
        "broken   the dispatcher no-dispatcher of broken 2 (fractions:Fraction) is not a dispatcher: it has no name",
        "missing  absent: the backend absent of broken 2 (not_there:X) cannot be imported",
        "missing  no-backend: the backend no-backend of broken 2 (fractions:Fraction) is not a backend",
        "broken   the group of users no-users of broken 2 (fractions:Fraction) is not a group of users: it has no name",
        "broken   the evictor no-evictor of broken 2 (fractions:Fraction) is not an evictor: it has no name and no decide",
        "broken   the problem kind no-kind of broken 2 (fractions:Fraction) is <class 'fractions.Fraction'>; expected a",
        "ok       the problem kind flow-shop of flow-shop 0.1.0",
        "trap     the heuristic lns of broken 2 (json:loads) is ignored: another one has this name",
    ):
        assert line in text, f"{line} is not in {text}"
    found = records(tmp_path)
    assert sorted(r["method"] for r in found) == methods and {r["verified"] for r in found} == {True}
    for name, error in zip(unusable, errors, strict=True):
        assert error.startswith("error: the ") and f" {name.partition(':')[0]} of broken 2 (" in error


SHOP = """id,first,second
a,5,2
b,1,6
c,9,7
d,3,8
e,10,4
"""
SOLVED = """
import sys
import schedlab as sl
from schedlab.instances import write
write(sl.load("shop"), sys.argv[1])
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


def test_its_problem_kind_is_run_by_every_command(beside, shop, tmp_path):
    methods = ["johnson", "cpsat:intervals+warm", "highs:positions", "cpsat-one-thread:positions"]
    shown, table, checked, _, _, refused = beside.benches(
        ("show", "shop"),
        run("shop", methods, seconds=20),
        ("verify", "results/shop"),
        ("plot", "results/shop", "--out", "page.html"),
        ("export", "shop", "--formulation", "positions", "--format", "mps", "--out", "shop.mps"),
        ("simulate", "shop", "--dispatchers", "easy"),
        codes=(0, 0, 0, 0, 0, 2),
    )
    assert "formulations: intervals, positions" in shown and "work: 28 s on machine 1, 27 s on machine 2" in shown
    assert all(name in table for name in methods) and "best schedule: 30 by" in table
    found = {r["method"]: r for r in records(tmp_path)}
    assert {(r["status"], r["objective"], r["idle_s"], r["kind"]) for r in found.values()} == {
        ("optimal", 30, 3, "flow-shop")
    }
    assert checked.endswith("4 valid, 0 not valid\n")
    assert "cpsat:intervals+warm: makespan 30 s" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "shop.mps").stat().st_size > 0
    assert "flow-shop" in refused


@pytest.mark.slow
def test_its_problem_kind_in_python_and_as_a_folder(beside, shop, tmp_path):
    lines = beside.python("-c", SOLVED, tmp_path / "copy").splitlines()
    assert len(lines) == 4 and all(line.endswith("optimal 30 []") for line in lines)
    (shop / "jobs.csv").write_text(SHOP.replace("9,7", "9,-7"))
    copied, wrong = beside.benches(("show", tmp_path / "copy"), ("show", "shop"), codes=(0, 2))
    assert "work: 28 s on machine 1" in copied
    assert "jobs.csv, line 4, second: expected a whole number" in wrong
