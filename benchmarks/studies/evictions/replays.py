"""The replays of the study, one file each, and the methods on the eviction problems of a replay."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schedlab.instances import Workload
from schedlab.instances.files.writing import write_whole
from schedlab.models import Eviction, Platform
from schedlab.simulation import Evictor, Preemption, evictor_of, simulate
from schedlab.simulation.metrics import metrics
from schedlab.simulation.preemption import Stream

EVICTORS = ("none", "kill", "greedy", "dp", "dp-knee", "reserve:512")
METHODS = ("dp", "greedy", "kill")
COMPARED = "dp"  # the evictor whose eviction problems are solved by all methods
REPEATED = 3  # runs of a method of which the shortest counts


def result_of(
    folder: Path, log: Workload, platform: Platform, seed: int, evictor: str, methods: Sequence[str], rate: float
) -> dict[str, Any]:
    """Return the result of one replay; read from the folder if it is there, else made and written.

    Parameters
    ----------
    folder : Path
        The folder of the results.
    log : Workload
        The batch jobs.
    platform : Platform
        The machine.
    seed : int
        The seed of the stream of on-demand jobs.
    evictor : str
        Who leaves.
    methods : sequence of str
        The methods that solve the eviction problems of the replay with the evictor ``dp``.
    rate : float
        On-demand jobs a day.
    """
    name = f"{Path(log.name).stem}.{len(log)}.{rate:g}.{seed}.{evictor.replace(':', '-')}.json"
    path = folder / name
    if path.exists():
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return content
    stream = Stream(rate=rate, seed=seed).draw(int(log.submit.min()), int(log.submit.max()), len(platform.nodes))
    began = time.process_time()
    run = simulate(log, platform, "easy", preemption=Preemption(stream, evictor))  # type: ignore[arg-type]
    seconds = time.process_time() - began
    measured = metrics(run)
    assert run.preemption is not None
    problems = [d.problem for d in run.preemption.decisions if d.problem is not None]
    content = {
        "log": log.name,
        "seed": seed,
        "evictor": evictor,
        "violations": [v.message for v in run.violations],
        "left_out": len(log) + len(stream) - len(run.workload),
        "utilisation": max(v or 0.0 for v in measured.utilisation.values()),
        "makespan": measured.makespan,
        "seconds": seconds,
        **measured.preemption,
        "compared": compared(problems, methods) if evictor == COMPARED else [],
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(content) + "\n")
    return content


def compared(problems: Sequence[Eviction], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return the loss in node-seconds and the milliseconds of each method on each problem: its ``loss`` and ``ms``."""
    evictors = {name: evictor_of(name) for name in methods}
    for evictor in evictors.values():
        getattr(evictor, "warm_up", lambda: None)()
    return [{name: _timed(evictor, problem) for name, evictor in evictors.items()} for problem in problems]


def _timed(evictor: Evictor, problem: Eviction) -> dict[str, float | None]:
    """Return the loss of a plan, and the shortest processor time of some runs."""
    took = []
    for _ in range(REPEATED if evictor.name in METHODS else 1):
        began = time.process_time()
        plan = evictor.decide(problem)
        took.append(1000 * (time.process_time() - began))
    if plan is None or problem.verify(plan):
        return {"loss": None, "ms": min(took)}
    return {"loss": problem.value(plan)[0], "ms": min(took)}
