"""Python code that declares a given model, for error reports that can be copied and run."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...errors import WrongArgument
from ...models.language import (
    AllOrNone,
    Alternative,
    Comparison,
    Constraint,
    Cumulative,
    ForbidExtent,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
)
from ...models.language.expressions import Atom, Attribute, Element, Function, Holds, Max, Min, Overlap, Piecewise
from .brute_force import variables_of


def declaration(model: Model) -> str:
    """Return Python code that declares the model. Variables that no constraint and no objective uses are left out.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3); m.add(a.start >= 2, "late"); m.minimize(a.end)
    >>> print(declaration(m))
    m = sl.Model('one', horizon=5)
    v0 = m.interval('a', size=3, start=(0, 5))
    m.add(v0.start >= 2, 'late')
    m.minimize(v0.end)
    """
    used = {v for part in (*(c.constraint for c in model.constraints), *model.objectives) for v in variables_of(part)}
    lines = [f"m = sl.Model({model.name!r}, horizon={model.horizon})"]
    lines += [f"{_name(v)} = {_interval(v)}" for v in model.intervals if v in used]
    lines += [f"{_name(x)} = m.integer({x.name!r}, {x.lo}, {x.hi})" for x in model.integers if x in used]
    lines += [f"m.add({_constraint(c.constraint)}, {c.name!r})" for c in model.constraints]
    objectives = [_linear(e) for e in model.objectives]
    if objectives:
        lines.append(f"m.{model.sense}({objectives[0] if len(objectives) == 1 else '[' + ', '.join(objectives) + ']'})")
    return "\n".join(lines)


def _name(v: Interval | Integer) -> str:
    return f"{'v' if isinstance(v, Interval) else 'x'}{v.index}"


def _interval(v: Interval) -> str:
    size = v.size_lo if v.size_lo == v.size_hi else (v.size_lo, v.size_hi)
    start = v.windows[0] if len(v.windows) == 1 else list(v.windows)
    return f"m.interval({v.name!r}, size={size}, start={start}{', optional=True' if v.optional else ''})"


def _several(intervals: Iterable[Interval]) -> str:
    return f"[{', '.join(map(_name, intervals))}]"


def _constraint(c: Constraint) -> str:
    match c:
        case Comparison():
            return _comparison(c)
        case Alternative(a, options, count):
            return f"sl.alternative({_name(a)}, {_several(options)}, count={count})"
        case Cumulative(intervals, demands, steps):
            heights = ", ".join(str(d) if isinstance(d, int) else _linear(d) for d in demands)
            return (
                f"sl.cumulative({_several(intervals)}, [{heights}], {steps[0][1] if len(steps) == 1 else list(steps)})"
            )
        case NoOverlap(intervals, transitions):
            times = f", transitions={[list(row) for row in transitions]}" if transitions else ""
            return f"sl.no_overlap({_several(intervals)}{times})"
        case AllOrNone(intervals):
            return f"sl.all_or_none({_several(intervals)})"
        case ForbidExtent(v, windows):
            return f"sl.forbid_extent({_name(v)}, {list(windows)})"
        case Synchronize(a, others):
            return f"sl.synchronize({_name(a)}, {_several(others)})"
        case Precedence(before, after, delay, kind, at_most):
            most = "" if at_most is None else f", at_most={at_most}"
            return f"sl.{kind}({_name(before)}, {_name(after)}, {delay}{most})"


def _comparison(c: Comparison) -> str:
    left = _linear(c.expr)
    if c.lo == c.hi:
        return f"{left} == {c.hi}"
    return f"{left} <= {c.hi}" if c.lo == -math.inf else f"{left} >= {c.lo}"


def _linear(e: Linear) -> str:
    parts = [_atom(a) if k == 1 else f"{k} * {_atom(a)}" for a, k in e.terms.items()]
    if e.constant or not parts:
        parts.append(str(e.constant))
    return " + ".join(parts)


def _atom(a: Atom) -> str:
    match a:
        case Integer():
            return _name(a)
        case Attribute():
            return f"{_name(a.interval)}.{a.field}"
        case Max() | Min():
            return f"sl.{'max' if isinstance(a, Max) else 'min'}([{', '.join(map(_linear, a.operands))}])"
        case Holds():
            return f"sl.holds({_comparison(a.comparison)})"
        case Overlap():
            return f"sl.overlap({_name(a.interval)}, {a.lo}, {a.hi})"
        case Element():
            return f"sl.element({list(a.array)}, {_linear(a.operands[0])})"
        case Piecewise():
            return f"sl.piecewise({_linear(a.operands[0])}, {list(a.points)})"
        case Function() | _:
            raise WrongArgument(f"{type(a).__name__} cannot be written as Python code")
