"""The child of a run: solves one problem by one method, or replays one workload under a dispatcher, and tells it by lines of JSON on its standard output.

Solvers that print do so to the standard error: the standard output is kept for the bench.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

Tell = Callable[[dict[str, Any]], None]


def main() -> None:
    """Run the spec that stands in the first argument."""
    tell = _channel()
    try:
        tell({"event": "end", **_solve(json.loads(sys.argv[1]), tell)})
    except MemoryError:
        tell({"event": "end", "status": "error", "cause": "out of memory", "message": "the method ran out of memory"})
    except Exception as e:  # whatever a method does, its record says so
        traceback.print_exc()
        tell({"event": "end", "status": "error", "cause": "crash", "message": f"{type(e).__name__}: {e}"})


def _channel() -> Tell:
    """The way to the bench; from now on everything that is printed goes to the standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(event: dict[str, Any]) -> None:
        out.write(json.dumps(event) + "\n")
        out.flush()

    return tell


def _solve(spec: dict[str, Any], tell: Tell) -> dict[str, Any]:
    from .. import heuristics
    from ..backends import Incumbent, LoweringTooLarge, SolverUnavailable, backend
    from ..instances import load
    from ..models import Eviction, Profit
    from ..solve import parse_method, solve
    from .record import outcome, plain
    from .view import View

    if spec["replay"] is not None:
        from .dispatching import replay_in_worker

        answer: dict[str, Any] = plain(replay_in_worker(spec, tell))
        return answer
    instance = load(spec["path"], drop_impossible=spec["drop_impossible"])
    problem = View(**spec["view"]).of(instance)
    method = parse_method(spec["method"], problem)
    heuristics.warm_up_for(problem, method.heuristic)
    if method.backend:
        backend(method.backend).availability()  # imports the solver, which is no part of any time
    tell({"event": "begin", "sense": problem.sense})

    def told(news: Incumbent) -> None:
        tell({"event": "incumbent", **plain(news._asdict())})

    limits = {name: spec[name] for name in ("time_limit", "threads", "seed")}
    try:
        if isinstance(problem, Eviction):
            from .evicting import run_in_worker

            swept: dict[str, Any] = plain(run_in_worker(problem, method, limits, told))
            return swept
        result = solve(problem, method=method.text, on_incumbent=told, **limits)
        tell({"event": "solved"})
    except (LoweringTooLarge, SolverUnavailable) as e:
        return {"status": "unavailable", "cause": "unavailable", "message": str(e)}
    found: dict[str, Any] = outcome(problem, result)
    if isinstance(problem, Profit) and result.schedule is not None and found["objective"] is not None:
        from .profiting import fields

        found |= fields(problem, result.schedule)
    told_of: dict[str, Any] = plain(found)
    return told_of


if __name__ == "__main__":
    main()
