"""Wrong uses of the public functions: each is an error of ours that names the argument, the value and what is expected."""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import schedlab as sl
from made_heuristics import made
from schedlab.heuristics import HEURISTICS
from schedlab.models import hint, similar
from schedlab.models.registry import Registry
from schedlab.simulation.dispatchers.registry import DISPATCHERS

PLATFORM = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
QUEUE = sl.Queue("q", 60)
JOBS = [sl.Job(i, 0, 60, 1, {"cores": 1}, "q", runtime=30) for i in "ab"]
P = sl.Dispatch(PLATFORM, JOBS, [QUEUE])
TABLE = pd.DataFrame({"id": ["a", "b"], "submit": [0, 5], "walltime": [60, 60], "cores": [1, 2]})
CANDIDATE = sl.EvictionCandidate("a", 4, 100, 60, 30)
E = sl.Eviction([CANDIDATE], 2, 300)
PROJECT = sl.Project([sl.Task.single("t", 3, {"r": 1})], [sl.Resource("r", 1)])


@cache
def model() -> tuple[sl.Model, sl.Interval]:
    m = sl.Model("m", horizon=9)
    return m, m.interval("a", size=2)


def job(**changes: Any) -> sl.Job:
    return dataclasses.replace(JOBS[0], **changes)


def dispatch(*jobs: sl.Job, queues: Any = (QUEUE,), platform: Any = PLATFORM, **others: Any) -> sl.Dispatch:
    return sl.Dispatch(platform, jobs or JOBS, queues, **others)


Use = tuple[Callable[[], object], type[Exception], str]

VALUES: dict[str, Use] = {
    "power text": (lambda: dispatch(job(power="3kW")), ValueError, "job 'a': its power is '3kW'.*at least 0"),
    "power nan": (lambda: dispatch(job(power=math.nan)), ValueError, "job 'a': its power is nan.*at least 0"),
    "power below 0": (lambda: dispatch(job(power=-3)), ValueError, "job 'a': its power is -3.*at least 0"),
    "power of a running job": (
        lambda: dispatch(running=[sl.Running(job(id="r", power=[]), 0, {"n-1": 1}, 60)]), ValueError, "job 'r': its power",
    ),
    "request below 0": (lambda: dispatch(job(request={"cores": -1})), ValueError, "requests -1 cores; at least 0"),
    "unknown resource": (lambda: dispatch(job(request={"gpus": 1})), ValueError, "requests 1 gpus; the platform has"),
    "misspelt resource": (lambda: dispatch(job(request={"core": 1})), ValueError, "did you mean cores"),
    "walltime 0": (lambda: dispatch(job(walltime=0)), ValueError, "job 'a': walltime is 0 s; at least 1 s is expected"),
    "runtime below 0": (lambda: dispatch(job(runtime=-1)), ValueError, "job 'a': runtime is -1 s; at least 0 s"),
    "first below 0": (lambda: P.at(0, first=-1), ValueError, "first of at is -1; expected at least 0"),
    "first a text": (lambda: P.at(0, first="3"), TypeError, "first of at is '3'; expected a whole number or None"),
    "no time": (lambda: P.at("noon"), ValueError, "t of at is 'noon'; expected a time of day such as '12:00'"),
    "a fraction of a second": (lambda: P.at(1.5), TypeError, "t of at is 1.5; a whole number"),
    "rounds": (lambda: sl.lns(P, rounds=1.5), TypeError, "rounds of lns is 1.5; expected a whole number"),
    "rounds 0": (lambda: sl.lns(P, rounds=0), ValueError, "rounds of lns is 0; expected at least 1"),
    "rounds 0 of solve": (lambda: sl.solve(P, "lns", rounds=0), ValueError, "rounds of lns is 0; expected at least 1"),
    "rounds 0 of a text": (lambda: sl.solve(P, "lns:rounds=0"), ValueError, "rounds of lns is 0; expected at least 1"),
    "rounds 1.5 of solve": (lambda: sl.solve(P, "lns", rounds=1.5), ValueError, "rounds of lns is 1.5; expected a whole"),
    "seed None": (lambda: sl.lns(P, seed=None), TypeError, "seed of lns is None; expected a whole number"),
    "seed below 0": (lambda: sl.lns(P, seed=-1), ValueError, "seed of lns is -1; expected at least 0"),
    "seed None of solve": (lambda: sl.solve(P, seed=None), TypeError, "seed is None; expected a whole number"),
    "seed of simulate": (lambda: sl.simulate(P, seed="x"), TypeError, "seed of simulate is 'x'; expected a whole number"),
    "threads 0": (lambda: sl.relaxation_search(P, threads=0), ValueError, "threads of relaxation_search is 0"),
    "delay 0": (lambda: sl.delay_search(P, delay=0), ValueError, "the delay is 0 s; it must be at least 1 s"),
    "time limit nan": (lambda: sl.multi_search(P, time_limit=math.nan), TypeError, "time_limit of multi_search is nan"),
    "time limit below 0": (lambda: sl.multi_search(P, time_limit=-1), ValueError, "time_limit of multi_search is -1"),
    "load": (lambda: PLATFORM and sl.Workload.of(P).at_load("x", PLATFORM), ValueError, "offered load of x"),
    "name of an interval": (lambda: sl.Model("m").interval(3, size=2), ValueError, "the name of an interval is 3"),
    "optional": (lambda: sl.Model("m").interval("a", size=2, optional="no"), ValueError, "optional is 'no'"),
    "no size": (lambda: sl.Model("m").interval("a"), ValueError, "interval 'a' has no size"),
}  # fmt: skip

