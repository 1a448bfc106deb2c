"""Every group of entry points: its part is found by its name and as ``module:attribute``, with options, in Python and by bench."""

import json
import re
import shutil
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.bench.cli.doctor import registries
from schedlab.models import load_reference

OPTIONS = {  # group: name, attribute, an option, its value as text and in Python, a wrong value, what is expected
    "rankers": ("by-units", "ByUnits", "first", "wide", "wide", "long", "one of narrow, wide"),
    "predictors": ("share", "Share", "part", "0.25", 0.25, "half", "a number"),
    "allocators": ("last-first", "LastFirst", "spared", "3", 3, "1.5", "a whole number"),
    "evictors": ("youngest", "Youngest", "more", "1", 1, "x", "a whole number"),
    "node_policies": (
        "off-after",
        "OffAfter",
        "after",
        "5min",
        300,
        "soon",
        "whole seconds, such as 300, 30min, 2h or 7d",
    ),
    "forecasts": ("sampled", "Sampled", "every", "2", 2, "x", "a whole number"),
    "users": ("doubling", "Doubling", "times", "3.5", 3.5, "nan", "a number"),
    "checkpoints": ("wider", "Wider", "seconds", "2h", 7200, "x", "whole seconds, such as 300, 30min, 2h or 7d"),
    "requeue": ("keep-share", "KeepShare", "part", "0.75", 0.75, "x", "a number"),
    "features": ("maintenance", "Maintenance", "maintenance_every", "3", 3, "x", "a whole number"),
    "dispatchers": ("area-first", "AreaFirst", None, None, None, None, None),
}
FINISHED = {  # groups whose parts are objects without options
    "objectives": ("total-ends", "parts:TOTAL_ENDS"),
    "formulations": ("flow-shop.orders", "formulations:orders"),
    "log_formats": ("bars", "parts:BARS"),
    "heuristics": ("random-orders", "heuristics:RandomOrders"),
    "backends": ("cpsat-one-thread", "backend:CpSatOneThread"),
    "problems": ("flow-shop", "kind:FLOW_SHOP"),
    "executors": ("listing", "executors:Listing"),
}
FILES = {"dispatchers": "dispatchers", "features": "maintenance"}  # of the package; else parts
GROUPS = {registry.group.removeprefix("schedlab."): registry for registry in registries()}

ASK = """
import json, sys
from schedlab.bench.cli.doctor import registries
groups = {registry.group: registry for registry in registries()}
told = []
for group, text, attribute in json.loads(sys.argv[1]):
    registry = groups[f"schedlab.{group}"]
    try:
        if attribute is None:
            made, value = registry.get_named(text), None
        else:
            named = registry.find(text)
            made = named.make()
            value = getattr(made, attribute) if attribute else None
        told.append([type(made).__name__, value, registry.source(text if attribute is None else named.name)])
    except Exception as e:
        told.append([type(e).__name__, str(e), None])
print(json.dumps(told))
"""


def test_the_package_has_a_part_of_each_group():
    assert set(GROUPS) == {*OPTIONS, *FINISHED}


def ask(beside, *questions):
    """Return for each (group, text, attribute) what the registry of the group makes of the text."""
    return json.loads(beside.python("-c", ASK, json.dumps(questions)))


def test_a_part_is_found_by_its_entry_point_and_as_module_and_attribute_with_its_options(beside):
    questions, expected = [], []
    for group, (name, attribute, option, text, value, _, _) in OPTIONS.items():
        for called in (name, f"flow_shop.{FILES.get(group, 'parts')}:{attribute}"):
            questions.append((group, called if option is None else f"{called}:{option}={text}", option or ""))
            expected.append([attribute, value])
        if GROUPS[group].first_value:
            questions.append((group, f"{name}:{text}", option))
            expected.append([attribute, value])
    found = ask(beside, *questions)
    assert [made[:2] for made in found] == expected
    assert len({made[2] for made in found}) == 1 and found[0][2] is not None  # all have the source of the package


@pytest.mark.slow
def test_a_finished_part_is_found_by_its_entry_point_and_as_module_and_attribute(beside):
    questions = [
        (group, text, None) for group, (name, place) in FINISHED.items() for text in (name, f"flow_shop.{place}")
    ]
    found = ask(beside, *questions)
    for one, other in zip(found[::2], found[1::2], strict=True):
        assert one == other and "Error" not in one[0] and one[2] is not None


