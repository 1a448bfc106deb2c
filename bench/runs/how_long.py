"""Estimates of the time that runs take, printed before they start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .selection import KILL_AFTER, Run

START_UP = 3.0  # seconds for the imports of a run, in the worst case


def worst_case(runs: Iterable[Run], jobs: int) -> float:
    """Return the most seconds that the runs can take, ``jobs`` of them in parallel; the start-up is an estimate."""
    return sum(r.time_limit + KILL_AFTER + START_UP for r in runs) / jobs


def how_long(runs: Sequence[Run], jobs: int) -> str:
    """Return a text with the number of runs and the time that they take, ``jobs`` of them in parallel.

    A solver may use its whole time limit. A replay without a solver ends long before its limit (28,475 jobs: 0.1 to 5 s at
    the load of the log; minutes for backfilling with all reservations on an overloaded machine), so that these replays are
    listed separately.

    Examples
    --------
    >>> how_long([Run("day", "day", "c0ffee", "cpsat:pool", time_limit=52, kind="dispatch")], 1)
    '1 run, at most 1.0 minutes'
    """
    replays = [r for r in runs if needs_no_solver(r)]
    others = [r for r in runs if not needs_no_solver(r)]
    count = f"{len(runs)} run{'s' * (len(runs) != 1)}"
    most = f"at most {worst_case(others, jobs) / 60:.1f} minutes"
    if not replays:
        return f"{count}, {most}"
    limit = max(r.time_limit for r in replays)
    which, each = ("1 replay", "") if len(replays) == 1 else (f"{len(replays)} replays", " each")
    quick = f"{which} without a solver: usually a few seconds{each}, stopped after {limit:g} s{each}"
    return f"{count} ({len(others)} of them: {most} in total; {quick})" if others else f"{count} ({quick})"


def needs_no_solver(run: Run) -> bool:
    """Return whether a run replays a dispatcher without a solver."""
    return run.replay is not None and run.solver == "schedlab"
