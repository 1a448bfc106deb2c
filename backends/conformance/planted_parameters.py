"""Planted parameters of solvers: those that are known to give wrong answers, set for all models; a test of the test.

They are tried in a process of their own, as they may end it.
"""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version

from ..base import Limits
from ..driver import run
from .agreement import judge
from .brute_force import EnumerationError, brute_force
from .random_models import random_model

PARAMETERS = {"use_dynamic_precedence_in_disjunctive": "CP-SAT branches on the order of any two intervals"}
MODELS = 400  # the fault must be caught within this number of models


def known_to_be_wrong(name: str) -> bool:
    """Return whether the installed version of CP-SAT gives wrong answers with a parameter."""
    return name in PARAMETERS and version("ortools").startswith("9.15.")


def caught_by(name: str, seed: int, most: int = MODELS) -> int | None:
    """Return after how many random models a parameter gave a wrong answer or ended the process; None if it did not."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(os.getpid).result()  # a process that does not start proves nothing
        for k in range(most):
            try:
                if pool.submit(_wrong, name, seed + k).result():
                    return k + 1
            except BrokenProcessPool:
                return k + 1
    return None


def _wrong(name: str, seed: int) -> list[str]:
    """Return the error messages on the answer to a random model with the parameter."""
    model = random_model(seed).model
    try:
        truth = brute_force(model)
    except EnumerationError:
        return []
    return judge(model, truth, run(model, "cpsat", Limits(time=20, threads=1, parameters={name: True})))