TYPES: dict[str, Use] = {
    "queues text": (lambda: dispatch(queues="q"), TypeError, "queues of Dispatch is 'q'; expected a list of Queue"),
    "queues dict": (lambda: dispatch(queues={"q": 600}), TypeError, "queues of Dispatch is .*; expected a list of Queue"),
    "one queue": (lambda: dispatch(queues=QUEUE), TypeError, "queues of Dispatch is Queue.*; expected a list of Queue"),
    "names of queues": (lambda: dispatch(queues=["q"]), TypeError, r"queues\[0\] of Dispatch is 'q'; expected a Queue"),
    "groups": (
        lambda: sl.Dispatch(list(PLATFORM.groups), JOBS, [QUEUE]), TypeError, "platform of Dispatch .*expected a Platform"
    ),
    "one group": (lambda: sl.Platform(PLATFORM.groups[0]), TypeError, "groups of Platform .*expected a list of NodeGroup"),
    "no platform": (lambda: sl.Dispatch(None, JOBS, [QUEUE]), TypeError, "platform of Dispatch is None"),
    "exchanged": (lambda: sl.Dispatch(PLATFORM, [QUEUE], JOBS), TypeError, r"jobs\[0\] of Dispatch is Queue.*a Job"),
    "exchanged places": (lambda: sl.Dispatch(JOBS, PLATFORM, [QUEUE]), TypeError, "platform of Dispatch"),
    "a table": (lambda: sl.Dispatch(PLATFORM, TABLE, [QUEUE]), TypeError, "Dispatch.from_pandas"),
    "a table of evictions": (lambda: sl.Eviction(TABLE, 1, 60), TypeError, "Eviction.from_pandas"),
    "a table to simulate": (lambda: sl.simulate(TABLE), TypeError, "workload of simulate.*Workload.from_pandas"),
    "jobs to simulate": (lambda: sl.simulate(JOBS), TypeError, r"Dispatch\(platform, jobs, queues\)"),
    "a project to simulate": (lambda: sl.simulate(PROJECT), TypeError, "workload of simulate is Project"),
    "a platform": (lambda: sl.simulate(P, 3), TypeError, "platform of simulate is 3; expected a Platform"),
    "two dispatchers": (lambda: sl.simulate(P, "easy", "fcfs"), TypeError, "give the dispatcher once"),
    "tuples as tasks": (lambda: sl.Project([("a", 1)], []), TypeError, r"tasks\[0\] of Project is \('a', 1\); expected a Task"),
    "tuples as modes": (
        lambda: sl.Project([sl.Task("a", [("m", 1)])], []), TypeError, r"modes\[0\] of task 'a' is .*expected a Mode"
    ),
    "precedences": (lambda: sl.Project([], [], ["ab"]), TypeError, r"precedences\[0\] of Project is 'ab'"),
    "a profit of a platform": (
        lambda: sl.Profit(PLATFORM, None, None, 1, 1), TypeError, "dispatch of Profit is Platform.*expected a Dispatch"
    ),
    "a problem to compile": (lambda: sl.compile(P, "cpsat"), TypeError, r"expected a Model; .*p.formulations\[NAME\]"),
    "no schedule": (lambda: P.verify(None), TypeError, "schedule of verify is None; expected a Schedule"),
    "a dict to verify": (lambda: P.verify({}), TypeError, "schedule of verify is {}; expected a Schedule"),
    "eviction, no schedule": (lambda: E.verify(None), TypeError, "schedule of verify is None"),
    "project, no schedule": (lambda: PROJECT.verify(None), TypeError, "schedule of verify is None"),
    "value of None": (lambda: P.value(None), TypeError, "schedule of value is None"),
    "part of a schedule": (
        lambda: P.value(sl.Schedule({"a": 0})), KeyError, "job 'b' has no start in the schedule"
    ),
    "part of a project": (lambda: PROJECT.value(sl.Schedule({})), KeyError, "task 't' has no start"),
    "part of a plan": (lambda: E.value(sl.EvictionPlan({})), KeyError, "job 'a' has no strategy in the plan"),
    "a foreign job": (lambda: E.value(sl.EvictionPlan({"a": "keep", "x": "kill"})), KeyError, "job 'x'"),
    "trade_off": (lambda: sl.trade_off(P), TypeError, "trade_off is of kind 'dispatch'.*expected an eviction problem"),
    "lns of a project": (lambda: sl.lns(PROJECT), TypeError, "of kind 'project'.*dispatch or profit problem"),
    "first_solution of an eviction": (lambda: sl.first_solution(E), TypeError, "of kind 'eviction'"),
    "account of a dispatch": (lambda: sl.account(P, None), TypeError, "of kind 'dispatch'.*expected a profit problem"),
    "a class": (lambda: sl.first_solution(sl.Dispatch), TypeError, "the problem of first_solution"),
    "on_incumbent": (lambda: sl.solve(P, on_incumbent=3), TypeError, "on_incumbent of solve is 3; expected a function"),
    "on_incumbent of lns": (lambda: sl.lns(P, on_incumbent=3), TypeError, "on_incumbent of lns is 3"),
    "on_progress": (lambda: sl.simulate(P, on_progress=3), TypeError, "on_progress of simulate is 3"),
    "on_progress of explain": (lambda: sl.explain(P, on_progress=3), TypeError, "on_progress of explain is 3"),
    "load None": (lambda: sl.load(None), TypeError, "folder of load is None; expected a text or a path"),
    "read None": (lambda: sl.read_trace(None), TypeError, "path of read_trace is None"),
    "a name": (lambda: sl.Assignment(model()[0], {model()[1]: 0})["a"], ValueError, "'a' is not a variable .*name of one"),
    "another name": (lambda: sl.Assignment(model()[0], {model()[1]: 0})["b"], ValueError, "did you mean|variables are a"),
    "no list": (lambda: sl.no_overlap(3), ValueError, "the intervals must be a list, not 3"),
    "parameters": (lambda: sl.solve(P, "cpsat", parameters=3), TypeError, "parameters of solve is 3"),
}  # fmt: skip

