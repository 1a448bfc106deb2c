"""Every public function and class, called with wrong types: errors of ours alone, never those of its insides."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import schedlab as sl
from schedlab.models.dispatch.formulations import counts

WRONG: dict[str, Callable[[], object]] = {
    "None": lambda: None,
    "3": lambda: 3,
    "-1": lambda: -1,
    "1.5": lambda: 1.5,
    "nan": lambda: math.nan,
    "text": lambda: "x",
    "empty text": lambda: "",
    "bytes": lambda: b"x",
    "True": lambda: True,
    "list": list,
    "list of None": lambda: [None],
    "list of texts": lambda: ["x"],
    "list of pairs": lambda: [("a", 1)],
    "dict": dict,
    "dict of text": lambda: {"x": "y"},
    "object": object,
    "class": lambda: int,
    "array": lambda: np.array([1.5, math.nan]),
    "table": lambda: pd.DataFrame({"id": ["a"], "submit": [0]}),
    "function": lambda: lambda *args: None,
}
CALLED = ("on_incumbent", "on_limits", "on_progress", "key")  # a class can be called; its errors are the user's


@cache
def given() -> dict[str, Any]:
    """Objects that the valid calls use."""
    plat = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
    jobs = [sl.Job(i, 0, 60, 1, {"cores": 1}, "q", runtime=30, power=100.0) for i in "ab"]
    queue = sl.Queue("q", 60)
    dispatch = sl.Dispatch(plat, jobs, [queue])
    candidate = sl.EvictionCandidate("a", 4, 100, 60, 30)
    cooling = sl.Cooling("flat", (0, 40), (0, 1000), ((0, 500), (0, 500)))
    temperature = sl.StepFunction.constant(20, 0, 7200)
    profit = sl.Profit(dispatch, temperature, cooling, 0.1, 0.5, 7200)
    m = sl.Model("m", horizon=20)
    intervals = [m.interval(name, size=2, optional=True) for name in "abc"]
    return {
        "platform": plat,
        "jobs": jobs,
        "queue": queue,
        "dispatch": dispatch,
        "candidate": candidate,
        "eviction": sl.Eviction([candidate], 2, 300),
        "cooling": cooling,
        "temperature": temperature,
        "profit": profit,
        "schedule": sl.Schedule({"a": 0, "b": 0}, {"a": {"n-1": 1}, "b": {"n-1": 1}}),
        "workload": sl.Workload.of(dispatch),
        "model": m,
        "intervals": intervals,
        "integer": m.integer("x", 0, 5),
        "run": sl.simulate(dispatch),
        "project": sl.Project([sl.Task.single("t", 3, {"r": 1})], [sl.Resource("r", 1)]),
    }


def calls() -> dict[str, Mapping[str, Any]]:
    """A valid call of each public function and class, by its name: all its arguments that matter."""
    g = given()
    a, b, c = g["intervals"]
    limits = {"time_limit": 0.2, "seed": 1, "on_incumbent": None}
    w = g["workload"]
    columns = {name: getattr(w, name) for name in inspect.signature(sl.Workload).parameters}
    return {
        "Assignment": {"model": g["model"], "values": None},
        "register_formulation": {"kind": "knapsack", "name": "mine", "formulation": counts},
        "BatchJob": {
            "id": "a", "nodes": 1, "start": 0, "last_checkpoint": None, "next_checkpoint": 9, "memory": 1, "application_share": 0.5
        },
        "EvictionCandidate": {"id": "a", "nodes": 1, "loss": 1, "system_s": 1, "application_s": 2, "wait_s": 1, "mb_s": 1},
        "Checkpointing": {
            "interval": 3600, "memory": 1, "memory_share": (0.4, 0.9), "application_share": (0.2, 0.6), "file_system_mb_s": 1,
            "node_mb_s": 1, "seed": 1,
        },
        "Cooling": {"name": "c", "temperatures": (0, 40), "powers": (0, 1000), "watts": ((0, 500), (0, 500))},
        "DesiredProfile": {"platform": g["platform"], "steps": {}, "power": None, "end": None},
        "Dispatch": {
            "platform": g["platform"], "jobs": g["jobs"], "queues": [g["queue"]], "objective": "waiting", "now": 0, "running": (),
            "durations": "walltime", "limits": None, "desired": None, "over_cost": None,
        },
        "Eviction": {
            "jobs": [g["candidate"]], "nodes_needed": 1, "deadline_s": 60, "step_s": 60, "now": 0, "file_system_mb_s": None,
            "node_mb_s": None, "shared_bandwidth": False,
        },
        "EvictionPlan": {"strategy": {"a": "keep"}, "start": None},
        "Guide": {"rules": {}, "about": {}},
        "Job": {
            "id": "a", "submit": 0, "walltime": 60, "units": 1, "request": {"cores": 1}, "queue": "q", "earliest_start": None,
            "deadline": None, "windows": (), "runtime": 30, "user": "", "name": "", "power": None, "latest_start": None, "chunks": (), "array": "",
        },
        "Model": {"name": "m", "horizon": 20},
        "Mode": {"name": "m", "duration": 1, "demands": {"r": 1}},
        "Resource": {"name": "r", "capacity": 1, "renewable": True},
        "Task": {"name": "t", "modes": (sl.Mode("1", 1),)},
        "NodeGroup": {"name": "n", "count": 1, "capacity": {"cores": 1}},
        "Platform": {"groups": [sl.NodeGroup("n", 1, {"cores": 1})]},
        "Policy": {
            "name": "p", "key": lambda w, e: w.submit, "strict": False, "reservations": 1, "candidates": None, "ranker": None,
            "shortest_first": False, "corrections": (), "predictor": "walltime", "within_profile": False, "plan": None,
        },
        "Profit": {
            "dispatch": g["dispatch"], "temperature": g["temperature"], "cooling": g["cooling"], "price": 0.1, "energy_price": 0.5,
            "horizon_end": 7200, "watts_per_core": 1.0,
        },
        "Project": {
            "tasks": [sl.Task.single("t", 3, {"r": 1})], "resources": [sl.Resource("r", 1)], "precedences": ()
        },
        "Queue": {"name": "q", "ewt": 60, "daily": (), "whole_run": False},
        "Running": {"job": g["jobs"][0], "start": 0, "nodes": {"n-1": 1}, "end": 60},
        "Schedule": {"start": {"a": 0}, "nodes": {"a": {"n-1": 1}}},
        "StepFunction": {"times": (0, 10), "values": (1, 2), "end": 20},
        "Workload": columns,
        "account": {"problem": g["profit"], "schedule": g["schedule"], "end": None},
        "all_different": {"expressions": [g["integer"], g["integer"] + 1]},
        "all_of": {"conditions": [g["integer"] <= 3, g["integer"] >= 1]},
        "always_constant": {"interval": a, "start_aligned": False, "end_aligned": False},
        "always_equal": {"interval": a, "value": 1, "start_aligned": False, "end_aligned": False},
        "always_in": {"level": sl.pulse(a, 1), "lo": 0, "hi": 2, "window": (0, 9), "during": None},
        "any_of": {"conditions": [g["integer"] <= 3, g["integer"] >= 5]},
        "breaks": {"windows": [(3, 5)], "percent": 0},
        "forbid_end": {"interval": a, "windows": [(3, 5)]},
        "forbid_start": {"interval": a, "windows": [(3, 5)]},
        "in_domain": {"expression": g["integer"], "windows": [1, (3, 5)], "interval": a},
        "intensity": {"interval": a, "work": 1, "steps": [(0, 100), (5, 50)]},
        "isomorphism": {"first": [a, b], "second": [c]},
        "span": {"interval": a, "parts": [b, c]},
        "at_end": {"interval": a, "height": 1},
        "at_start": {"interval": a, "height": 1},
        "count": {"expressions": [g["integer"], g["integer"] + 1], "value": 2},
        "product": {"left": g["integer"], "right": g["integer"]},
        "pulse": {"interval": a, "height": 1},
        "quotient": {"dividend": g["integer"], "divisor": 2},
        "remainder": {"dividend": g["integer"], "divisor": 2},
        "same_sequence": {"one": sl.sequence([a, b]), "other": sl.sequence([b, a])},
        "sequence": {"intervals": [a, b], "types": [0, 1]},
        "state_function": {"uses": [sl.always_equal(a, 1)], "transitions": [[0, 2], [2, 0]]},
        "step_at": {"time": 0, "amount": 2},
        "table": {"expressions": [g["integer"]], "tuples": [(1,), (3,)]},
        "all_or_none": {"intervals": [a, b]},
        "alternative": {"interval": a, "options": [b, c], "count": 1},
        "compile": {"model": g["model"], "backend": "cpsat"},
        "composite": dict(what=g["dispatch"], main="waiting", keep={"makespan": 1.1}, method="multi-search", **limits),
        "cumulative": {"intervals": [a, b], "demands": [1, 1], "capacity": 1},
        "delay_search": {"problem": g["dispatch"], "delay": 1, "warm_start": None, "time_limit": 0.2, "on_incumbent": None},
        "element": {"array": [1, 2], "index": g["integer"]},
        "end_before_end": {"before": a, "after": b, "delay": 0, "at_most": None},
        "end_before_start": {"before": a, "after": b, "delay": 0, "at_most": None},
        "explain": {
            "what": g["dispatch"], "objective_limit": None, "backend": "cpsat", "time_limit": 1, "threads": 1, "seed": 0,
            "on_progress": None,
        },
        "first_solution": {"problem": g["dispatch"], "order": "est"},
        "forbid_extent": {"interval": a, "windows": [(1, 2)]},
        "holds": {"condition": g["integer"] <= 3},
        "implies": {"premise": g["integer"] <= 3, "conclusion": g["integer"] <= 4},
        "lns": dict(
            problem=g["dispatch"], threads=1, warm_start=None, rounds=1, backend=None, operators=None, selection=None,
            acceptance=None, stopping=None, population=None, turn_seconds=0.15, **limits,
        ),
        "load": {"folder": "eurora_99", "drop_impossible": False},
        "max": {"first": [a.end, b.end]},
        "min": {"first": [a.end, b.end]},
        "sum": {"terms": [a.end, b.end], "weights": None},
        "multi_search": {
            "problem": g["dispatch"], "time_limit": 0.2, "warm_start": None, "on_incumbent": None, "power": None, "profit": None
        },
        "no_overlap": {"intervals": [a, b], "transitions": None},
        "overlap": {"interval": a, "lo": 1, "hi": 2},
        "piecewise": {"x": a.end, "points": [(0, 0), (9, 9)]},
        "positive_part": {"x": a.end},
        "read_fjsplib": {"path": "absent"},
        "read_jsplib": {"path": "absent"},
        "read_mmlib": {"path": "absent"},
        "read_patterson": {"path": "absent"},
        "read_psplib": {"path": "absent"},
        "read_results": {"folder": "absent"},
        "read_swf": {"path": "absent", "cores": 1, "memory": None},
        "read_trace": {"path": "absent", "format": None, "cores": None, "memory": None, "zone": None},
        "relaxation_search": dict(
            problem=g["dispatch"], threads=1, warm_start=None, backend="cpsat", largest=100, **limits
        ),
        "simulate": {
            "workload": g["dispatch"], "platform": None, "dispatcher": "easy", "predictor": None, "allocator": "best-fit", "seed": 0,
            "kill_at_walltime": False, "charge_decisions": False, "period": None, "events": None, "reservations": None,
            "requeue": "restart", "desired": None, "power_cap": None, "on_progress": None, "running": None, "begin": None, "users": None,
            "preemption": None, "node_policy": None, "switching": None,
        },
        "solve": dict(
            what=g["dispatch"], method="multi-search", backend=None, threads=None, warm_start=None, gap_limit=None,
            deterministic_limit=None, parameters=None, **limits,
        ),
        "start_before_end": {"before": a, "after": b, "delay": 0, "at_most": None},
        "start_before_start": {"before": a, "after": b, "delay": 0, "at_most": None},
        "synchronize": {"interval": a, "others": [b, c]},
        "trade_off": {"problem": g["eviction"]},
    }  # fmt: skip


def methods() -> dict[str, tuple[Callable[..., Any], Mapping[str, Any]]]:
    """Methods of public objects, each with a valid call."""
    g = given()
    m, known = g["model"], sl.trade_off(g["eviction"])
    w = sl.Workload.of(sl.load("eurora_99").dispatch)
    big = sl.load("eurora_99").platform
    ran = replace(w, recorded_start=w.submit)
    return {
        "Dispatch.at": (g["dispatch"].at, {"t": 0, "first": 1}),
        "Dispatch.replace": (g["dispatch"].replace, {"objective": "waiting", "jobs": g["jobs"], "now": 0}),
        "Dispatch.verify": (g["dispatch"].verify, {"schedule": g["schedule"]}),
        "Dispatch.value": (g["dispatch"].value, {"schedule": g["schedule"]}),
        "Profit.replace": (g["profit"].replace, {"dispatch": g["dispatch"], "price": 1}),
        "Profit.verify": (g["profit"].verify, {"schedule": g["schedule"]}),
        "Profit.value": (g["profit"].value, {"schedule": g["schedule"]}),
        "Eviction.replace": (g["eviction"].replace, {"nodes_needed": 1}),
        "Eviction.verify": (g["eviction"].verify, {"schedule": sl.EvictionPlan({"a": "kill"})}),
        "Eviction.value": (g["eviction"].value, {"schedule": sl.EvictionPlan({"a": "kill"})}),
        "Project.verify": (g["project"].verify, {"schedule": sl.Schedule({"t": 0}, {"t": {"1": 1}})}),
        "Project.value": (g["project"].value, {"schedule": sl.Schedule({"t": 0}, {"t": {"1": 1}})}),
        "Eviction.from_trace": (
            sl.Eviction.from_trace,
            {"trace": ran, "at": int(w.submit[5]), "nodes_needed": 1, "deadline_s": 60, "step_s": 60, "checkpointing": None},
        ),
        "Job.of_chunks": (
            sl.Job.of_chunks, {"id": "h", "submit": 0, "walltime": 60, "chunks": [(1, {"cores": 1})], "queue": "q"}
        ),
        "Task.single": (sl.Task.single, {"name": "t", "duration": 1, "demands": {"r": 1}}),
        "TradeOff.plan": (known.plan, {"nodes_needed": 1, "deadline_s": 60}),
        "TradeOff.deadlines": (known.deadlines, {"nodes_needed": 1}),
        "Workload.of": (sl.Workload.of, {"problem": g["dispatch"], "name": "w"}),
        "Workload.first": (w.first, {"n": 1}),
        "Workload.between": (w.between, {"begin": 0, "end": 90000}),
        "Workload.on": (w.on, {"platform": big}),
        "Workload.load": (w.load, {"platform": big}),
        "Workload.at_load": (w.at_load, {"load": 0.5, "platform": big}),
        "Workload.beginning": (w.beginning, {"begin": 0, "running": ()}),
        "Workload.dispatch": (w.dispatch, {"platform": big, "objective": "waiting"}),
        "Platform.total": (g["platform"].total, {"resource": "cores"}),
        "Schedule.from_json": (sl.Schedule.from_json, {"data": {"a": {"start": 0}}}),
        "StepFunction.constant": (sl.StepFunction.constant, {"value": 1, "begin": 0, "end": 9}),
        "Model.add": (sl.Model("other").add, {"constraint": g["integer"] <= 9}),
        "Model.minimize": (lambda **k: sl.Model("other").minimize(**k), {"objective": 3}),
        "Model.interval": (m.interval, {"size": 2, "start": None, "optional": False}),
        "Model.integer": (m.integer, {"lo": 1, "hi": 2}),
        "Simulation.schedule": (g["run"].schedule, {}),
    }  # fmt: skip


def outcomes(function: Callable[..., Any], valid: Mapping[str, Any]) -> Iterator[tuple[str, str, BaseException]]:
    """Call a function with each wrong value in each of its arguments; yield the errors that are not ours."""
    for argument in valid:
        for what, make in WRONG.items():
            if what == "class" and argument in CALLED:
                continue
            try:
                function(**{**valid, argument: make()})
            except (sl.SchedlabError, OSError):
                continue
            except Exception as e:
                yield argument, what, e


RECORDS = (  # what calls return; nobody makes them by hand, and they keep what they are given
    "Composite", "Conflict", "Explanation", "Incumbent", "Instance", "Integer", "Interval", "Result", "Simulation",
)  # fmt: skip


def test_every_public_name_has_a_call() -> None:
    errors = {n for n in dir(sl) if isinstance(v := getattr(sl, n), type) and issubclass(v, BaseException)}
    public = {n for n in dir(sl) if callable(getattr(sl, n)) and not n.startswith("_")} - {"Problem", "Value"} - errors
    assert public - set(RECORDS) == set(calls())


@pytest.mark.parametrize("name", sorted(calls()))
def test_wrong_types(name: str) -> None:
    function, valid = getattr(sl, name), calls()[name]
    if not name.startswith("read_"):
        function(**valid)
    else:
        with pytest.raises((OSError, sl.SchedlabError)):
            function(**valid)
    assert [(a, w, repr(e)) for a, w, e in outcomes(function, valid)] == []


@pytest.mark.parametrize("name", sorted(methods()))
def test_wrong_types_of_methods(name: str) -> None:
    function, valid = methods()[name]
    if name not in ("Model.interval", "Model.integer", "Model.add", "Eviction.from_trace"):
        function(**valid)
    fixed = {"name": "z"} if name in ("Model.interval", "Model.integer") else {}
    faults = []
    for k, (a, w, e) in enumerate(outcomes(lambda **kw: function(**fixed, **kw), valid)):
        faults.append((k, a, w, repr(e)))
    assert faults == []
