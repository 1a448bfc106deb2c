"""Minimization of a smooth convex function of variables that are at least 0: projected L-BFGS [Bertsekas1982].

A step goes from x along the direction of L-BFGS [Liu1989] in the free variables, and is projected onto x >= 0. A variable
is fixed for one step if it is 0 and its derivative is positive. The step is halved until the function falls enough.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....models.compiled import compiled
from ..profile import Floats

KEPT = 12  # pairs of steps and changes of the gradient
ENOUGH = 1e-4  # the least decrease, as a share of what the slope promises
HALVINGS = 25
TOLERANCE = 1e-8  # relative decrease of the function over PATIENCE steps below which the search ends
PATIENCE = 10


@compiled
def _direction(
    x: Floats, slope: Floats, steps: Floats, changes: Floats, newest: int, kept: int, found: Floats
) -> float:
    """Write the direction of L-BFGS in the free variables; return its derivative along the function."""
    n = x.size
    weight = np.zeros(KEPT)
    curve = np.zeros(KEPT)
    for i in range(n):
        found[i] = 0.0 if x[i] <= 0.0 and slope[i] > 0.0 else -slope[i]
    last = -1
    for h in range(kept):
        p = (newest - h) % KEPT
        inner = 0.0
        for i in range(n):
            if x[i] > 0.0 or slope[i] <= 0.0:
                curve[p] += steps[p, i] * changes[p, i]
                inner += steps[p, i] * found[i]
        if curve[p] <= 1e-300:
            continue
        if last < 0:
            last = p
        weight[p] = inner / curve[p]
        for i in range(n):
            if x[i] > 0.0 or slope[i] <= 0.0:
                found[i] -= weight[p] * changes[p, i]
    if last >= 0:
        square = 0.0
        for i in range(n):
            if x[i] > 0.0 or slope[i] <= 0.0:
                square += changes[last, i] * changes[last, i]
        for i in range(n):
            found[i] *= curve[last] / square
    for h in range(kept - 1, -1, -1):
        p = (newest - h) % KEPT
        if curve[p] <= 1e-300:
            continue
        inner = 0.0
        for i in range(n):
            inner += changes[p, i] * found[i]
        for i in range(n):
            if x[i] > 0.0 or slope[i] <= 0.0:
                found[i] += (weight[p] - inner / curve[p]) * steps[p, i]
    down = 0.0
    for i in range(n):
        down += found[i] * slope[i]
    return down


def minimize(function: Callable[[Floats], tuple[float, Floats]], x: Floats, steps: int) -> Floats:
    """Return the best point that at most ``steps`` steps find.

    Parameters
    ----------
    function
        Returns the value and a new array with the gradient.
    x
        Where to start, at least 0, shape (variables,).
    steps
        The maximum number of steps.
    """
    x = np.maximum(0.0, x)
    value, slope = function(x)
    moved, changed, direction = np.zeros((KEPT, x.size)), np.zeros((KEPT, x.size)), np.empty(x.size)
    kept, newest, past = 0, -1, [value]
    for _ in range(steps):
        down = _direction(x, slope, moved, changed, newest, kept, direction)
        if kept > 0 and not down < 0.0:
            kept = 0
            down = _direction(x, slope, moved, changed, newest, kept, direction)
        if not down < 0.0:
            break
        length = 1.0 if kept else min(1.0, 0.1 * max(1.0, float(np.abs(x).sum())) / float(np.abs(direction).sum()))
        for _ in range(HALVINGS):
            there = np.maximum(0.0, x + length * direction)
            found, new_slope = function(there)
            if found <= value + ENOUGH * float(((there - x) * slope).sum()):
                break
            length *= 0.5
        else:
            if kept == 0:
                break
            kept = 0
            continue
        newest = (newest + 1) % KEPT
        moved[newest], changed[newest] = there - x, new_slope - slope
        kept = min(KEPT, kept + 1)
        x, value, slope = there, found, new_slope
        past.append(value)
        if len(past) > PATIENCE and past[-PATIENCE - 1] - value <= TOLERANCE * max(1e-300, abs(value)):
            break
    return x
