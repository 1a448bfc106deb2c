"""Heuristics of tests: the class that a function makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, make_dataclass
from types import SimpleNamespace
from typing import Any

from schedlab.heuristics import ARGUMENT, BACKEND, OPTION, START, Heuristic
from schedlab.models import Problem


def made(
    run: Callable[..., Any],
    arguments: tuple[str, ...] = (),
    *,
    starts: bool = False,
    backends: bool = False,
    options: tuple[str, ...] = (),
    name: str = "of-a-test",
    takes: Callable[[Problem], bool] | None = None,
    **stated: Any,
) -> type[Heuristic]:
    """Return a heuristic that calls ``run`` with the problem and with an object that has all other parts of a call."""

    def called(self: Any, problem: Any, limits: Any, start: Any, on_incumbent: Any) -> Any:
        given = {each: getattr(self, each) for each in options if getattr(self, each) is not None}
        call = SimpleNamespace(
            argument=self.argument_text, backend=self.backend_name, options=given, start=start, on_incumbent=on_incumbent,
            time_limit=limits.time, threads=limits.threads, seed=limits.seed,
        )  # fmt: skip
        return run(problem, call)

    rows: list[Any] = []
    if arguments:
        rows.append(("argument", str | None, field(default=None, metadata={**ARGUMENT, "values": arguments})))
    if backends:
        rows.append(("backend", str | None, field(default=None, metadata=BACKEND)))
    if starts:
        rows.append(("warm_start", Any, field(default=None, metadata=START)))
    rows += [(each, Any, field(default=None, metadata=OPTION)) for each in options]
    body = {"name": name, "run": called if callable(run) else run, **stated}
    if takes is not None:
        body["takes"] = classmethod(lambda cls, problem: takes(problem))
    return make_dataclass("OfATest", rows, bases=(Heuristic,), frozen=True, namespace=body)