KEYWORDS: dict[str, Use] = {
    "replace": (lambda: P.replace(objectve="waiting"), TypeError, "replace has no argument 'objectve'; did you mean objective"),
    "replace of an eviction": (lambda: E.replace(nodes_neded=1), TypeError, "did you mean nodes_needed"),
    "compile": (lambda: sl.compile(model()[0], "highs", lowring="x"), TypeError, "did you mean lowering"),
    "compile for cpsat": (lambda: sl.compile(model()[0], "cpsat", lowring="x"), TypeError, "no argument 'lowring'"),
    "solve": (lambda: sl.solve(P, time_limt=3), TypeError, "did you mean time_limit"),
    "solve by lns": (lambda: sl.solve(P, "lns", ronds=3), TypeError, "has no option ronds; .*did you mean rounds"),
    "simulate": (lambda: sl.simulate(P, dispacher="easy"), TypeError, "simulate has no argument 'dispacher'; did you mean dispatcher"),
    "explain": (lambda: sl.explain(P, time_limt=3), TypeError, "did you mean time_limit"),
    "composite": (lambda: sl.composite(P, "makespan", {"waiting": 1.1}, tim_limit=3), TypeError, "did you mean time_limit"),
    "lns": (lambda: sl.lns(P, ronds=3), TypeError, "lns has no argument 'ronds'; did you mean rounds"),
    "relaxation_search": (lambda: sl.relaxation_search(P, larges=3), TypeError, "no argument 'larges'"),
    "Dispatch": (lambda: sl.Dispatch(PLATFORM, JOBS, [QUEUE], objectiv="waiting"), TypeError, "did you mean objective"),
    "Job": (lambda: sl.Job("a", 0, 60, 1, {}, "q", powr=3), TypeError, "Job has no argument 'powr'; did you mean power"),
    "Policy": (lambda: sl.Policy("p", reservation=1), TypeError, "did you mean reservations"),
    "Lns": (lambda: sl.methods.Lns(ronds=3), TypeError, "did you mean rounds"),
    "Model": (lambda: sl.Model("m", horzon=3), TypeError, "did you mean horizon"),
    "interval": (lambda: sl.Model("m").interval("a", sise=3), TypeError, "interval has no argument 'sise'; did you mean size"),
    "end_before_start": (lambda: sl.end_before_start(model()[1], model()[1], dely=3), TypeError, "did you mean delay"),
    "no_overlap": (lambda: sl.no_overlap([], transition=[]), TypeError, "did you mean transitions"),
    "alternative": (lambda: sl.alternative(model()[1], [], cont=2), TypeError, "did you mean count"),
    "read_trace": (lambda: sl.read_trace("x", formt="swf"), TypeError, "did you mean format"),
    "column": (
        lambda: sl.Dispatch.from_pandas(PLATFORM, TABLE.assign(cors=1), [QUEUE]), ValueError, "unknown column 'cors'.*cores"
    ),
}  # fmt: skip

