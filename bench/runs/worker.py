"""The worker process of a run: it solves one problem by one method, or replays one workload under one dispatcher.

It reports events as JSON lines on its standard output. Output of solvers is redirected to the standard error.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from .executors import HandOver, path_of
from .process import RANKS

Send = Callable[[dict[str, Any]], None]
LOG = "--log"


def log_of(out: str | Path, stem: str) -> Path:
    """Return the file of the solver's log of a run."""
    return Path(out) / f"{stem}.log"


class KeptLog:
    """A callback that writes the log of a run to a file and reports it line by line; without any text, there is no file.

    Parameters
    ----------
    path
        The file; one of an earlier run is replaced.
    send
        Sends an event to the bench.
    """

    def __init__(self, path: Path, send: Send) -> None:
        self.path = path
        self.send = send
        self._file: TextIO | None = None
        self._begun = ""  # of the last line
        self._lock = threading.Lock()

    def __enter__(self) -> KeptLog:
        self.path.unlink(missing_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def __call__(self, text: str) -> None:
        """Write a part of the log. A disk that is full does not end the run."""
        with self._lock, suppress(OSError):
            if self._file is None:
                self._file = self.path.open("w", encoding="utf-8")
            self._file.write(text)
            self._file.flush()
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            self.send({"event": "log", "line": line})


def main() -> None:
    """Perform the run that is given as JSON in the last argument; with ``--log`` before it, keep and report the solver's log."""
    send = _channel()
    spec = json.loads(sys.argv[-1])
    if LOG not in sys.argv[1:-1]:
        perform(spec, send)
        return
    from ...backends.solver_thread import live_log

    with KeptLog(log_of(spec["out"], spec["stem"]), send) as log, live_log(log):
        perform(spec, send)


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
    from ...heuristics import NotForThisProblem
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
    except (LoweringTooLarge, SolverUnavailable, NotForThisProblem) as e:
        return {"status": "unavailable", "cause": "unavailable", "message": str(e)}
    known: dict[str, Any] = plain(answer)
    return known


if __name__ == "__main__":
    if RANKS in sys.argv[1:-1]:
        from ...simulation.dispatchers.dardis.transport import run as run_on_ranks

        run_on_ranks(main)
    else:
        main()
