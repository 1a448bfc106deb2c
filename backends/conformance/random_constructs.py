"""Random models of one group of constructs each: structures, states, levels, sequences, arithmetic."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product

from ...models.language import (
    Comparison,
    Constraint,
    Interval,
    IntervalSequence,
    Level,
    LevelFunction,
    Linear,
    Model,
    Precedence,
    StateFunction,
    VariableDelay,
    all_different,
    all_of,
    always_constant,
    always_equal,
    always_in,
    any_of,
    at_end,
    at_start,
    breaks,
    count,
    cumulative,
    element,
    end_before_end,
    end_before_start,
    forbid_end,
    forbid_start,
    holds,
    implies,
    in_domain,
    intensity,
    isomorphism,
    no_overlap,
    pulse,
    same_sequence,
    sequence,
    span,
    start_before_end,
    start_before_start,
    state_function,
    step_at,
    table,
)
from ...models.language import max as latest
from ...models.language import sum as total
from ...models.language.bounds import Bounds
from ...models.language.constraints import StateUse
from ...models.language.expressions import linear

STRUCTURES = "structures"
PRECEDENCES = (end_before_start, start_before_start, end_before_end, start_before_end)


class RandomStructures:
    """A random model with one to three of these constraints.

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
        rng = self.rng = random.Random(f"structures {seed}")
        self.more = random.Random(f"structures {seed} absent")  # separate, so that it changes nothing in other models
        self.model = Model(f"random {seed}")
        self.used = {STRUCTURES}
        self.first = rng.choice([0, 0, 0, -3, 2])
        kinds = {
            "intensity": self._intensity,
            "domain": self._domain,
            "span": self._span,
            "isomorphism": self._isomorphism,
            "variable capacity": self._capacity,
            "variable lag": self._lag,
        }
        chosen = rng.sample(list(kinds), rng.choice([1, 1, 2, 2, 3]))
        for k in range(rng.randint(1, 2)):
            self._interval(f"i{k}", rng.choice([0, 1, 2, 3]), rng.choice([0, 0, 1]), rng.random() < 0.4)
        self.units = self.model.integer("x0", rng.choice([0, 0, -1]), rng.randint(1, 2))
        for name in chosen:
            self.used.add(name)
            for c in kinds[name]():
                self.model.add(c, f"{name} {len(self.model.constraints) + 1}")
        if rng.random() < 0.3 and len(self.model.intervals) > 1:
            self.model.add(no_overlap(self._some(2)), "machine")
        weights = [rng.choice([1, 1, 2, -1]) for _ in self.model.intervals]
        if "variable lag" in chosen and rng.random() < 0.6:
            weights[rng.randrange(len(weights))] = -1  # late ends, which greatest lags exclude
        absent = total([1 - v.presence for v in self.model.intervals])
        aim = total([v.end for v in self.model.intervals], weights) + rng.choice([0, 5]) * absent
        aim = aim - self.units + rng.choice([0, 0, -1]) * total([v.size for v in self.model.intervals])
        if rng.random() < 0.9:
            self.used.add("minimize")
            self.model.minimize(aim)

    def _interval(self, name: str, size: int, more: int, optional: bool) -> Interval:
        window = (self.first, self.first + self.rng.randint(2, 4))
        return self.model.interval(name, (size, size + more), window, optional)

    def _some(self, count: int) -> list[Interval]:
        return self.rng.sample(self.model.intervals, min(count, len(self.model.intervals)))

    def _time(self) -> int:
        return self.first + self.rng.randint(-1, 6)

    def _intensity(self) -> Iterator[Constraint]:
        rng = self.rng
        v = self._interval("work", rng.choice([0, 1, 1, 2]), rng.choice([2, 3, 5]), rng.random() < 0.4)
        if rng.random() < 0.3:
            begin = self._time()
            steps = breaks([(begin, begin + rng.randint(1, 3))], rng.choice([0, 0, 40]))
        else:
            times = sorted(rng.sample(range(self.first - 1, self.first + 7), rng.randint(1, 3)))
            steps = [(t, rng.choice([0, 0, 100, 100, 50, 30, 75])) for t in times]
        least = rng.choice([0, 1, 1, 2, 3])
        yield intensity(v, (least, least + rng.choice([0, 0, 1])), steps)
        if rng.random() < 0.15:
            yield intensity(v, (0, rng.randint(0, 2)), [(self._time(), rng.choice([0, 100])), (self.first + 8, 50)])

    def _domain(self) -> Iterator[Constraint]:
        rng = self.rng
        optional = [v for v in self.model.intervals if v.optional]
        v = rng.choice(optional if optional and rng.random() < 0.7 else self.model.intervals)
        draw = rng.random()
        begin = self._time()
        if draw < 0.2:
            yield forbid_start(v, [(begin, begin + rng.randint(1, 2)), (begin + 3, begin + 4)])
        elif draw < 0.4:
            yield forbid_end(v, [(begin, begin + rng.randint(1, 2))])
        elif draw < 0.75:
            # often the earliest end, to which most objectives pull, is in the first hole
            begin = self.first + rng.choice([v.size_lo - 2, v.size_lo - 2, rng.randint(2, 5)])
            yield in_domain(v.end, [(begin, begin + 1), begin + 3, (begin + 5, None)], interval=v)
        else:
            e = rng.choice([self.units, v.size + self.units, v.start - 2 * self.units, 2 * v.end])
            low = rng.randint(-2, 3)
            windows: list[int | tuple[int | None, int | None]] = [
                (low, low + 1),
                (low + 3, rng.choice([None, low + 5])),
            ]
            yield in_domain(e, windows, interval=v if rng.random() < 0.5 else None)
        if self.more.random() < 0.5:
            yield self._domain_of_absent()

    def _domain_of_absent(self) -> Constraint:
        """Return end windows without 0, of an interval that most objectives leave out."""
        size = self.more.randint(1, 2)
        v = self.model.interval("rarely present", size, (self.first, self.first + 3), optional=True)
        return in_domain(v.end, [1, (3, None)], interval=v)

    def _span(self) -> Iterator[Constraint]:
        rng = self.rng
        parts = self._some(rng.randint(0, 2))
        if not parts or rng.random() < 0.4:
            parts.append(self._interval("part", rng.choice([0, 1, 2]), rng.choice([0, 1]), rng.random() < 0.6))
        over = self._interval("span", rng.choice([0, 1]), rng.choice([4, 6]), rng.random() < 0.5)
        yield span(over, parts)

    def _isomorphism(self) -> Iterator[Constraint]:
        rng = self.rng
        first = self._some(rng.randint(1, 2))
        second = [
            self._interval(f"slot {k}", rng.choice([1, 2]), rng.choice([0, 1, 2]), rng.random() < 0.7)
            for k in range(rng.randint(1, 2))
        ]
        if rng.random() < 0.15:
            second.append(first[0])
        yield isomorphism(first, second)

    def _capacity(self) -> Iterator[Constraint]:
        rng = self.rng
        members = self._some(2)
        if len(members) < 2:
            members.append(self._interval("other", rng.choice([1, 2]), rng.choice([0, 1]), rng.random() < 0.5))
        demands: list[int | Linear] = [rng.choice([0, 1, 1, 2]) for _ in members]
        if rng.random() < 0.25:
            demands[0] = self.units - self.units.lo
        capacity = self.units - self.units.lo + rng.choice([0, 0, 1])
        yield cumulative(members, demands, rng.choice([capacity, 2 * capacity]))

    def _lag(self) -> Iterator[Constraint]:
        rng = self.rng
        members = self._some(2)
        if len(members) < 2:
            members.append(self._interval("after", rng.choice([0, 1, 2]), rng.choice([0, 1]), rng.random() < 0.5))
        delay = rng.choice([self.units + 0, 2 * self.units - 1, self.units - 2, members[0].size + 0])
        most = rng.choice([None, delay, delay + 1, delay + 1, self.units + 3])
        made = rng.choice(PRECEDENCES)(members[0], members[1], delay, at_most=most)
        yield any_of([made, self.units >= self.units.hi]) if rng.random() < 0.2 else made


