"""The replays of the study, one file each, with their accounts in all scenarios that share their decisions."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from schedlab.instances import Instance, Workload
from schedlab.instances.files.reading import content_of
from schedlab.instances.files.writing import write_whole
from schedlab.models import Profit
from schedlab.models.step_function import Tariff
from schedlab.simulation import Simulation, parse_dispatcher, simulate
from schedlab.simulation.energy import Centre, Machine, Runs, account, power_of
from schedlab.simulation.node_policies import NODE_POLICIES
from schedlab.simulation.records import OffIntervals

from .curves import curves

RULES = tuple(f"rule:{rule}{kind}" for rule in ("est", "wt", "profit") for kind in ("", "-strict"))
SCENARIOS = tuple(f"{plant},{season},cheap" for season in ("summer", "winter") for plant in ("air", "hybrid"))
IDLE = (0.0, 2.0, 3.9, 6.0)  # W per core that is on and runs no job
USUAL = 3.9
ALL = "all"  # scenarios that do not change the decisions
VERSION = 1  # of the files: raise it if their content changes


class Variant(NamedTuple):
    """A dispatcher with a node policy.

    Parameters
    ----------
    dispatcher : str
        Its name.
    node_policy : str or None
        Its node policy; None: that of the dispatcher, or all nodes are on.

    Examples
    --------
    >>> Variant.parse("easy/idle:30min")
    Variant(dispatcher='easy', node_policy='idle:30min')
    >>> Variant.parse("dardis:first/min-start").node_policy is None
    True
    """

    dispatcher: str
    node_policy: str | None

    @property
    def text(self) -> str:
        """The variant as text."""
        return self.dispatcher if self.node_policy is None else f"{self.dispatcher}/{self.node_policy}"

    @classmethod
    def parse(cls, text: str) -> Variant:
        """Return the variant of ``DISPATCHER[/NODE_POLICY]``; names of DARDIS have a slash of their own."""
        head, _, policy = text.rpartition("/")
        return cls(head, policy) if policy.partition(":")[0] in NODE_POLICIES and head else cls(text, None)


def centre_of(problem: Profit, end: int) -> Centre:
    """Return cooling, weather and prices of a scenario up to ``end`` (s); the weather repeats its last day beyond its data."""
    price = problem.energy_price if isinstance(problem.energy_price, float | int) else problem.energy_price.lasting(end)
    return Centre(problem.cooling, problem.temperature.lasting(end), Tariff(price), problem.price)


def results_of(
    folder: Path,
    instance: Instance,
    variant: Variant,
    scenarios: Sequence[str],
    dispatcher_seed: int = 0,
    deterministic: float | None = None,
) -> dict[str, Any]:
    """Return scenario -> the result of a variant; read from the folder if it is there, else made and written.

    Parameters
    ----------
    folder : Path
        The folder of the results.
    instance : Instance
        A profit instance.
    variant : Variant
        The dispatcher and the node policy.
    scenarios : sequence of str
        The scenarios.
    dispatcher_seed : int
        The seed of the replay.
    deterministic : float, optional
        The limit of a decision with a solver, in its deterministic units; None: that of the dispatcher, in seconds.

    Returns
    -------
    dict
        For each scenario the figures of the replay (``Result``).
    """
    results = {}
    made = parse_dispatcher(variant.dispatcher).make()
    planning = getattr(made, "plans_for_profit", False)
    for scenario in scenarios:
        of, accounted = (scenario, [scenario]) if planning else (ALL, list(SCENARIOS))
        stored = _stored(folder, instance, variant, of, accounted, dispatcher_seed, deterministic)
        results[scenario] = {**stored, **stored["accounts"][scenario]}
    return results


def _stored(
    folder: Path,
    instance: Instance,
    variant: Variant,
    of: str,
    scenarios: Sequence[str],
    seed: int,
    deterministic: float | None,
) -> dict[str, Any]:
    """Return the figures of one replay, with its accounts in some scenarios."""
    assert instance.path is not None
    content = content_of(instance.path)
    named = parse_dispatcher(variant.dispatcher)
    limit = {} if named.backend is None or deterministic is None else {"deterministic": deterministic}
    text = " ".join(map(str, (VERSION, content, variant.text, of, seed, *limit.values())))
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    name = f"{instance.name}.{variant.text}.{of}".replace("/", "+").replace(":", "_").replace(",", "-")
    path = folder / f"{name}.{key}.json"
    if path.exists():
        known: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return known
    log = Workload.of(instance.profit.dispatch, instance.name)
    dispatcher = named.make(**limit)
    if of != ALL:
        last = int(log.submit[-1])
        problem = instance.scenario(of)
        dispatcher.centre = replace(centre_of(problem, last), temperature=problem.temperature)
    options: dict[str, Any] = {} if variant.node_policy is None else {"node_policy": variant.node_policy}
    began = time.process_time()
    run = simulate(log, instance.platform, dispatcher, predictor=named.predictor, seed=seed, **options)
    seconds = time.process_time() - began
    entry = {
        "trace": instance.name,
        "variant": variant.text,
        "scenario": of,
        "seconds": round(seconds, 2),
        **figures(run),
        "accounts": {s: accounts(instance, s, run) for s in scenarios},
        "plans": [plan.as_json() for plan in getattr(dispatcher, "plans", ())],
        "curves": curves(run, states_of(run), instance),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(entry) + "\n")
    return entry


def figures(run: Simulation) -> dict[str, Any]:
    """Return the figures that do not depend on a scenario: waits, makespan, overhead per job, violations."""
    took = run.decisions
    assert took is not None
    measured = run.metrics
    return {
        "jobs": len(run.workload),
        "violations": [v.message for v in run.violations],
        "makespan": int(run.end.max() - run.workload.submit.min()),
        "wait_mean": measured.wait.mean,
        "wait_p95": float(np.percentile(run.wait, 95)),
        "slowdown_mean": measured.bounded_slowdown.mean,
        "overhead": took.total_seconds / max(1, len(run.workload)),
        "offline_seconds": took.phases.get("offline_step", 0.0),
        "decisions": took.made,
    }


def states_of(run: Simulation) -> OffIntervals:
    """Return when nodes were not on."""
    return OffIntervals.always_on() if run.power is None else run.power.intervals(int(run.end.max()))


def runs_of(run: Simulation) -> Runs:
    """Return the jobs of a replay."""
    w = run.workload
    cores = w.job_arrays.amounts[:, w.resources.index("cores")]
    return Runs(w.submit, run.start, run.end, cores, w.power)


def accounts(instance: Instance, scenario: str, run: Simulation) -> Mapping[str, Any]:
    """Return the accounts of a replay in a scenario, for each idle power: at the last end, and at the last submission."""
    problem = instance.scenario(scenario)
    runs = runs_of(run)
    states = states_of(run)
    begin = int(runs.submit.min())
    last = int(runs.submit.max())
    end = int(runs.end.max())
    centre = centre_of(problem, end)
    values: dict[str, Any] = {}
    for idle in IDLE:
        power = power_of(Machine(instance.platform, idle), runs, states, begin, end)
        for when, until in (("end", end), ("submission", last)):
            a = account(centre, power, begin, until)
            values[f"{when},{idle:g}"] = {
                "profit": a.profit, "gain": a.gain, "cost": a.cost, "busy_kwh": a.busy_kwh, "idle_kwh": a.idle_kwh,
                "boot_kwh": a.boot_kwh, "cooling_kwh": a.cooling_kwh, "pue": a.pue,
            }  # fmt: skip
    return values
