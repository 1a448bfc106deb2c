"""The worker process of a run: it solves one problem by one method, or replays one workload under one dispatcher.

It reports events as JSON lines on its standard output. Output of solvers is redirected to the standard error.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from ..executors.node import HandOver, path_of

Send = Callable[[dict[str, Any]], None]


def main() -> None:
    """Perform the run that is given as JSON in the first argument."""
    send = _channel()
    perform(json.loads(sys.argv[1]), send)


def perform(spec: dict[str, Any], send: Send) -> None:
    """Perform a run and send its events; the last one is ``end``, with the result."""
    best = HandOver(path_of(spec["out"], spec["stem"]))
    try:
        from ...models.compiled import watching

        with watching(lambda number: send({"event": "compiling"}) if number == 1 else None):
            ended = _solve(spec, send, best)
        send({"event": "end", **ended})
        return
    except MemoryError:
        ended = {"status": "error", "cause": "out of memory", "message": "the method ran out of memory"}
    except Exception as e:  # an error of a method is written to its record
        traceback.print_exc()
        ended = {"status": "error", "cause": "crash", "message": f"{type(e).__name__}: {e}"}
    best.flush()
    send({"event": "end", **ended})


def _channel() -> Send:
    """Return a function that sends an event to the bench; all other output goes to the standard error from now on."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def send(event: dict[str, Any]) -> None:
        out.write(json.dumps(event) + "\n")
        out.flush()

    return send


def _solve(spec: dict[str, Any], send: Send, best: HandOver) -> dict[str, Any]:
    from ...backends import Incumbent, LoweringTooLarge, SolverUnavailable, backend
    from ...instances import load
    from ...methods import parse_method
    from ...methods.portfolio import warm_up
    from ..kinds.base import bench_kind
    from ..kinds.dispatch import run_composite
    from ..records.record import plain
    from .view import View

    if spec["replay"] is not None:
        from ..replays.worker import replay_in_worker

        replayed: dict[str, Any] = plain(replay_in_worker(spec, send))
        return replayed
    instance = load(spec["path"], drop_impossible=spec["drop_impossible"])
    view = View(**spec["view"])
    problem = view.of(instance)
    method = parse_method(spec["method"], problem)
    warm_up(method, problem)
    if method.backend_name:
        backend(method.backend_name).availability()  # imports the solver, which is not part of the measured time
    send({"event": "begin", "sense": problem.sense})

    def on_incumbent(news: Incumbent) -> None:
        best(news)
        send({"event": "incumbent", **plain(news._asdict())})

    limits = {name: spec[name] for name in ("time_limit", "threads", "seed")}
    try:
        kind = bench_kind(problem.kind)
        run = kind.run
        if view.keep is not None:
            run = partial(
                run_composite, view.keep, lambda begin: send({"event": "composite", "composite": plain(begin)})
            )
        answer = run(problem, method, limits, on_incumbent, lambda: send({"event": "solved"}))
    except (LoweringTooLarge, SolverUnavailable) as e:
        return {"status": "unavailable", "cause": "unavailable", "message": str(e)}
    known: dict[str, Any] = plain(answer)
    return known


if __name__ == "__main__":
    main()
