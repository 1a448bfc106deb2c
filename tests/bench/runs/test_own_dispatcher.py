"""A dispatcher in a file of the current folder, named as module:attribute: replays, resuming, errors."""

import itertools
import json
import sys

import pytest
import schedlab as sl
from in_process import perform_in_process
from schedlab.bench.records import read
from schedlab.models import PluginError
from schedlab.simulation import parse_dispatcher

COUNT = itertools.count()
ONE_BY_ONE = """
import schedlab as sl
from schedlab.simulation.dispatcher import Decision, Start
{imports}

class OneByOne:
    "First come, first served, at most `most` starts at a time; a job goes to the first nodes that have room."

    name = "one-by-one"

    def __init__(self, most={most}):
        self.most = most

    def begin(self, platform, queues, seed):
        self.platform = platform

    def decide(self, moment):
        free, starts = moment.free.copy(), []
        for job, may_start in zip(moment.waiting, moment.may_start):
            request = [job.request.get(r, 0) for r in self.platform.resources]
            nodes, left = {{}}, job.units
            for n, name in enumerate(self.platform.nodes):
                fits = min([left, *(f // q for f, q in zip(free[n], request) if q > 0)])
                if fits > 0:
                    nodes[name], left = int(fits), left - int(fits)
                    free[n] -= [int(fits) * q for q in request]
            if not may_start or left > 0:
                break
            starts.append(Start(job.id, nodes))
        return Decision(starts[: self.most])


def two_by_two():
    return OneByOne(2)


three_by_three = OneByOne(3)
widest = sl.Policy("widest", lambda workload, expected: -workload.units, reservations=1)


class WithoutDecide:
    name = "without decide"

    def begin(self, platform, queues, seed):
        pass


class WithoutLicence(OneByOne):
    def __init__(self):
        raise RuntimeError("the licence has ended")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the current folder, which is empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def module(folder):
    """Return the name of a module in the current folder, which no other test has imported."""
    name = f"dispatchers_{next(COUNT)}"
    (folder / f"{name}.py").write_text(ONE_BY_ONE.format(imports="", most=1))
    yield name
    sys.modules.pop(name, None)


def records(folder):
    return {r["method"]: r for r in map(read, sorted((folder / "results" / "eurora_99").glob("*.json")))}


def test_a_dispatcher_of_ones_own_is_replayed_verified_and_compared_like_the_shipped_ones(
    bench, folder, module, monkeypatch
):
    perform_in_process(monkeypatch)
    own = [f"{module}:{name}" for name in ("OneByOne", "two_by_two", "three_by_three-d", "widest")]
    code, table, notes = bench("simulate", "eurora_99", "--dispatchers", ",".join(["fcfs", *own]), "--jobs", "2")
    assert code == 0 and all(name in table for name in own) and "[5/5]" in notes
    found = records(folder)
    assert set(found) == {"fcfs", *own}
    for name in own:
        assert (found[name]["status"], found[name]["verified"]) == ("feasible", True)
        assert found[name]["metrics"]["started"] == 99 and len(found[name]["source"]) == 20
    assert "source" not in found["fcfs"]
    assert found[own[2]]["simulation"]["predictor"] == "data-driven"
    assert found[own[0]]["objective"] == pytest.approx(
        sl.simulate("eurora_99", dispatcher=own[0]).metrics.as_dict()["WQT"]
    )
    assert bench("verify", folder / "results" / "eurora_99")[0] == 0


@pytest.mark.slow
def test_a_dispatcher_that_was_changed_is_run_again_and_one_that_was_not_is_resumed(bench, folder, module):
    helper = f"{module}_helper"
    text = ONE_BY_ONE.format(imports=f"from {helper} import MOST\nprint('imported')", most="MOST")
    (folder / f"{module}.py").write_text(text)
    (folder / f"{helper}.py").write_text("MOST = 1\n")
    (folder / "unrelated.py").write_text("MOST = 1\n")
    command = ["simulate", "eurora_99", "--dispatchers", f"easy,{module}:OneByOne", "--json"]
    runs = [bench(*command)]
    (folder / "unrelated.py").write_text("MOST = 2\n")
    runs.append(bench(*command))
    (folder / f"{helper}.py").write_text("MOST = 99\n")  # imported by the module of the dispatcher
    runs.append(bench(*command))
    (folder / f"{module}.py").write_text(f"{text}\n# a remark\n")
    runs.append(bench(*command))
    assert [code for code, _, _ in runs] == [0] * 4
    assert all(
        len([json.loads(line) for line in out.splitlines()]) == 2 for _, out, _ in runs
    )  # and no print of the module
    assert len(list((folder / "results" / "eurora_99").glob(f"{module}*.json"))) == 3
    assert len(list((folder / "results" / "eurora_99").glob("easy*.json"))) == 1
    records = [sorted(out.splitlines()) for _, out, _ in runs]  # printed as they end, in any order
    assert records[0] == records[1] != records[2] != records[3]
    sys.modules.pop(helper, None)


def test_a_dispatcher_of_ones_own_is_a_method_of_bench_run_and_gets_every_seed(bench, folder, module, monkeypatch):
    perform_in_process(monkeypatch)
    code, table, _ = bench(
        "run", "eurora_99", "--methods", f"easy,{module}:OneByOne", "--seeds", "1-2", "--time-limit", "60"
    )
    assert code == 0 and f"{module}:OneByOne" in table
    files = sorted((folder / "results" / "eurora_99").glob("*.json"))
    assert sorted((r["method"], r["seed"]) for r in map(read, files)) == [
        (f"{module}:OneByOne", 1), (f"{module}:OneByOne", 2), ("easy", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere:OneByOne", ["no module nowhere in the current folder or installed", "{module}:OneByOne"]),
        ("{module}.py:OneByOne", ["no module {module}.py", "did you mean {module}:OneByOne"]),
        ("{module}:OneByTwo", ["the module {module}", "OneByTwo", "did you mean OneByOne"]),
        ("{module}:WithoutDecide", ["{module}:WithoutDecide is not a dispatcher: it has no decide"]),
        ("{module}:Start", ["cannot be created: TypeError", "missing 2 required positional arguments"]),
        ("{module}:WithoutLicence", ["cannot be created: RuntimeError: the licence has ended ({module}.py, line "]),
        ("{module}:OneByOne@cpsat", ["did you mean {module}:OneByOne"]),
        ("{module}:OneByOne-x", ["there is no dispatcher"]),
    ],
)
def test_the_error_says_what_is_wrong_with_a_dispatcher_before_any_replay(bench, folder, module, name, words):
    code, _, err = bench("simulate", "eurora_99", "--dispatchers", f"easy,{name.format(module=module)}")
    assert code == 2 and err.startswith("error: ") and err.count("\n") == 1
    assert all(word.format(module=module) in err for word in words), err
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import not_installed_anywhere", "ModuleNotFoundError: No module named 'not_installed_anywhere'"),
        ("def wrong(:", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
    ],
)
def test_a_module_that_cannot_be_imported_is_named_with_the_reason(bench, folder, module, text, why):
    (folder / f"{module}.py").write_text(text)
    code, _, err = bench("simulate", "eurora_99", "--dispatchers", f"{module}:OneByOne")
    assert code == 2 and f"the module {module} cannot be imported: {why}" in err


def test_a_dispatcher_that_fails_during_the_replay_is_a_failed_run_with_its_reason(bench, folder, module):
    text = (folder / f"{module}.py").read_text().replace("free, starts =", "free, starts = 1 / 0,")
    (folder / f"{module}.py").write_text(text)
    code, table, _ = bench("simulate", "eurora_99", "--dispatchers", f"{module}:OneByOne")
    assert code == 1 and "ZeroDivisionError" in table
    assert records(folder)[f"{module}:OneByOne"]["cause"] == "dispatcher"


def test_python_takes_names_classes_and_objects_and_says_what_an_object_lacks(folder, module):
    from_name = sl.simulate("eurora_99", dispatcher=f"{module}:OneByOne")
    kind = type(parse_dispatcher(f"{module}:OneByOne").make())
    for dispatcher in (kind, kind()):
        assert (sl.simulate("eurora_99", dispatcher=dispatcher).start == from_name.start).all()
    with pytest.raises(PluginError, match="is not a dispatcher: it has no name and no begin and no decide"):
        sl.simulate("eurora_99", dispatcher=7)


def test_the_name_of_a_method_is_not_taken_for_a_file_in_the_current_folder(bench, folder, monkeypatch):
    perform_in_process(monkeypatch)
    (folder / "cpsat.py").write_text("1 / 0")
    code, table, _ = bench("run", "eurora_99", "--first", "3", "--methods", "cpsat:pool", "--time-limit", "5")
    assert code == 0 and "cpsat:pool" in table