def random_structures(seed: int) -> tuple[Model, set[str]]:
    """Return the random model of a seed and the constructs that it contains.

    Examples
    --------
    >>> random_structures(1)[0].name
    'random 1'
    """
    made = RandomStructures(seed)
    return made.model, made.used


STATES = "states"


class RandomStates:
    """A random model with a state function, and often a capacity of the same intervals.

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
        rng = self.rng = random.Random(f"states {seed}")
        self.model = Model(f"random {seed}")
        self.used = {STATES}
        more = random.Random(f"states {seed} again")  # separate, so that it changes nothing in other models
        self.origin = rng.choice([0, 0, 0, -3, 2])
        n = rng.choice([2, 3, 3, 3, 4])
        several = [self._interval(f"i{k}", n) for k in range(n)]
        if more.random() < 0.3:
            self._same_state_again(several, more)
        else:
            batch = rng.random() < 0.7
            self.model.add(self._state(several, batch), "state")
            if batch:
                self.used.add("batches")
                self.model.add(cumulative(several, [rng.randint(1, 2) for _ in several], rng.randint(2, 3)), "capacity")
        ends = [v.end for v in several]
        if rng.random() < 0.3:
            aim = latest(ends)
        else:
            aim = total(ends, [rng.choice([1, 1, 2, -1]) for _ in ends])
        absent = total([1 - v.presence for v in several])
        if rng.random() < 0.9:
            self.used.add("minimize")
            self.model.minimize(aim + rng.choice([0, 6]) * absent)

    def _interval(self, name: str, n: int) -> Interval:
        rng = self.rng
        size = rng.randint(1, 3)
        begin = self.origin + rng.choice([0, 0, 1])
        window = (begin, begin + rng.randint(2, 3 if n == 4 else 6))
        sizes = (size, size + rng.choice([0, 0, 1]))
        return self.model.interval(name, sizes, window, optional=rng.random() < 0.3)

    def _same_state_again(self, several: list[Interval], more: random.Random) -> None:
        """Add batches of one interval each, whose states are often the same; the time between two of them is positive."""
        self.used |= {"batches", "alignment", "transitions of states"}
        uses: list[StateUse] = []
        for v in several:
            if more.random() < 0.2:
                self.used.add("constant state")
                uses.append(always_constant(v, True, True))
            else:
                uses.append(always_equal(v, more.choice([0, 0, 0, 1]), True, True))
        times = [[2, more.randint(1, 2)], [more.randint(1, 2), 1]]
        self.model.add(state_function(uses, times), "state")
        self.model.add(cumulative(several, [2] * len(several), more.randint(2, 3)), "capacity")

    def _state(self, several: list[Interval], batch: bool) -> StateFunction:
        rng = self.rng
        uses: list[StateUse] = []
        for v in several:
            start = batch or rng.random() < 0.3
            end = rng.random() < (0.6 if batch else 0.3)
            if start or end:
                self.used.add("alignment")
            if rng.random() < 0.35:
                self.used.add("constant state")
                uses.append(always_constant(v, start, end))
            else:
                uses.append(always_equal(v, rng.randint(0, 2), start, end))
        if rng.random() < 0.25:
            return state_function(uses)
        self.used.add("transitions of states")
        return state_function(uses, self._times())

    def _times(self) -> list[list[int]]:
        """Return random times between three states that obey the triangle inequality."""
        rng = self.rng
        times = [[rng.choice([0, 1, 2, 4]) if s != t else rng.choice([0, 0, 2]) for t in range(3)] for s in range(3)]
        for b, a, c in product(range(3), repeat=3):
            times[a][c] = min(times[a][c], times[a][b] + times[b][c])
        return times


def random_states(seed: int) -> tuple[Model, set[str]]:
    """Return the random model of a seed and the constructs that it contains.

    Examples
    --------
    >>> random_states(1)[0].name
    'random 1'
    """
    made = RandomStates(seed)
    return made.model, made.used


LEVELS = "levels"


class RandomLevels:
    """A random model with one or two levels.

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
        rng = self.rng = random.Random(f"levels {seed}")
        self.model = Model(f"random {seed}")
        self.used = {LEVELS}
        self.first = rng.choice([0, 0, 0, -3, 2])
        for k in range(rng.randint(2, 4)):
            size = rng.choice([0, 1, 2, 3])
            window = (self.first, self.first + rng.randint(2, 5))
            sizes = (size, size + rng.choice([0, 0, 0, 1]))
            self.model.interval(f"i{k}", sizes, window, optional=rng.random() < 0.35)
        self.units = self.model.integer("x0", 0, rng.randint(1, 2))
        for k in range(rng.randint(1, 2)):
            self.model.add(self._level(), f"level {k + 1}")
        weights = [rng.choice([1, 1, 2, -1]) for _ in self.model.intervals]
        absent = total([1 - v.presence for v in self.model.intervals])
        aim = total([v.end for v in self.model.intervals], weights) + rng.choice([0, 5]) * absent - self.units
        if rng.random() < 0.9:
            self.used.add("minimize")
            self.model.minimize(aim)

    def _level(self) -> Level:
        rng = self.rng
        made = LevelFunction((), ())
        pulses = rng.random() < 0.2
        for _ in range(rng.randint(2, 4)):
            v = rng.choice(self.model.intervals)
            if pulses:
                maker = pulse
            else:
                maker = rng.choice([at_start, at_end, pulse])
            self.used.add(maker.__name__)
            made = made + maker(v, self._height(pulses))
        if not pulses and rng.random() < 0.6:
            self.used.add("step_at")
            made = made + step_at(self.first + rng.randint(-1, 3), rng.choice([1, 2, 3, -1]))
        lo = rng.choice([None, 0, 0, 0, -1, -2])
        if lo is not None:
            hi = rng.choice([None, 1, 2, 3])
        else:
            hi = rng.choice([1, 2, 3])
        draw = rng.random()
        if draw < 0.25:
            self.used.add("level always")
            return always_in(made, lo, hi)
        if draw < 0.65:
            self.used.add("level in a window")
            begin = self.first + rng.randint(-1, 5)
            return always_in(made, self._raised(lo, hi), hi, window=(begin, begin + rng.randint(1, 4)))
        self.used.add("level during")
        return always_in(made, self._raised(lo, hi), hi, during=rng.choice(self.model.intervals))

    def _raised(self, lo: int | None, hi: int | None) -> int | None:
        """Return a least level that may be above 0, which is possible in a window."""
        if lo == 0 and hi != 0 and self.rng.random() < 0.4:
            return 1
        return lo

    def _height(self, positive: bool) -> int | Linear:
        rng = self.rng
        if rng.random() < 0.25:
            self.used.add("variable height")
            return rng.choice([1, 1, 2] if positive else [1, 2, -1]) * self.units + (
                0 if positive else rng.choice([0, 0, -1])
            )
        if positive:
            return rng.randint(0, 2)
        return rng.choice([1, 1, 2, -1, -1, -2])