def test_wrong_options_give_the_one_message(beside):
    questions, expected = [], []
    for group, (name, _, option, _, _, wrong, wanted) in OPTIONS.items():
        what = GROUPS[group].what
        label = f"the {what} {name} of flow-shop 0.1.0 (flow_shop."
        questions.append((group, f"{name}:colour=red", ""))
        expected.append(("UnknownName", f"there is no option of {label}", "called 'colour'"))
        questions.append((group, f"{name[:-1]}", ""))
        expected.append(("UnknownName", f"there is no {what} '{name[:-1]}'; did you mean {name}", ""))
        questions.append((group, f"{name}:colour=red:colour=blue", ""))
        expected.append(("WrongOption", f"{what} {name}:colour=red:colour=blue: the option colour is given twice", ""))
        if option is not None:
            questions.append((group, f"{name}:{option}={wrong}", ""))
            expected.append(("WrongOption", label, f"): {option} is '{wrong}'; expected {wanted}"))
    for found, (error, begin, part) in zip(ask(beside, *questions), expected, strict=True):
        assert found[0] == error and found[1].startswith(begin) and part in found[1], found


PYTHON = """
import schedlab as sl
from schedlab.simulation import OnDemandJob, Preemption
day = sl.load("eurora_99").problem.at(12 * 3600, first=4)
for name in ("total-ends", "flow_shop.parts:TOTAL_ENDS"):
    problem = day.replace(objective=name)
    for method in ("multi-search", "cpsat:counts+warm"):
        found = sl.solve(problem, method, time_limit=5, seed=1)
        assert found.violations == [] and found.objective == problem.value(found.schedule), found
        assert found.objective == sum(found.schedule.start[j.id] + problem.duration(j) for j in problem.jobs)
run = sl.simulate(
    "eurora_99", "easy+by-units:first=wide", predictor="share:part=0.9", allocator="last-first:spared=2", users="doubling:times=4",
    node_policy="off-after:after=2h", requeue="keep-share:part=0.5",
)
assert run.violations == [] and (run.predictor, run.allocator) == ("share", "last-first")
assert (run.workload.walltime == 4 * run.workload.runtime).all()
machine = sl.Platform([sl.NodeGroup("n", 4, {"cores": 1})])
jobs = [sl.Job(f"j{k}", 0, 4000, 2, {"cores": 1}, "q", runtime=3000 + k) for k in range(3)]
batch = sl.Dispatch(machine, jobs, [sl.Queue("q", 60)], durations="runtime")
urgent = Preemption([OnDemandJob("scan", 1000, 3, 60, 500)], "youngest:more=1", "wider:seconds=5min")
run = sl.simulate(batch, "fcfs", preemption=urgent)
assert run.violations == [] and run.preemption is not None
print("done")
"""


def test_in_python(beside):
    assert "done\n" in beside.python("-c", PYTHON)


def records(folder):
    return [json.loads(p.read_text()) for p in sorted(folder.glob("results/*/*.json"))]


PARTS = (
    "--predictor", "share:part=0.9", "--allocator", "last-first:spared=2", "--node-policy", "off-after:after=2h",
    "--requeue", "keep-share:part=0.5",
)  # fmt: skip


@pytest.fixture
def own_package(package, tmp_path, beside):
    """Return a copy of the package that a test may change, and processes beside it."""
    shutil.copytree(package, tmp_path / "changed")
    return tmp_path / "changed", beside.also(tmp_path / "changed")


@pytest.mark.slow
def test_by_bench_simulate_and_a_changed_package_is_replayed_again(own_package, tmp_path):
    folder, beside = own_package
    (tmp_path / "log.bars").write_text("a|0|1000|4\nb|10|2000|4\nc|20|500|4\n")
    (tmp_path / "urgent.csv").write_text("id,submit,nodes,start_within,duration\nx,30,1,600,60\n")
    commands = [
        ("simulate", "log.bars", "--format", "bars", "--nodes", 3, "--cores", 4, "--dispatchers", "easy", *PARTS),
        (
            "simulate", "log.bars", "--format", "flow_shop.parts:BARS", "--nodes", 3, "--cores", 4, "--dispatchers", "easy",
            "--on-demand", "urgent.csv", "--evictor", "youngest:more=1,none", "--checkpoints", "wider:5min",
        ),
        ("run", "eurora_99", "--objective", "total-ends", "--first", 5, "--at", "12:00", "--methods", "multi-search", "--time-limit", 2),
    ]  # fmt: skip
    beside.benches(
        *commands, ("verify", "results/log.bars", "--own", "flow_shop.parts:BARS"), ("verify", "results/eurora_99")
    )
    first = records(tmp_path)
    assert len(first) == 4 and all(r["verified"] for r in first)
    sources = [r["replay"]["parts_source"] for r in first if r["replay"] is not None]
    named = {tuple(part.partition("=")[0] for part in text.split(",")) for text in sources}
    assert named == {
        ("allocator", "format", "node_policy", "predictor", "requeue"),
        ("checkpoints", "evictor", "format"),
        ("checkpoints", "format"),
    }
    assert all("source" in r for r in first if r["replay"] is None)  # of the objective
    beside.benches(*commands)
    assert len(records(tmp_path)) == 4
    with (folder / "flow_shop" / "parts.py").open("a") as file:
        file.write("# a remark\n")
    beside.benches(*commands)
    assert len(records(tmp_path)) == 8