NAMES: dict[str, Use] = {
    "no queues": (lambda: dispatch(queues=[]), ValueError, "queue 'q' is not declared; no queues are declared"),
    "no resources": (
        lambda: dispatch(platform=sl.Platform([sl.NodeGroup("n", 2, {})])), ValueError, "the platform has no resources"
    ),
    "no resources of a project": (
        lambda: sl.Project([sl.Task.single("t", 1, {"r": 1})], []), ValueError, "the project has no resources"
    ),
    "no tasks": (lambda: sl.Project([], [], [("a", "b")]), ValueError, "no task 'a'; the project has no tasks"),
    "queue": (lambda: dispatch(job(queue="p")), ValueError, "queue 'p' is not declared; known are q"),
    "objective": (lambda: P.replace(objective="makespam"), ValueError, "did you mean makespan"),
    "instance": (lambda: sl.load("eurora99"), LookupError, "did you mean eurora_99"),
    "dispatcher": (lambda: sl.simulate(P, "esy"), LookupError, "did you mean easy"),
    "heuristic": (lambda: HEURISTICS["lnss"], KeyError, "there is no heuristic 'lnss'; did you mean lns"),
    "allocator": (lambda: sl.simulate(P, allocator="bestfit"), LookupError, "did you mean best-fit"),
    "resource": (lambda: PLATFORM.total("core"), LookupError, "there is no resource 'core'; did you mean cores"),
}  # fmt: skip


@pytest.mark.parametrize("use", [*VALUES.values(), *TYPES.values(), *KEYWORDS.values(), *NAMES.values()],
                         ids=[*VALUES, *TYPES, *KEYWORDS, *NAMES])  # fmt: skip
def test_wrong_uses_are_told(use: Use) -> None:
    call, kind, words = use
    with pytest.raises(kind, match=words) as caught:
        call()
    assert isinstance(caught.value, sl.SchedlabError)


def test_no_message_ends_in_an_empty_list() -> None:
    assert hint("x", []) == "there are none"
    assert similar("x", []) == [] and similar(3, ["x"]) == []
    with pytest.raises(LookupError, match="there is no thing 'x'; there are none"):
        raise sl.UnknownName("thing", "x", [])


@pytest.mark.parametrize("time", [43200, "43200", "12:00", "12:00:00"])
def test_a_moment_is_given_as_on_the_command_line(time: int | str) -> None:
    day = sl.load("eurora_99").dispatch
    assert day.at(time, first=3).now == 43200
    assert len(day.at(time, first=0).jobs) == 0


