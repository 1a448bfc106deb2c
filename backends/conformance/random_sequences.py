"""Random models of sequences: places in the order, direct transitions, costs, no idle time, the same sequence."""

from __future__ import annotations

import random

from ...models.language import Constraint, Interval, IntervalSequence, Linear, Model, same_sequence, sequence
from ...models.language import max as latest
from ...models.language import sum as total

PATTERN = "sequences"


class RandomSequences:
    """A random model with one or two sequences.

    Parameters
    ----------
    seed : int

    Attributes
    ----------
    model : Model
    used : set of str
        The constructs that it contains.
    """

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(f"sequences {seed}")
        self.model = Model(f"random {seed}")
        self.used = {PATTERN}
        self.origin = rng.choice([0, 0, 0, -3, 2])
        detour = rng.random() < 0.35
        two = not detour and rng.random() < 0.6
        n = 2 if two and rng.random() < 0.6 else 3
        if not two:
            n = 3 if detour else rng.choice([2, 3, 3, 4])
        self.machines = [self._machine(k, n, small=two or n == 4) for k in range(2 if two else 1)]
        if detour:
            self.model.add(self._detour(), "detour")
        if two and rng.random() < 0.8:
            self.used.add("same sequence")
            self.model.add(same_sequence(*self.machines), "same")
        for k in range(rng.randint(0 if detour else 1, 3)):
            self.model.add(self._constraint(rng.choice(self.machines)), f"sequence {k + 1}")
        self._objective()

    def _machine(self, k: int, n: int, small: bool) -> IntervalSequence:
        return sequence(
            [self._interval(f"i{k}{j}", small) for j in range(n)], [self.rng.randint(0, 2) for _ in range(n)]
        )

    def _interval(self, name: str, small: bool) -> Interval:
        rng = self.rng
        size = rng.randint(1, 2)
        begin = self.origin + rng.choice([0, 0, 1])
        window = (begin, begin + rng.randint(2, 3 if small else 6))
        sizes = (size, size + rng.choice([0, 0, 0, 1]))
        return self.model.interval(name, sizes, window, optional=rng.random() < 0.35)

    def _constraint(self, machine: IntervalSequence) -> Constraint:
        rng = self.rng
        kinds = ["transitions", "transitions", "no idle", "no idle", "first", "last", "before", "previous", "previous"]
        kind = rng.choice(kinds[:6] if len(machine.intervals) < 2 else kinds)
        named = {"transitions": "direct transitions", "no idle": "no idle time"}
        self.used.add(named.get(kind, "place in a sequence"))
        if kind == "transitions":
            return machine.no_overlap(self._times())
        if kind == "no idle":
            return machine.no_idle()
        if kind in ("first", "last"):
            one = rng.choice(machine.intervals)
            return machine.first(one) if kind == "first" else machine.last(one)
        one, other = rng.sample(machine.intervals, 2)
        return machine.before(one, other) if kind == "before" else machine.previous(one, other)

    def _times(self) -> list[list[int]]:
        """Return random times between three types."""
        return [[self.rng.choice([0, 0, 1, 4]) for _ in range(3)] for _ in range(3)]

    def _detour(self) -> Constraint:
        """Return transitions between intervals of different types, of which a detour over the third is faster."""
        self.used.add("direct transitions")
        one, by, other = self.rng.sample(range(3), 3)
        times = [[2 if s != t else 0 for t in range(3)] for s in range(3)]
        times[one][other] = 6
        times[one][by] = times[by][other] = 0
        several = self.machines[0].intervals
        return sequence(several).no_overlap(times)

    def _objective(self) -> None:
        rng = self.rng
        intervals = self.model.intervals
        ends = [v.end for v in intervals]
        aim: Linear = latest(ends) if rng.random() < 0.3 else total(ends, [rng.choice([1, 1, 2, -1]) for _ in ends])
        aim = aim + rng.choice([0, 5]) * total([1 - v.presence for v in intervals])
        machine = rng.choice(self.machines)
        draw = rng.random()
        if draw < 0.55:
            self.used.add("transition costs")
            costs = [[rng.randint(-2, 5) for _ in range(3)] for _ in range(3)]
            ends_of = [rng.choice([None, [rng.randint(-2, 4) for _ in range(3)]]) for _ in range(2)]
            aim = aim + machine.cost(costs, *ends_of)
        elif draw < 0.9:
            self.used.add("types of neighbours")
            one = rng.choice(machine.intervals)
            kind = machine.type_of_next if rng.random() < 0.5 else machine.type_of_previous
            made = kind(one, rng.randint(-1, 4), rng.randint(-1, 3))
            if rng.random() < 0.5:
                self.model.add(made <= rng.randint(0, 3), "type")
            aim = aim + rng.choice([1, -2]) * made
        if rng.random() < 0.9:
            self.used.add("minimize")
            self.model.minimize(aim)


def random_sequences(seed: int) -> tuple[Model, set[str]]:
    """Return the random model of a seed and the constructs that it contains.

    Examples
    --------
    >>> random_sequences(1)[0].name
    'random 1'
    """
    made = RandomSequences(seed)
    return made.model, made.used
