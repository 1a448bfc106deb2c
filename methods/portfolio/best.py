"""The best schedule and the best bound of several methods on one problem."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from ...backends import Incumbent, Limits, Result
from ...backends.gaps import close
from ...backends.incumbent import Offset, gap_of
from ...heuristics.incumbents import improves
from ...models import Problem, Schedule
from ...models.problem import Value
from ...models.returned import is_false
from ..outcomes import OnIncumbent

Bound = float | tuple[float | None, ...]


class Best:
    """The best schedule, bound and trace of a call; also the callback of its methods.

    Parameters
    ----------
    problem : Problem
    limits : Limits
        ``gap`` ends the call.
    on_incumbent : callable or None
        The caller's; returning False ends the call.
    began : float
        Reading of ``time.perf_counter`` when the call began, in seconds.

    Attributes
    ----------
    schedule, objective, bound
        None as long as unknown.
    trace : list of Incumbent
    stopped : bool
        Whether the caller has ended the call.
    failure : Exception or None
        What the caller's callback has raised.
    """

    def __init__(self, problem: Problem, limits: Limits, on_incumbent: OnIncumbent | None, began: float) -> None:
        self.problem, self.on_incumbent, self.began = problem, on_incumbent, began
        self.gap_limit = limits.gap or 0.0
        self.schedule: Schedule | None = None
        self.objective: Value | None = None
        self.bound: Bound | None = None
        self.offset: Offset = 0.0  # of the objective: of the methods that know it
        self.trace: list[Incumbent] = []
        self.stopped = False
        self.failure: Exception | None = None

    def __call__(self, news: Incumbent) -> object:
        """Report a better schedule of a running method to the caller; return False to end the method."""
        if news.objective is not None and improves(self.problem, news.objective, self._reported):
            self._report(news.objective, news.schedule, news.placement)
        return not self.stopped

    def add(self, found: Result) -> None:
        """Add the result of a method: its schedule, if it is verified and better, and its bound, if it is better."""
        if found.status == "error":
            return
        if found.schedule is not None and improves(self.problem, found.objective, self.objective):
            schedule = found.schedule
            self.schedule, self.objective = schedule, found.objective
            if improves(self.problem, found.objective, self._reported):
                self._report(found.objective, lambda: schedule)
        self.offset = found.offset or self.offset
        if found.exactness.kind != "restriction" and self._tighter(found.bound):
            self.bound = found.bound
            self._report(self._reported)

    @property
    def closed(self) -> bool:
        """Whether the best schedule is proven to be optimal."""
        triples = list(zip(_values(self.objective), _values(self.bound), self._offsets, strict=False))
        return bool(triples) and all(
            o is not None and b is not None and close(o, b, offset=less) for o, b, less in triples
        )

    @property
    def done(self) -> bool:
        """Whether the call is over: optimal, within the gap, or ended by the caller."""
        known = gap_of(self.objective, self.bound, self.offset)
        gaps = known if isinstance(known, tuple) else (known,)
        near = bool(gaps) and all(gap is not None and gap <= self.gap_limit for gap in gaps)
        return self.stopped or self.closed or (near and self.gap_limit > 0)

    @property
    def _offsets(self) -> tuple[float, ...]:
        several = len(_values(self.objective))
        return self.offset if isinstance(self.offset, tuple) else (self.offset,) * several

    @property
    def _reported(self) -> Value | None:
        return self.trace[-1].objective if self.trace else None

    def _tighter(self, bound: Bound | None) -> bool:
        """Return whether a bound is better; with several objectives only a bound on each one counts."""
        values, old = _values(bound), _values(self.bound)
        if not values or any(value is None for value in values):
            return False
        sign = 1 if self.problem.sense == "minimize" else -1
        return not old or [sign * v for v in values if v is not None] > [sign * v for v in old if v is not None]

    def _report(
        self, objective: Value | None, schedule: Callable[[], Schedule | None] | None = None, placement: object = None
    ) -> None:
        news = Incumbent(time.perf_counter() - self.began, objective, self.bound).less(self.offset)
        self.trace.append(news)
        if self.on_incumbent is None:
            return
        try:
            going = self.on_incumbent(news.giving(schedule, None, placement))
        except Exception as e:
            self.failure = e
            raise
        if is_false(going):
            self.stopped = objective is not None


def _values(value: Value | Bound | None) -> tuple[float | None, ...]:
    return () if value is None else value if isinstance(value, tuple) else (value,)


def share_of(limits: Limits, share: float, began: float) -> Limits:
    """Return the limits of a step: its share of the time limit, at most what is left; the gap limit of the call."""
    if limits.time is None:
        return limits
    left = max(0.0, limits.time - (time.perf_counter() - began))
    return replace(limits, time=min(left, share * limits.time))