def random_levels(seed: int) -> tuple[Model, set[str]]:
    """Return the random model of a seed and the constructs that it contains.

    Examples
    --------
    >>> random_levels(1)[0].name
    'random 1'
    """
    made = RandomLevels(seed)
    return made.model, made.used


SEQUENCES = "sequences"


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
        self.used = {SEQUENCES}
        self.origin = rng.choice([0, 0, 0, -3, 2])
        detour = rng.random() < 0.35
        self.squeeze = not detour and rng.random() < 0.25
        two = not detour and not self.squeeze and rng.random() < 0.75
        n = 3
        if two and rng.random() < 0.6:
            n = 2
        if not two:
            if detour or self.squeeze:
                n = 3
            else:
                n = rng.choice([2, 3, 3, 4])
        self.machines = [self._machine(k, n, small=two or n == 4) for k in range(2 if two else 1)]
        if detour:
            self.model.add(self._detour(), "detour")
        if self.squeeze:
            self.used.add("place in a sequence")
            one, _, other = self.machines[0].intervals
            self.model.add(self.machines[0].previous(one, other), "squeeze")
        if two and rng.random() < 0.95:
            self.used.add("same sequence")
            self.model.add(same_sequence(*self.machines), "same")
        if not self.squeeze:
            least = 1
            if detour:
                least = 0
            for k in range(rng.randint(least, 3)):
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
            if kind == "first":
                return machine.first(one)
            return machine.last(one)
        one, other = rng.sample(machine.intervals, 2)
        if kind == "before":
            return machine.before(one, other)
        return machine.previous(one, other)

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
        aim: Linear
        if rng.random() < 0.3:
            aim = latest(ends)
        else:
            aim = total(ends, [rng.choice([1, 1, 2, -1]) for _ in ends])
        aim = aim + rng.choice([0, 5]) * total([1 - v.presence for v in intervals])
        machine = rng.choice(self.machines)
        draw = rng.random()
        if self.squeeze:
            aim = aim + self._squeezed()
        elif draw < 0.55:
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

    def _squeezed(self) -> Linear:
        """Return costs that are least with the second interval between the two others, which it must not be."""
        self.used.add("transition costs")
        costs = [[8] * 3 for _ in range(3)]
        costs[0][1] = costs[1][2] = 0
        return sequence(self.machines[0].intervals).cost(costs) + 9 * total(
            [1 - v.presence for v in self.model.intervals]
        )


