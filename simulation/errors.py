"""The error of a replay that cannot continue, and the settings of a replay that exclude each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SchedlabError


class SimulationError(SchedlabError, RuntimeError):
    """A replay that cannot continue.

    Reasons: the dispatcher raised an exception, its decision was not valid, it left jobs in the queue when no event was
    left, or a predictor returned something other than whole seconds.

    Parameters
    ----------
    message : str
        What is wrong, with the job, node and time.
    job, node : str, optional
        Id of the job and name of the node concerned.
    time : int, optional
        The simulated time in seconds.
    partial : Simulation, optional
        The replay so far; jobs that were not started have a start of -1.
    waiting : mapping of str to str
        Id of each job that waits although no event is left -> why it does not start.
    """

    def __init__(
        self,
        message: str,
        job: str | None = None,
        node: str | None = None,
        time: int | None = None,
        partial: Any = None,
        waiting: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.job = job
        self.node = node
        self.time = time
        self.partial = partial
        self.waiting = dict(waiting or {})


# --- The settings of a replay that exclude each other: one table, which those who refuse read, and the documentation prints.
#
# All other pairs combine.


@dataclass(frozen=True)
class Exclusion:
    """Two settings that no replay can have.

    Parameters
    ----------
    one, other : str
        The settings.
    reason : str
        Why they contradict each other.
    """

    one: str
    other: str
    reason: str

    def __str__(self) -> str:
        """Return the reason, as messages have it."""
        return self.reason.replace("`", "")


ONE_REQUEST = Exclusion(
    "jobs of several chunks",
    "`dardis`, `hybrid` and `planned`, with all their variants; `slurm`",
    "node managers answer one request for each job [Bridi2016]; the plans of `hybrid` and `planned`, and the passes of `slurm`, are of such jobs",
)
WHOLE_NODES = Exclusion(
    "on-demand jobs, `--failures`",
    "nodes that differ or are shared, jobs of several chunks",
    "an eviction problem counts whole nodes, of which each is as good as another",
)
OTHER_TIMES = Exclusion(
    "`--load`",
    "reservations, events of the server, outages of a site, `--cancelled`",
    "it moves submit times; times of reservations, events and outages would not fit",
)
ONE_LIMIT = Exclusion(
    "`--decision-time`",
    "`--deterministic`",
    "both limit a decision, in seconds and in units of the solver",
)
NO_POWER = Exclusion(
    "a desired power of the machine",
    "`dardis` and `hybrid`",
    "no node manager knows the power of the whole machine; `--power-cap` limits it",
)
OWN_WINDOW = Exclusion(
    "`--batch`",
    "`--window`, `--load`, and the options of the machine of a log",
    "a batch has its own window and machine",
)
NO_STRETCH = Exclusion(
    "`--max-stretch`",
    "`cpmodel` and `portfolio`",
    "it is for `pcp` and `hcp` only, which hold reservations for jobs that have waited too long",
)
NO_ROOM = Exclusion(
    "dispatchers with `-profile`",
    "versions 0 and 1 of `pcp` and `hcp`",
    "all their jobs end by the end of a horizon that leaves no room for it",
)

EXCLUSIONS = (ONE_REQUEST, WHOLE_NODES, OTHER_TIMES, ONE_LIMIT, NO_POWER, OWN_WINDOW, NO_STRETCH, NO_ROOM)


def exclusion_table() -> str:
    """Return the table as Markdown."""
    rows = [f"| {e.one} | {e.other} | {e.reason} |" for e in EXCLUSIONS]
    return "\n".join(["| Setting | Not with | Reason |", "|---|---|---|", *rows])
