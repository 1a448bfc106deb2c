"""Solve one project with PyJobShop. The study runs this file as a script in an environment with PyJobShop.

The script imports nothing of schedlab. It reads a JSON object from standard input: ``machines`` (whether each resource is
a machine, which has one task at a time), ``renewable``, ``capacities``, ``tasks`` (for each task a list of modes ``{"duration": ...,
"resources": [...], "demands": [...]}``), ``links`` (``[before, after, delay]``), ``seconds``, ``threads`` and ``seed``. It
writes a JSON object to standard output: ``status``, ``objective``, ``bound``, ``seconds`` (of building the model and solving
it), and ``starts`` and ``modes`` of the tasks (null without a schedule).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any


def solved(data: dict[str, Any]) -> dict[str, Any]:
    """Return the result of PyJobShop."""
    from pyjobshop import Model  # type: ignore[import-not-found]

    began = time.perf_counter()
    model = Model()
    resources = []
    for machine, renewable, capacity in zip(data["machines"], data["renewable"], data["capacities"], strict=True):
        if machine:
            resources.append(model.add_machine())
        else:
            resources.append(model.add_renewable(capacity) if renewable else model.add_consumable(capacity))
    tasks, first = [], []
    number = 0
    for modes in data["tasks"]:
        task = model.add_task()
        tasks.append(task)
        first.append(number)
        for mode in modes:
            model.add_mode(task, [resources[r] for r in mode["resources"]], mode["duration"], mode["demands"])
            number += 1
    for before, after, delay in data["links"]:
        model.add_end_before_start(tasks[before], tasks[after], delay)
    left = max(0.0, data["seconds"] - (time.perf_counter() - began))
    result = model.solve(time_limit=left, display=False, num_workers=data["threads"], random_seed=data["seed"])
    starts = [(t.start, t.mode - k) for t, k in zip(result.best.tasks, first, strict=False)]
    has = len(starts) == len(tasks) > 0
    return {
        "status": result.status.value,
        "objective": result.objective if has else None,
        "bound": result.lower_bound if has else None,
        "seconds": time.perf_counter() - began,
        "starts": [start for start, _ in starts] if has else None,
        "modes": [mode for _, mode in starts] if has else None,
    }


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    sys.stdout.write(json.dumps(solved(json.load(sys.stdin))))
