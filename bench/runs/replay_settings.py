"""How a workload is replayed: the machine of a trace, the arrivals, the limits of a decision; part of a run's key."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import WrongUse

DECISION_TIME = 0.2  # seconds of a decision
OFF = "off"
BEST_FIT = "best-fit"


@dataclass(frozen=True)
class ReplaySettings:
    """What decides a replay beside its jobs and its dispatcher.

    ``trace``: the path is a trace (SWF, ...), not an instance; ``format`` (None: by its look), ``nodes``, ``cores`` and ``memory`` (MB) per node, and
    ``window`` are for traces alone. ``load``: the offered load that the arrivals are rescaled to. ``decision_time``
    (seconds), ``deterministic`` and ``max_stretch`` (None: the dispatcher's own, "off") are for dispatchers that ask a
    solver, and None for the others. ``period``: seconds between wake-ups beside the events.

    >>> ReplaySettings(load=1.2, nodes=100, trace=True).label
    '100 nodes, load 1.2, 0.2 s a decision'
    """

    trace: bool = False
    format: str | None = None
    nodes: int | None = None
    cores: int | None = None
    memory: int | None = None
    window: str | None = None
    load: float | None = None
    decision_time: float | None = DECISION_TIME
    deterministic: bool | None = False
    max_stretch: float | str | None = None
    allocator: str = BEST_FIT
    kill: bool = False
    charge: bool = False
    period: int | None = None

    def __post_init__(self) -> None:
        named = {
            "--format": self.format,
            "--nodes": self.nodes,
            "--cores": self.cores,
            "--memory": self.memory,
            "--window": self.window,
        }
        foreign = [name for name, value in named.items() if value is not None]
        if foreign and not self.trace:
            raise WrongUse(f"{', '.join(foreign)}: for traces only; an instance brings its own machine and day")

    @property
    def for_policies(self) -> ReplaySettings:
        """The same for a dispatcher that asks no solver: what it does not heed does not tell its runs apart."""
        return replace(self, decision_time=None, deterministic=None, max_stretch=None)

    @property
    def workload(self) -> ReplaySettings:
        """The same for all that replay the same jobs on the same machine."""
        return ReplaySettings(
            self.trace, self.format, self.nodes, self.cores, self.memory, self.window, self.load, kill=self.kill
        )

    @property
    def label(self) -> str:
        """For people: what stands in a title."""
        parts = [
            f"{self.nodes} nodes" if self.nodes is not None else "",
            f"{self.cores} cores each" if self.cores is not None else "",
            f"{self.memory} MB each" if self.memory is not None else "",
            self.window or "",
            f"load {self.load:g}" if self.load is not None else "",
            f"{self.decision_time:g} s a decision" if self.decision_time is not None else "",
            "deterministic" if self.deterministic else "",
            f"max stretch {self.max_stretch}" if self.max_stretch is not None else "",
            self.allocator if self.allocator != BEST_FIT else "",
            "killed at the walltime" if self.kill else "",
            "decisions take time" if self.charge else "",
            f"asked every {self.period} s" if self.period is not None else "",
        ]
        return ", ".join(p for p in parts if p)


def parse_stretch(text: str | None) -> float | str | None:
    """The value of --max-stretch: a number above 1, or "off". Raises WrongUse.

    >>> parse_stretch("50"), parse_stretch("off")
    (50.0, 'off')
    """
    if text is None or text == OFF:
        return text
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 < value < float("inf"):
        raise WrongUse(f"--max-stretch {text}: expected a slowdown above 1, such as 50, or off")
    return value
