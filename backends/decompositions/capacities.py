"""Decompositions of cumulative: stepwise capacities, variable demands, and the constraint itself."""

from __future__ import annotations

import math
from functools import partial

from ...models.language import Constraint, Cumulative, Evaluator, Interval, Linear, Synchronize, holds
from ...models.language import sum as total
from .constructs import Construct
from .decomposition import Decomposition


class StepwiseCapacities(Decomposition):
    """A stepwise capacity becomes a constant one, with fixed intervals that take the rest.

    For capacities ``c[k]`` in ``[t[k], t[k+1])`` and ``C = max_k c[k]``, there is a present interval from ``t[k]`` to
    ``t[k+1]`` with demand ``C - c[k]`` for each k with ``c[k] < C``, and the capacity is C. The first and the last step
    are cut at the earliest start and the latest end of the intervals.
    """

    replaces = frozenset([Construct.STEPWISE_CAPACITY])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        if not isinstance(c, Cumulative) or len(c.steps) == 1:
            return super().constraint(c)
        copied = super().constraint(c)
        assert isinstance(copied, Cumulative)
        members, demands = list(copied.intervals), list(copied.demands)
        peak = max(capacity for _, capacity in c.steps)
        begin = min((v.start_lo for v in members), default=0)
        end = max((v.start_hi + v.size_hi for v in members), default=0)
        times = [begin, *(min(max(begin, t), end) for t, _ in c.steps[1:]), end]
        for k, (_, capacity) in enumerate(c.steps):
            a, b = times[k], times[k + 1]
            if a < b and capacity < peak:
                members.append(self._fixed(f"{self.name}, capacity from {a}", a, b))
                demands.append(peak - capacity)
        return Cumulative(tuple(members), tuple(demands), ((0, peak),))

    def _fixed(self, name: str, a: int, b: int) -> Interval:
        made = self.model.interval(name, b - a, a)
        self.settle(made, a, b)
        return made


class VariableDemands(Decomposition):
    """A variable demand becomes the binary digits of the demand: one optional interval for each digit.

    For a demand d of interval i with ``L <= d <= U``, i has the demand L, and for ``k = 0, 1, ...`` with
    ``2^k <= U - L`` there is an optional interval ``i[k]`` with demand ``2^k`` and the windows and sizes of i::

        synchronize(i, all i[k]),   p[i[k]] <= p[i]
        0 <= d - L - sum_k 2^k p[i[k]] <= (U - L) (1 - p[i])

    So the digits of a present interval sum up to ``d - L``, and those of an absent one are absent.
    """

    replaces = frozenset([Construct.VARIABLE_DEMAND])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Cumulative):
            return copied
        members: list[Interval] = []
        demands: list[int] = []
        for v, d in zip(copied.intervals, copied.demands, strict=True):
            for member, demand in [(v, d)] if isinstance(d, int) else self._digits(v, d):
                members.append(member)
                demands.append(demand)
        return Cumulative(tuple(members), tuple(demands), copied.steps)

    def _digits(self, v: Interval, d: Linear) -> list[tuple[Interval, int]]:
        """Return v with its least demand, and the optional interval of each digit with its demand."""
        least, most = (int(b) for b in self.bounds.of(d))
        room = most - least
        found = []
        for k in range(room.bit_length()):
            digit = self.twin(f"{v.name}, {2**k} of its demand", v, partial(_digit, v=v, d=d, least=least, k=k))
            found.append((digit, 2**k))
            if v.optional:
                self.add(digit.presence <= v.presence)
        rest = d - least - total([o.presence for o, _ in found], [w for _, w in found])
        self.add_range(rest, 0, room) if v.optional else self.add_range(rest, 0, 0)
        if v.optional:
            self.add_range(rest + room * v.presence, 0, room)
        if found:
            self.add(Synchronize(v, tuple(o for o, _ in found)))
        return [(v, least), *found]


def _digit(ev: Evaluator, v: Interval, d: Linear, least: int, k: int) -> int:
    """Return whether the k-th binary digit of a demand is 1 and its interval is present."""
    return int(ev.value(v.presence)) * (int(ev.value(d)) - least >> k & 1)


class Cumulatives(Decomposition):
    """A cumulative with constant demands and capacity becomes one comparison for each of its intervals.

    For the demands ``d[i]`` and the capacity C, for each interval j::

        d[j] holds(z[j] >= 1) + sum_{i != j} d[i] (holds(s[i] <= s[j]) + holds(e[i] >= s[j] + 1) - 1) <= C

    The term of i is ``d[i]`` if i runs at the start of j, else 0, because at least one of the two comparisons is always
    true. The load rises only at starts, so it is enough to check it there; an absent j checks the load at time 0. (The
    start/start event model of [Artigues2013] in terms of truth values.)
    """

    replaces = frozenset([Construct.CUMULATIVE])

    def constraint(self, c: Constraint) -> Constraint | None:
        """Return the copy of a constraint."""
        copied = super().constraint(c)
        if not isinstance(copied, Cumulative):
            return copied
        tasks = [(v, int(d)) for v, d in zip(copied.intervals, copied.demands, strict=True) if d and v.size_hi]  # type: ignore[arg-type]
        capacity = copied.steps[0][1]
        if sum(d for _, d in tasks) <= capacity:
            return None
        for j, own in tasks:
            load = own * (j.presence if j.size_lo > 0 else holds(j.size >= 1))
            others = [(i, d) for i, d in tasks if i is not j]
            running = [holds(i.start <= j.start) + holds(i.end >= j.start + 1) - 1 for i, _ in others]
            self.add_range(load + total(running, [d for _, d in others]), -math.inf, capacity)
        return None
