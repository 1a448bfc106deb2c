"""Eviction plans: the strategy for each running job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...errors import WrongValue
from ..arguments import checked
from ..platform import ProblemError
from ..problem import Schedule
from ..whole_numbers import is_whole, no_text, text_of

Strategy = Literal["keep", "kill", "app", "sys"]
STRATEGIES: tuple[Strategy, ...] = ("keep", "kill", "app", "sys")


@checked(values=False, deep=False)
@dataclass(init=False, repr=False)
class EvictionPlan(Schedule):
    """The strategy for each running job.

    Parameters
    ----------
    strategy : mapping of str to str
        For each job ``"keep"``, ``"kill"``, ``"app"`` (application-level checkpoint) or ``"sys"`` (system-level
        checkpoint).
    start : mapping of str to int, optional
        The time in seconds from now at which the checkpoint of a job starts to write; only with ``shared_bandwidth``.

    Examples
    --------
    >>> EvictionPlan({"a": "kill", "b": "keep"}).as_json()
    {'a': 'kill', 'b': 'keep'}
    """

    strategy: dict[str, str] = field(default_factory=dict)

    def __init__(self, strategy: Mapping[str, str], start: Mapping[str, int] | None = None) -> None:
        super().__init__(dict(start or {}))
        self.strategy = {}
        for job, what in strategy.items():
            name = text_of(job)
            if name is None:
                raise ProblemError(f"a job of a plan {no_text(job)}")
            self.strategy[name] = what

    def __repr__(self) -> str:
        counted = Counter(self.strategy.values())
        return f"EvictionPlan({', '.join(f'{counted[what]} {what}' for what in STRATEGIES if counted[what])})"

    @property
    def evicted(self) -> list[str]:
        """The jobs that are killed or checkpointed."""
        return [job for job, what in self.strategy.items() if what != "keep"]

    def as_json(self) -> dict[str, Any]:
        """Return ``{job: strategy}``; for a job with a start ``{job: {"strategy": "app", "start": second}}``."""
        return {
            job: what if job not in self.start else {"strategy": what, "start": self.start[job]}
            for job, what in self.strategy.items()
        }

    @classmethod
    def from_json(cls, data: Any) -> EvictionPlan:
        """Return the plan of data in the form of ``as_json``; raise ValueError, with the job, if they are malformed."""
        if not isinstance(data, Mapping):
            raise WrongValue(f"a plan must be an object {{job: strategy}}, not {type(data).__name__}")
        strategy: dict[str, str] = {}
        start: dict[str, int] = {}
        for job, entry in data.items():
            what = entry.get("strategy") if isinstance(entry, Mapping) else entry
            if what not in STRATEGIES:
                raise WrongValue(f"job {job!r} of the plan: expected one of {', '.join(STRATEGIES)}, found {entry!r}")
            strategy[str(job)] = str(what)
            if isinstance(entry, Mapping):
                begin = entry.get("start")
                if not is_whole(begin):
                    raise WrongValue(f"job {job!r} of the plan: start must be whole seconds, found {begin!r}")
                start[str(job)] = begin
        return cls(strategy, start)

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of a table with the columns job, strategy and start (None without one)."""
        return [{"job": j, "strategy": what, "start": self.start.get(j)} for j, what in self.strategy.items()]
