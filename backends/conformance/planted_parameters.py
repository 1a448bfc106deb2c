"""Planted parameters of solvers: those that are known to give wrong answers, set for all models; a test of the test.

They are tried in a process of their own, as they may end it.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

from ..base import Limits
from ..driver import run
from .agreement import judge
from .brute_force import EnumerationError, brute_force
from .random_models import random_model

PARAMETERS = {"use_dynamic_precedence_in_disjunctive": "CP-SAT branches on the order of any two intervals"}
WRONG = 3  # exit code of the process after a wrong answer; 1 is that of an exception
MODELS = 400  # the fault must be caught within this number of models


def known_to_be_wrong(name: str) -> bool:
    """Return whether the installed version of CP-SAT gives wrong answers with a parameter."""
    return name in PARAMETERS and version("ortools").startswith("9.15.")


def caught_by(name: str, seed: int, most: int = MODELS) -> int | None:
    """Return after how many random models a parameter gave a wrong answer or ended the process; None if it did not.

    Raises
    ------
    RuntimeError
        If the process ended with an error of its own, which proves nothing.
    """
    code = f"from {__name__} import search; search({name!r}, {seed}, {most})"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    tried = process.stdout.split()
    if process.returncode == 0:
        return None
    if process.returncode == 1 or not tried:
        raise RuntimeError(f"the process that tries {name} failed: {process.stderr.strip()[-2000:]}")
    return int(tried[-1])


def search(name: str, seed: int, most: int) -> None:
    """Print the number of each random model before it is solved with the parameter; exit at the first wrong answer."""
    for k in range(most):
        print(k + 1, flush=True)
        if _wrong(name, seed + k):
            sys.exit(WRONG)


def _wrong(name: str, seed: int) -> list[str]:
    """Return the error messages on the answer to a random model with the parameter."""
    model = random_model(seed).model
    try:
        truth = brute_force(model)
    except EnumerationError:
        return []
    return judge(model, truth, run(model, "cpsat", Limits(time=20, threads=1, parameters={name: True})))