def random_sequences(seed: int) -> tuple[Model, set[str]]:
    """Return the random model of a seed and the constructs that it contains.

    Examples
    --------
    >>> random_sequences(1)[0].name
    'random 1'
    """
    made = RandomSequences(seed)
    return made.model, made.used


ARITHMETIC = ("arithmetic", "conditions", "relations")


class RandomArithmetic:
    """The random model of one pattern.

    - ``arithmetic``: products, absolute values, quotients and remainders by constants and by expressions, elements of
      expressions, nested in each other, in comparisons and objectives.
    - ``conditions``: ``!=``, and, or, not of comparisons, precedences with lags, presences; as constraints, in ``implies``
      and as numbers.
    - ``relations``: all_different, table and count of expressions.

    Parameters
    ----------
    pattern : str
        One of ``ARITHMETIC``.
    seed : int

    Attributes
    ----------
    model : Model
    used : set of str
        The constructs that it contains.
    """

    def __init__(self, pattern: str, seed: int) -> None:
        rng = self.rng = random.Random(f"{pattern} {seed}")
        self.model = Model(f"random {seed}")
        self.used = {pattern}
        first = rng.choice([0, 0, 0, -2, 3])
        for k in range(rng.randint(2, 3)):
            size = rng.choice([0, 1, 2, 3])
            self.model.interval(
                f"i{k}",
                (size, size + rng.choice([0, 0, 1])),
                (first, first + rng.randint(1, 4)),
                optional=rng.random() < 0.4,
            )
        for k in range(rng.randint(1, 2)):
            low = rng.choice([-3, -1, 0, 0, 1])
            self.model.integer(f"x{k}", low, low + rng.randint(1, 4))
        makers: dict[str, Callable[[], Constraint]] = {
            "arithmetic": self._arithmetic,
            "conditions": self._conditions,
            "relations": self._relations,
        }
        for _ in range(rng.randint(2, 3) if pattern == "relations" else rng.randint(1, 3)):
            made = makers[pattern]()
            self.model.add(made, f"{pattern} {len(self.model.constraints) + 1}")
        self._aim()

    def _aim(self) -> None:
        rng = self.rng
        draw = rng.random()
        if draw < 0.15:
            return
        if draw < 0.6:
            sense = self.model.minimize
        else:
            sense = self.model.maximize
        self.used.add("minimize" if draw < 0.6 else "maximize")
        parts = [v.end for v in self.model.intervals] + list(self.model.integers)
        weights = [rng.choice([1, 1, 2, -1]) for _ in parts]
        plain = total(parts, weights)
        sense(plain if rng.random() < 0.5 else plain + self._function(1))

    # Expressions

    def _leaf(self) -> Linear:
        rng = self.rng
        if rng.random() < 0.4:
            return linear(rng.choice(self.model.integers))
        v = rng.choice(self.model.intervals)
        return linear(rng.choice([v.start, v.end, v.size, v.presence]))

    def _sum(self, depth: int) -> Linear:
        rng = self.rng
        if depth == 0 or rng.random() < 0.4:
            made = self._leaf()
        else:
            made = self._function(depth - 1)
        if rng.random() < 0.4:
            made = made + rng.choice([1, -1, 2]) * self._leaf()
        if rng.random() < 0.4:
            return made + rng.choice([0, 0, 1, -2])
        return made

    def _function(self, depth: int) -> Linear:
        makers: dict[str, Callable[[int], Linear]] = {
            "product": lambda d: self._sum(d) * self._sum(d),
            "abs": lambda d: abs(self._sum(d)),
            "//": lambda d: self._sum(d) // self._divisor(),
            "%": lambda d: self._sum(d) % self._divisor(),
            "element of expressions": self._element,
        }
        name = self.rng.choice(list(makers))
        self.used.add(name)
        return makers[name](depth)

    def _divisor(self) -> Linear | int:
        rng = self.rng
        if rng.random() < 0.5:
            return rng.choice([2, 3, 3, 5, -2, 1])
        self.used.add("variable divisor")
        e = self._leaf()
        low = int(Bounds().of(e)[0])
        return e - low + rng.choice([0, 1, 1, 2])

    def _element(self, depth: int) -> Linear:
        rng = self.rng
        index = self._leaf()
        low, high = (int(b) for b in Bounds().of(index))
        shift = low + rng.choice([0, 0, 0, -1, 1])
        entries = [self._sum(depth) if rng.random() < 0.7 else rng.randint(-3, 5) for _ in range(high - low + 1)]
        return element(entries, index - shift)

    def _compared(self, e: Linear) -> Comparison:
        """Return a comparison of an expression of whole numbers with a value within its bounds."""
        low, high = (int(b) for b in Bounds().of(e))
        if self.rng.random() < 0.5:
            edge = self.rng.randint(low, high)
        else:
            edge = (low + high) // 2
        sign = self.rng.choice(["<=", ">=", "==", "!="])
        self.used.add(sign)
        if sign == "<=":
            return e <= edge
        if sign == ">=":
            return e >= edge
        if sign == "==":
            return e == edge
        return e != edge

    # Constraints

    def _arithmetic(self) -> Comparison:
        return self._compared(self._function(self.rng.choice([0, 0, 1])) + self.rng.choice([0, 1]) * self._leaf())

    def _condition(self, depth: int) -> Comparison | Precedence | VariableDelay | Linear:
        rng = self.rng
        draw = rng.random()
        if depth == 0 or draw < 0.3:
            if draw < 0.12:
                v = rng.choice(self.model.intervals)
                self.used.add("presence as condition")
                return linear(v.presence)
            if draw < 0.5:
                return self._precedence()
            return self._compared(self._sum(0))
        if draw < 0.55:
            self.used.add("not")
            return ~self._condition(depth - 1)
        both = [self._condition(depth - 1) for _ in range(rng.randint(2, 3))]
        self.used.add("or" if draw < 0.8 else "and")
        if draw < 0.8:
            return any_of(both)
        return all_of(both)

    def _precedence(self) -> Precedence | VariableDelay:
        rng = self.rng
        before, after = rng.sample(self.model.intervals, 2)
        delay = rng.choice([0, 0, 1, -2])
        self.used.add("precedence as condition")
        at_most = None
        if rng.random() < 0.3:
            at_most = delay + rng.randint(0, 3)
        return rng.choice(PRECEDENCES)(before, after, delay, at_most=at_most)

    def _conditions(self) -> Comparison:
        rng = self.rng
        draw = rng.random()
        if draw < 0.3:
            self.used.add("implies")
            return implies(self._condition(1), self._condition(1))
        if draw < 0.6:
            self.used.add("holds")
            truths = [holds(self._condition(1)) for _ in range(rng.randint(2, 3))]
            return self._compared(total(truths, [rng.choice([1, 1, -2]) for _ in truths]))
        return any_of([self._condition(2), self._condition(1)])

    def _relations(self) -> Constraint:
        rng = self.rng
        draw = rng.random()
        several = [self._sum(rng.choice([0, 0, 1])) for _ in range(rng.randint(2, 3))]
        if rng.random() < 0.3:
            several.append(linear(rng.randint(0, 2)))
        if draw < 0.33:
            self.used.add("all_different")
            return all_different(several)
        if draw < 0.67:
            self.used.add("table")
            return table(several, [self._row(several) for _ in range(rng.randint(2, 8))])
        self.used.add("count")
        value = rng.randint(0, 3) if rng.random() < 0.6 else self._leaf()
        return self._compared(count(several, value))

    def _row(self, several: list[Linear]) -> tuple[int, ...]:
        row = []
        for e in several:
            low, high = (int(b) for b in Bounds().of(e))
            row.append(self.rng.randint(low, high))
        return tuple(row)


def random_arithmetic(seed: int) -> tuple[Model, set[str]]:
    """Return the random model of a seed, of one of the patterns in turn, and the constructs that it contains.

    Examples
    --------
    >>> random_arithmetic(1)[0].name
    'random 1'
    """
    made = RandomArithmetic(ARITHMETIC[seed % len(ARITHMETIC)], seed)
    return made.model, made.used