@pytest.mark.parametrize("of", [lambda p: p, lambda p: sl.Instance("here", p.kind, p), lambda p: None])
def test_searches_take_a_problem_an_instance_or_a_name(of: Callable[[Any], Any]) -> None:
    def given(name: str) -> Any:
        return of(sl.load(name).problem) or name

    assert sl.first_solution(given("eurora_99")).start
    assert sl.multi_search(given("eurora_99"), time_limit=1).status == "feasible"
    assert sl.lns(given("eurora_99"), rounds=1).status == "feasible"
    assert sl.delay_search(given("eurora_99"), time_limit=0.1).status == "feasible"
    assert sl.trade_off(given("theta_24")).plan().status == "optimal"
    account = sl.account(given("profit_small"), sl.first_solution(given("profit_small")))
    assert account.core_hours > 0


def test_the_second_position_of_simulate_may_be_the_dispatcher() -> None:
    assert sl.simulate("eurora_99", "fcfs").dispatcher == "fcfs"
    assert sl.simulate("eurora_99", sl.Policy("mine")).dispatcher == "mine"
    assert sl.simulate("eurora_99", None, "fcfs").dispatcher == "fcfs"


def test_a_log_is_replayed_as_it_is_read(tmp_path: Path) -> None:
    log = tmp_path / "jobs.csv"
    log.write_text("id,submit,units,cores,walltime,runtime\na,0,1,4,3600,60\nb,5,1,4,60,9\n")
    run = sl.simulate(sl.read_trace(log), PLATFORM, "easy")
    assert run.violations == [] and len(run.start) == 2


def test_jobs_are_read_from_tables() -> None:
    table = TABLE.assign(runtime=[30, None], power=[None, 1.5], deadline=[None, 900])
    p = sl.Dispatch.from_pandas(PLATFORM, table, [QUEUE], "waiting", now=3)
    assert [(j.id, j.units, j.queue, dict(j.request), j.runtime, j.power, j.deadline) for j in p.jobs] == [
        ("a", 1, "q", {"cores": 1}, 30, None, None),
        ("b", 1, "q", {"cores": 2}, None, 1.5, 900),
    ]
    assert (p.objective, p.now) == ("waiting", 3)
    with pytest.raises(ValueError, match="no column 'queue'"):
        sl.Dispatch.from_pandas(PLATFORM, table, [QUEUE, sl.Queue("r", 60)])
    with pytest.raises(TypeError, match=r"table of Dispatch.from_pandas is \[\]"):
        sl.Dispatch.from_pandas(PLATFORM, [], [QUEUE])
    w = sl.Workload.from_pandas(TABLE.assign(units=1, runtime=[3, 4]).rename(columns={"id": "job"}))
    assert w.ids == ("a", "b") and w.request.tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="row 1: runtime is 'x'"):
        sl.Workload.from_pandas(TABLE.assign(units=1, runtime=[3, "x"]))
    running = pd.DataFrame({"job": ["a"], "nodes": [4], "loss": [100], "system_s": [60.0], "application_s": [None]})
    assert sl.Eviction.from_pandas(running, 2, 300).jobs == (sl.EvictionCandidate("a", 4, 100, 60, None),)
    batch = pd.DataFrame({"id": ["a"], "nodes": [4], "start": [0], "memory": [1], "application_share": [0.5]})
    physical = sl.Eviction.from_pandas(batch, 2, 300, now=9, file_system_mb_s=1, node_mb_s=1)
    assert isinstance(physical.jobs[0], sl.BatchJob)


def test_the_objective_is_one_attribute() -> None:
    day = sl.load("eurora_99").dispatch.at("12:00", first=3)
    assert day.objective == "weighted-wait" and f"{day.objective}" == "weighted-wait"
    schedule = sl.first_solution(day)
    assert day.value(schedule) == sl.solve(day, "first-solution:est").objective
    copy = pickle.loads(pickle.dumps(day))
    assert copy == day and copy.value(schedule) == day.value(schedule)
    assert not hasattr(day, "aim") and "objective='waiting'" in repr(day.replace(objective="waiting"))


def test_seconds_are_a_number_everywhere() -> None:
    r = sl.solve(P, "multi-search")
    run = sl.simulate(P)
    assert all(isinstance(each.seconds, float) for each in (r, run, r.incumbents[0], sl.explain(P)))
    assert r.phases["total"] == r.seconds and set(r.phases) == {"build", "lower", "solve", "total"}


