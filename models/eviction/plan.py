"""What is done with each running job: an eviction plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..problem import Schedule
from ..whole_numbers import is_whole

Strategy = Literal["keep", "kill", "app", "sys"]


STRATEGIES: tuple[Strategy, ...] = ("keep", "kill", "app", "sys")


@dataclass(init=False)
class EvictionPlan(Schedule):
    """What is done with each job: ``strategy`` {job: "keep", "kill", "app" or "sys"}.

    ``start``: {job: second} at which its checkpoint begins to be written, where checkpoints may run side by side.

    >>> EvictionPlan({"a": "kill", "b": "keep"}).as_json()
    {'a': 'kill', 'b': 'keep'}
    """

    strategy: dict[str, str] = field(default_factory=dict)

    def __init__(self, strategy: Mapping[str, str], start: Mapping[str, int] | None = None) -> None:
        super().__init__(dict(start or {}))
        self.strategy = dict(strategy)

    @property
    def evicted(self) -> list[str]:
        """The jobs that go."""
        return [job for job, what in self.strategy.items() if what != "keep"]

    def as_json(self) -> dict[str, Any]:
        """``{job: strategy}``; with a start, ``{job: {"strategy": "app", "start": second}}``."""
        return {
            job: what if job not in self.start else {"strategy": what, "start": self.start[job]}
            for job, what in self.strategy.items()
        }

    @classmethod
    def from_json(cls, data: Any) -> EvictionPlan:
        """A plan from ``as_json``'s form. Raises ValueError that names the job where the form is broken."""
        if not isinstance(data, Mapping):
            raise ValueError(f"a plan is an object of jobs, not {type(data).__name__}")
        strategy: dict[str, str] = {}
        start: dict[str, int] = {}
        for job, entry in data.items():
            what = entry.get("strategy") if isinstance(entry, Mapping) else entry
            if what not in STRATEGIES:
                raise ValueError(f"job {job!r} of the plan: expected one of {', '.join(STRATEGIES)}, found {entry!r}")
            strategy[str(job)] = str(what)
            if isinstance(entry, Mapping):
                begin = entry.get("start")
                if not is_whole(begin):
                    raise ValueError(f"job {job!r} of the plan: start must be whole seconds, found {begin!r}")
                start[str(job)] = begin
        return cls(strategy, start)

    def rows(self) -> list[dict[str, Any]]:
        """A row per job: job, strategy, start (None without one)."""
        return [{"job": j, "strategy": what, "start": self.start.get(j)} for j, what in self.strategy.items()]
