"""The limits of a run: time, threads, seed, gap, deterministic limit, and parameters of the solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...models.comparing import hashable
from ...models.excerpt import with_short_repr

Value = bool | int | float | str
"""A value of a solver parameter."""
MOST_THREADS = 10_000  # of one call; solvers take 32-bit numbers


@with_short_repr
@hashable
@dataclass(frozen=True)
class Limits:
    """Conditions under which a run ends, the resources that it may use, and parameters of the solver.

    Parameters
    ----------
    time : float or None
        Wall time in seconds; None: no limit.
    threads : int or None
        Number of threads of the solver; None: the solver's default.
    seed : int
        Seed of the solver's random numbers.
    gap : float or None
        Relative gap between objective and bound at which the run stops; None: 0, or the least gap of the solver.
    deterministic : float or None
        Limit in the solver's own reproducible unit. CP-SAT: its deterministic time; HiGHS: nodes; CP Optimizer:
        branches.
    parameters : mapping of str to bool, int, float or str
        Parameters of the solver by the solver's own names. They are set after those that the backend chooses.
    exact : bool
        Whether the solver stops only at the optimum itself, as later objectives depend on it, not within 1e-6 of it.
    log : bool
        Whether to collect the solver's log. Without it the use of a warm start may be unknown ("none").
    """

    time: float | None = None
    threads: int | None = None
    seed: int = 0
    gap: float | None = None
    deterministic: float | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict, hash=False)
    exact: bool = False
    log: bool = True
