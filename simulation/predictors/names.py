"""Names of users and programs: prefixes of programs, and notes on jobs without a name."""

from __future__ import annotations

import re

import numpy as np

from ...instances.workload import Workload
from .predictor import Ints


def prefix(program: str) -> str:
    """Return the name of a program without the digits at its end; a name of digits alone stays as it is.

    Parameters
    ----------
    program : str
        The name.

    Returns
    -------
    str
        The name without the digits, not empty unless ``program`` is.

    Examples
    --------
    >>> prefix("run_017"), prefix("lammps"), prefix("4711")
    ('run_', 'lammps', '4711')
    """
    return re.sub(r"\d+$", "", program) or program


def notes_on_users(workload: Workload, who: str = "the predictor") -> tuple[str, ...]:
    """Return a note on jobs without a user, if there are some; ``who`` treats them as jobs of one user."""
    nameless = _nameless(workload.users, workload.user)
    if nameless == len(workload):
        return (f"the trace has no users: {who} treats all jobs as jobs of one user",)
    return (f"{nameless} jobs have no user: {who} treats them as jobs of one user",) if nameless else ()


def notes_on_programs(workload: Workload) -> tuple[str, ...]:
    """Return a note on jobs without a program name, if there are some."""
    nameless = _nameless(workload.programs, workload.program)
    if nameless == len(workload):
        return (
            "the trace has no program names: similar jobs of a user are those with the same queue, walltime and "
            "requests, then those with the same queue and walltime, then all",
        )
    return (f"{nameless} jobs have no program name: the predictor treats them as one program",) if nameless else ()


def _nameless(names: tuple[str, ...], column: Ints) -> int:
    """Return how many jobs have an empty name."""
    return int(np.isin(column, [k for k, name in enumerate(names) if not name.strip()]).sum())