def test_bench_names_what_is_wrong(beside):
    wrong = {
        ("--predictor", "shares"): "did you mean share",
        ("--predictor", "share:part=x"): "part is 'x'; expected a number",
        ("--allocator", "last-first:spared=x"): "spared is 'x'; expected a whole number",
        ("--requeue", "keep-share:parts=1"): "did you mean part?",
        ("--node-policy", "off-after:soon"): "after is 'soon'; expected whole seconds",
        ("--users", "doubling:times=x"): "times is 'x'; expected a number",
        ("--objective", "total-end"): "did you mean total-ends",
        ("--dispatchers", "easy-d", "--predictor", "share"): "easy-d names the predictor data-driven; give one of them",
    }
    commands = [("simulate", "eurora_99", *words) for words in wrong]
    for told, expected in zip(beside.benches(*commands, codes=[2] * len(wrong)), wrong.values(), strict=True):
        assert expected in told, told


ROW = re.compile(r"\| ([\w ]+) \| `(schedlab\.\w+)` \| `([\w.]+:\w+)` \| `([^`]+)` \|")


def test_the_table_of_the_documentation_has_all_groups_and_its_examples_work():
    page = (Path(sl.__file__).parent / "docs" / "extending.md").read_text(encoding="utf-8")
    rows = {group: (part, protocol, example) for part, group, protocol, example in ROW.findall(page)}
    assert set(rows) == {registry.group for registry in registries()}
    for registry in registries():
        part, protocol, example = rows[registry.group]
        assert part == registry.what
        wanted = load_reference(protocol)
        made = registry.make(example) if registry.parts else registry.get_named(example)
        for attribute in registry.parts:
            assert hasattr(wanted, attribute) or attribute in wanted.__annotations__
        if not registry.parts and not getattr(wanted, "_is_protocol", False):
            assert issubclass(made, wanted) if isinstance(made, type) else isinstance(made, wanted)


METHODS = """
import schedlab as sl
from schedlab.methods.text import method_source
day = sl.load("eurora_99").problem.at(12 * 3600, first=4)
for method in (
    "flow_shop.heuristics:RandomOrders:10",
    "flow_shop.backend:CpSatOneThread:counts",
    "cpsat:pool+warm=flow_shop.heuristics:RandomOrders/10/3s",
    "flow_shop.backend:CpSatOneThread:pool+warm",
):
    parsed = sl.methods.parse_method(method)
    assert sl.methods.parse_method(parsed.text) == parsed and method_source(parsed), parsed.text
    found = sl.solve(day, method, time_limit=5, seed=1)
    assert found.violations == [] and found.schedule is not None, found
m = sl.Model("one")
a = m.interval("a", size=3, start=(2, 9))
m.minimize(a.end)
assert sl.solve(m, backend="flow_shop.backend:CpSatOneThread").objective == 5
for wrong in ("flow_shop.heuristics:Random:10", "flow_shop.heuristics:first_solution", "flow_shop:X"):
    try:
        sl.solve(day, wrong)
    except sl.SchedlabError as e:
        print(type(e).__name__, e)
"""


@pytest.mark.slow
def test_heuristics_and_backends_as_module_and_attribute(beside, tmp_path):
    lines = [line for line in beside.python("-c", METHODS).splitlines() if "Error" in line or "Unknown" in line]
    assert "no object of the module flow_shop.heuristics called 'Random'; did you mean" in lines[0]
    assert "flow_shop.heuristics:first_solution" in lines[1] and len(lines) == 3
    methods = "flow_shop.heuristics:RandomOrders:10,flow_shop.dispatchers:AreaFirst"
    command = ("run", "eurora_99", "--first", 10, "--methods", methods, "--time-limit", 2)
    beside.benches((*command, "--executor", "flow_shop.executors:Listing,file=begun"))
    assert {r["method"] for r in records(tmp_path)} == set(methods.split(","))
    assert len((tmp_path / "begun").read_text().splitlines()) == 2


@pytest.mark.slow
def test_an_objective_of_a_package_in_the_name_of_a_dispatcher(beside, tmp_path):
    names = ["hcp3@cpsat:total-ends", "hcp3@cpsat:flow_shop.parts:TOTAL_ENDS"]
    (told,) = beside.benches(("simulate", "eurora_99", "--first", 8, "--dispatchers", ",".join(names)))
    found = records(tmp_path)
    assert {r["method"] for r in found} == set(names) and all(r["verified"] and r["source"] for r in found), told
