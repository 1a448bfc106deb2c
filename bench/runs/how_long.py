"""How long runs take, told before they begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .selection import KILL_AFTER, Run

START_UP = 3.0  # seconds of imports per run, for the estimate of the worst case


def worst_case(runs: Iterable[Run], jobs: int) -> float:
    """The seconds that the runs can take at most, killing included (start-up estimated)."""
    return sum(r.time_limit + KILL_AFTER + START_UP for r in runs) / jobs


def how_long(runs: Sequence[Run], jobs: int) -> str:
    """For people: how many runs, and how long they take, ``jobs`` of them side by side.

    A solver may use all of its limit. The replay of a policy ends long before it (28,475 jobs: 0.1 to 5 s at the load of
    the log; backfilling with all reservations on an overloaded machine took minutes), so its limit is told apart.

    >>> how_long([Run("day", "day", "c0ffee", "cpsat:pool", time_limit=52)], 1)
    '1 run, at most 1.0 minutes'
    """
    policies = [r for r in runs if is_policy(r)]
    others = [r for r in runs if not is_policy(r)]
    count = f"{len(runs)} run{'s' * (len(runs) != 1)}"
    most = f"at most {worst_case(others, jobs) / 60:.1f} minutes"
    if not policies:
        return f"{count}, {most}"
    limit = max(r.time_limit for r in policies)
    which, each = ("a policy", "") if len(policies) == 1 else (f"{len(policies)} policies", " each")
    quick = f"{which}: a few seconds{each} as a rule, stopped after {limit:g} s{each}"
    return f"{count} ({len(others)} of them: {most} in all; {quick})" if others else f"{count} ({quick})"


def is_policy(run: Run) -> bool:
    """Whether a run replays a dispatcher that asks no solver."""
    return run.replay is not None and run.solver == "schedlab"