def test_a_table_has_the_same_columns_with_and_without_an_answer() -> None:
    for problem, method in (
        (P, "multi-search"),
        (E, "greedy"),
        (PROJECT, "serial-sgs:lst"),
        ("profit_small", "multi-search"),
    ):
        answer = sl.solve(problem, method)
        without = dataclasses.replace(answer, schedule=None, assignment=None, status="unknown")
        assert list(answer.to_pandas()) == list(without.to_pandas()), method
        faulty = dataclasses.replace(answer, status="error")
        assert list(faulty.to_pandas()) == list(answer.to_pandas()), method
    m, _ = model()
    assert list(sl.solve(m).to_pandas()) == list(dataclasses.replace(sl.solve(m), assignment=None).to_pandas())
    assert "job" in sl.simulate(P).to_pandas() and "job" in sl.solve(P, "multi-search").to_pandas()


def test_names_of_ours_are_not_replaced_in_silence() -> None:
    lns = HEURISTICS["lns"]
    for value in (lns, 3):
        with pytest.raises(ValueError, match=r"the heuristic 'lns' belongs to schedlab.*replace=True"):
            HEURISTICS.register("lns", value)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="was not added in this process"):
        HEURISTICS.unregister("lns")
    with pytest.raises(
        sl.SchedlabError, match=r"the heuristic mine is not a subclass of schedlab.heuristics.Heuristic"
    ):
        HEURISTICS.register("mine", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the name of the heuristic is 3; expected a text"):
        HEURISTICS.register(3, lns)
    HEURISTICS.register("mine", lns)
    HEURISTICS.register(
        "mine", made(lambda problem, call: None)
    )  # what was added in this process may be replaced: a cell that runs again
    HEURISTICS.unregister("mine")
    assert "mine" not in HEURISTICS and HEURISTICS["lns"] is lns
    with pytest.raises(ValueError, match="the dispatcher 'easy' belongs to schedlab"):
        DISPATCHERS.register("easy", sl.Policy("easy"))
    with pytest.raises(TypeError, match=r"a heuristic is not added by assignment; write register\('mine', ...\)"):
        HEURISTICS["mine"] = lns
    with pytest.raises(TypeError, match=r"a dispatcher is not removed by del; write unregister\('easy'\)"):
        del DISPATCHERS["easy"]
    own: Registry[int] = Registry("number", "schedlab.numbers", {"one": 1})
    own.register("one", 2, replace=True)
    assert own["one"] == 2


def test_the_objective_is_a_name_and_value_gives_what_a_schedule_is_worth() -> None:
    for problem, method in ((P, "multi-search"), (PROJECT, "serial-sgs:lft"), (E, "greedy")):
        solved = sl.solve(problem, method)
        assert problem.value(solved.schedule) == solved.objective  # type: ignore[attr-defined]
    assert type(P.objective) is str and pickle.loads(pickle.dumps(P)).objective == P.objective


def test_dir_has_the_public_names_alone() -> None:
    names = {name for name in dir(sl) if not name.startswith("__")}
    assert set(sl.__all__) | {"max", "min", "sum", "compile", "bench", "heuristics", "instances", "simulation"} <= names
    assert not names & {
        "Any",
        "Path",
        "import_module",
        "names_later",
        "annotations",
        "TYPE_CHECKING",
        "LATER",
        "PACKAGES",
    }
    assert all(hasattr(sl, name) for name in names)
    assert set(dir(sl.heuristics)) == set(sl.heuristics.__all__)


@pytest.mark.parametrize("backend", ["cpsat", "highs"])
def test_compiled_models_print_short(backend: str) -> None:
    text = repr(sl.compile(model()[0], backend))
    assert "variable" in text and " object at " not in text and len(text) <= 120


def test_results_of_replays_and_accounts_print_short() -> None:
    run = sl.simulate("eurora_99")
    profit = sl.load("profit_small").profit
    account = sl.account(profit, sl.first_solution(profit))
    for value in (run.metrics, run.decisions, run.placement, account, run.metrics.wait, HEURISTICS):
        assert len(repr(value)) <= 120 and " object at " not in repr(value) and "\n" not in repr(value)
