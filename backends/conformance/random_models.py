"""Small random models for the conformance test; together they contain all constructs of the language."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable, Iterator
from itertools import permutations
from typing import NamedTuple

from ...models import language as sl
from ...models.language import (
    Assignment,
    Bounds,
    Comparison,
    Constraint,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
    UndefinedValue,
    all_or_none,
    alternative,
    cumulative,
    element,
    end_before_end,
    end_before_start,
    forbid_extent,
    holds,
    implies,
    no_overlap,
    overlap,
    piecewise,
    positive_part,
    start_before_start,
    synchronize,
)
from ...models.language import max as latest
from ...models.language import sum as total
from ...models.language.expressions import Atom, Function, linear
from .enumeration import EnumerationError, Value, Variable, brute_force, domain
from .random_constructs import (
    PRECEDENCES,
    random_arithmetic,
    random_levels,
    random_sequences,
    random_states,
    random_structures,
)

# --- Random expressions over the variables of a model: sums and nested functions.

REALS = (0.5, 0.25, 0.1, 1.5, -0.5, -0.2, 2.0)
GAPS = (1, 2, 2, 4, 5)  # distances between the points of a piecewise function: its slopes are short decimals


class RandomExpressions:
    """A generator of random expressions; it adds the constructs that it uses to the set ``used``."""

    def __init__(self, rng: random.Random, model: Model, used: set[str]) -> None:
        self.rng = rng
        self.model = model
        self.used = used

    def linear(self, depth: int, real: bool = False) -> Linear:
        """Return a sum of variables and, for depth > 0, of functions whose operands have less depth."""
        rng = self.rng
        parts: list[Atom | Linear] = [self._leaf() for _ in range(rng.randint(0 if depth else 1, 2))]
        if depth:
            parts += [self.function(depth - 1) for _ in range(rng.choice([1, 1, 2]))]
        factors: list[int | float] = [rng.choice([1, 1, 1, 2, -1, -2, 3]) for _ in parts]
        if real:
            factors = [rng.choice(REALS) if rng.random() < 0.6 else f for f in factors]
        if len(parts) > 1:
            self.used.add("sum")
        return total(parts, factors) + (rng.randint(-3, 3) if rng.random() < 0.3 else 0)

    def integral(self, depth: int) -> Linear:
        """Return a sum whose value is a whole number."""
        terms = (self.linear(depth) for _ in range(4))
        return next((e for e in terms if e.integral), linear(self._leaf()))

    def truth(self) -> Linear:
        """Return a 0/1 expression: a presence, a Boolean variable, or ``holds`` of a comparison."""
        rng = self.rng
        known = [linear(v.presence) for v in self.model.intervals if v.optional]
        known += [linear(x) for x in self.model.integers if (x.lo, x.hi) == (0, 1)]
        if known and rng.random() < 0.8:
            return rng.choice(known)
        return self._holds(0)

    def function(self, depth: int) -> Linear:
        """Return a function whose operands have the given depth."""
        makers: dict[str, Callable[[int], Linear]] = {
            "max": lambda d: sl.max(self._operands(d)),
            "min": lambda d: sl.min(self._operands(d)),
            "positive_part": lambda d: positive_part(self.linear(d)),
            "holds": self._holds,
            "overlap": lambda d: self._overlap(),
            "element": self._element,
            "piecewise": self._piecewise,
        }
        name = self.rng.choice(list(makers))
        made = makers[name](depth)
        self.used.add(name)
        below = (a for f in made.terms if isinstance(f, Function) for e in f.operands for a in e.terms)
        if any(isinstance(a, Function) for a in below):
            self.used.add("nested")
        return made

    def _operands(self, depth: int) -> list[Linear]:
        return [self.linear(depth) for _ in range(self.rng.randint(2, 3))]

    def _leaf(self) -> Atom:
        rng = self.rng
        if self.model.integers and rng.random() < 0.3:
            return rng.choice(self.model.integers)
        interval = rng.choice(self.model.intervals)
        return (interval.start, interval.end, interval.size, interval.presence)[rng.choice([0, 0, 1, 1, 2, 3])]

    def _holds(self, depth: int) -> Linear:
        e = self.integral(depth)
        lo, hi = Bounds().of(e)
        edge = self.rng.randint(int(lo), int(hi))
        self.used.add("holds")
        return holds(self.rng.choice([e <= edge, e >= edge, e == edge, e < edge]))

    def _overlap(self) -> Linear:
        interval = self.rng.choice(self.model.intervals)
        lo = interval.start_lo + self.rng.randint(-1, 4)
        return overlap(interval, lo, lo + self.rng.randint(1, 5))

    def _element(self, depth: int) -> Linear:
        """Return an element of an array at an expression; some arrays are too short or shifted for its values."""
        rng = self.rng
        if rng.random() < 0.4:
            e = self.integral(depth)
        else:
            e = linear(self._leaf())
        lo, hi = (int(b) for b in Bounds().of(e))
        if rng.random() < 0.3:
            lo += rng.randint(-1, 1)
        if rng.random() < 0.6:
            count = hi - lo + 1 or 1
        else:
            count = rng.randint(1, 6)
        values: list[int | float] = [rng.randint(-3, 6) for _ in range(count if count < 40 else 40)]
        if rng.random() < 0.15:
            values = [v + 0.5 for v in values]
        return element(values, e - lo)

    def _piecewise(self, depth: int) -> Linear:
        """Return a piecewise function of an expression; some do not cover all of its values."""
        rng = self.rng
        e = self.linear(depth, rng.random() < 0.2)
        lo, hi = Bounds().of(e)
        if lo < 0:
            x = int(lo) - 1
        else:
            x = int(lo)
        points = [(x, rng.randint(-3, 5))]
        while len(points) < 2 or (points[-1][0] < hi and len(points) < 8):
            gap = 20
            if hi - points[-1][0] < 12:
                gap = rng.choice(GAPS)
            points.append((points[-1][0] + gap, rng.randint(-3, 5)))
        if len(points) > 2 and rng.random() < 0.2:
            points.pop(rng.choice([0, -1]))
        return piecewise(e, points)


# --- Random constraints on presences, forbidden windows, maximum time lags and transition times.

SHARE = 0.2  # of the models that have each kind


class RandomTransitions:
    """A generator of these constraints for a model; it adds the constructs that it uses to the set ``used``."""

    def __init__(self, rng: random.Random, model: Model, used: set[str]) -> None:
        self.rng = rng
        self.model = model
        self.used = used

    def constraints(self) -> Iterator[Constraint]:
        """Yield the constraints; about one kind per model."""
        kinds = {
            self._forbid_extent: SHARE,
            self._maximum_lag: SHARE,
            self._cycle: SHARE,
            self._transitions: 1.5 * SHARE,  # some have no triangle inequality
            self._all_or_none: 2.5 * SHARE,  # few models have two optional intervals
        }
        for kind, share in kinds.items():
            if self.rng.random() < share:
                yield from kind()

    def _some(self, least: int, most: int, among: list[Interval] | None = None) -> list[Interval]:
        if among is None:
            intervals = self.model.intervals
        else:
            intervals = among
        return self.rng.sample(intervals, min(len(intervals), self.rng.randint(least, most)))

    def _all_or_none(self) -> Iterator[Constraint]:
        chosen = self._some(2, 3, [v for v in self.model.intervals if v.optional])
        if len(chosen) > 1:
            self.used.add("all_or_none")
            yield all_or_none(chosen)

    def _forbid_extent(self) -> Iterator[Constraint]:
        """Yield a constraint with windows in which the interval can run, most of them within its time range."""
        rng = self.rng
        empty = [v for v in self.model.intervals if v.size_lo == 0]
        (v,) = self._some(1, 1, empty if empty and rng.random() < 0.3 else None)
        windows = []
        for _ in range(rng.randint(1, 2)):
            lo = rng.randint(v.start_lo - 1, min(v.start_hi, v.start_lo + 2) + v.size_hi)
            windows.append((lo, lo + rng.choice([1, 1, 2, 3])))
        self.used.add("forbid_extent")
        yield forbid_extent(v, windows)

    def _maximum_lag(self) -> Iterator[Constraint]:
        before, after = self._some(2, 2)
        delay = self.rng.choice([0, 0, 1, 2, -1, -2, -3, -5])
        self.used.add("maximum lag")
        yield self.rng.choice(PRECEDENCES)(before, after, delay, at_most=delay + self.rng.choice([0, 1, 1, 2, 4]))

    def _cycle(self) -> Iterator[Constraint]:
        """Yield minimum lags around a cycle, whose sum is not positive in most cases."""
        chosen = self._some(2, 3)
        self.used.add("cycle of lags")
        for k, v in enumerate(chosen):
            if k + 1 < len(chosen):
                delay = self.rng.choice([0, 0, 1, -1])
            else:
                delay = -self.rng.randint(2, 8)
            kind = self.rng.choice([start_before_start, start_before_start, end_before_start, end_before_end])
            yield kind(v, chosen[(k + 1) % len(chosen)], delay)

    def _transitions(self) -> Iterator[Constraint]:
        rng = self.rng
        short = [v for v in self.model.intervals if v.size_hi <= 3]
        chosen = self._some(
            *rng.choice([(2, 2), (3, 3), (3, 4)]), short if len(short) > 1 and rng.random() < 0.7 else None
        )
        times = [[rng.choice([0, 0, 0, 1, 1, 2]) for _ in chosen] for _ in chosen]
        if len(chosen) > 2 and rng.random() < 0.7:  # the detours over the interval at position 1 are shorter
            for k in range(len(chosen)):
                times[1][k] = times[k][1] = 0
            times[0][2] = times[2][0] = max(1, chosen[1].size_lo) + rng.randint(1, 2)
        made = no_overlap(chosen, times)
        if made.timed:
            self.used.add("transitions")
            if any(v.size_lo == 0 for v in chosen):
                self.used.add("transitions of points")
        if any(_detour(made, i, j, k) for i, j, k in permutations(range(len(chosen)), 3)):
            self.used.add("no triangle inequality")
        yield made


def _detour(c: NoOverlap, i: int, j: int, k: int) -> bool:
    """Return whether i to j takes longer than i to k, k, and k to j."""
    detour = c.transition(i, k) + max(1, c.intervals[k].size_lo) + c.transition(k, j)
    return detour < c.transition(i, j)


# --- Random models of patterns that solvers or lowerings got wrong: crews, options on one machine, masters, points.
#
# - ``crew``: a multi-skill project. Each task needs one or two workers of one or two skills; a worker does one thing at a time.
# - ``shared machine``: tasks with options of different lengths on few machines, with or without transition times.
# - ``master on the machine``: optional tasks of variable size, in a ``no_overlap`` with their own options.
# - ``points in a sequence``: intervals of size 0 with transition times, some of which allow no order at the same time.

PATTERNS = ("crew", "shared machine", "master on the machine", "points in a sequence")


class RandomPattern:
    """The random model of one pattern.

    Parameters
    ----------
    pattern : str
        One of ``PATTERNS``.
    seed : int

    Attributes
    ----------
    model : Model
    used : set of str
        The constructs that it contains.
    """

    def __init__(self, pattern: str, seed: int) -> None:
        self.rng = random.Random(f"{pattern} {seed}")
        self.model = Model(f"random {seed}")
        self.used = {pattern, "no_overlap", "optional", "minimize", "fixed size"}
        self.machines: list[list[Interval]] = []
        self.most = 4
        makers = (self._crew, self._shared_machine, self._master, self._points)
        dict(zip(PATTERNS, makers, strict=True))[pattern]()

    def _task(self, name: str, size: tuple[int, int], optional: bool = False) -> Interval:
        return self.model.interval(name, size, (0, self.most), optional)

    def _options(self, task: Interval, sizes: list[tuple[int, int]], count: int) -> list[Interval]:
        """Add an alternative of a task with one option for each size."""
        at = len(self.model.intervals)
        made = [self._task(f"{task} as {at + k}", size, True) for k, size in enumerate(sizes)]
        self.model.add(alternative(task, made, count), f"alternative {len(self.model.constraints) + 1}")
        self.used.add("alternative of 1" if count == 1 else "alternative of several")
        return made

    def _machines(self, transitions: bool) -> None:
        rng = self.rng
        for k, members in enumerate(self.machines):
            if len(members) > 1:
                rng.shuffle(members)
                times = None
                if transitions:
                    times = [[rng.choice([0, 1, 1, 2]) for _ in members] for _ in members]
                made = no_overlap(members, times)
                if made.timed:
                    self.used.add("transitions")
                self.model.add(made, f"machine {k + 1}")

    def _aim(self, tasks: list[Interval]) -> None:
        if self.rng.random() < 0.6:
            self.model.minimize(latest([v.end for v in tasks]))
            self.used.add("max")
        else:
            self.model.minimize(total([v.end for v in tasks], [self.rng.choice([1, 2, 3]) for _ in tasks]))
            self.used.add("sum")

    def _crew(self) -> None:
        rng = self.rng
        workers = rng.choice([2, 2, 3])
        self.machines = [[] for _ in range(workers)]
        tasks = [self._task(f"t{k}", (s := rng.randint(1, 3), s)) for k in range(2)]
        for v in tasks:
            if rng.random() < 0.5:
                skills = [workers, 1]
            else:
                skills = [rng.randint(2, workers)]
            for skilled in rng.sample(skills, len(skills)):
                who = rng.sample(range(workers), skilled)
                count = 1
                if skilled > 1:
                    count = rng.randint(1, 2)
                for worker, o in zip(who, self._options(v, [(v.size_lo, v.size_hi)] * skilled, count), strict=True):
                    self.machines[worker].append(o)
        if rng.random() < 0.3:
            self.model.add(start_before_start(tasks[0], tasks[1]), "precedence")
            self.used.add("start_before_start")
        self._machines(transitions=rng.random() < 0.2)
        self._aim(tasks)

    def _shared_machine(self) -> None:
        rng = self.rng
        self.machines = [[] for _ in range(rng.choice([1, 1, 2]))]
        tasks = []
        for k in range(rng.randint(2, 3) if len(self.machines) == 1 else 2):
            sizes = [(s := rng.randint(1, 3), s) for _ in range(rng.randint(2, 3))]
            v = self._task(f"t{k}", (min(sizes)[0], max(sizes)[1]))
            tasks.append(v)
            for o in self._options(v, sizes, 1):
                rng.choice(self.machines).append(o)
        if rng.random() < 0.3:
            self.model.add(end_before_start(tasks[0], tasks[1]), "precedence")
            self.used.add("end_before_start")
        self._machines(transitions=rng.random() < 0.7)
        self._aim(tasks)

    def _master(self) -> None:
        rng = self.rng
        self.used |= {"variable size", "optional alternative", "maximize"}
        self.used.discard("minimize")
        v = self._task("v", (3, 4), True)
        first, second = self._options(v, [(1, 3), (1, rng.choice([1, 4]))], rng.choice([1, 1, 2]))
        members = [v, first]
        if rng.random() < 0.5:
            w = self._task("w", (1, 2), rng.random() < 0.5)
            members.append(w)
            if rng.random() < 0.3:
                self.model.add(synchronize(w, [second]), "synchronize")
                self.used.add("synchronize")
        self.machines = [members]
        self._machines(transitions=rng.random() < 0.2)
        self.model.maximize(v.size - rng.randint(1, 3) * second.end + total([x.presence for x in members]))

    def _points(self) -> None:
        rng = self.rng
        self.used |= {"zero size", "transitions", "transitions of points", "no triangle inequality", "sum"}
        tasks = []
        for k in range(rng.choice([3, 3, 4])):
            first = rng.choice([0, 0, 0, 1])
            size = rng.choice([(0, 0), (0, 0), (0, 0), (0, 1), (0, 1), (1, 1)])
            tasks.append(self.model.interval(f"t{k}", size, (first, first + rng.randint(0, 3)), rng.random() < 0.2))
        n = len(tasks)
        late = rng.randint(1, 3)
        cycle = [[late if i == (j + 1) % n else 0 for j in range(n)] for i in range(n)]
        mixed = [[rng.choice([0, 0, 0, 1, 2]) for _ in tasks] for _ in tasks]
        self.model.add(no_overlap(tasks, cycle if rng.random() < 0.8 else mixed), "sequence")
        absent = total([1 - v.presence for v in tasks])
        self.model.minimize(total([v.end for v in tasks], [rng.choice([1, 1, 2]) for _ in tasks]) + 9 * absent)


LARGE = (10**3, 10**6, 10**9, 2 * 10**9, 10**12)
PATTERN_PERIOD = (
    4  # each fourth seed gives a model of a pattern, another fourth one of ``random_arithmetic`` or ``random_levels``
)
STRUCTURE_PERIOD = 8  # each second one of those of patterns is one of ``random_structures``
ARITHMETIC = 2  # the rest of the seeds of ``random_arithmetic`` after division by the period
LEVEL_PERIOD = 4  # each fourth one of these is one of ``random_levels``
SEQUENCE_PERIOD = 8  # each eighth seed gives a model of ``random_sequences`` or ``random_states``
SEQUENCE = 5  # the rest of their seeds after division by this period
STATE_PERIOD = 3  # each third one of these is one of ``random_states``
OPEN = 20  # s: latest start with the default horizon; a model whose derived horizon is later gets another one
ROOM = 30_000  # most assignments of a model: the product of the sizes of its domains


class RandomModel(NamedTuple):
    """A random model and the constructs of the language that it contains."""

    model: Model
    constructs: frozenset[str]


def random_model(seed: int) -> RandomModel:
    """Return the random model of a seed; the same seed gives the same model. Each second one is of a pattern.

    Parameters
    ----------
    seed : int
        Any whole number from 0.

    Returns
    -------
    RandomModel
        The model and the names of the constructs that it uses.

    Examples
    --------
    >>> random_model(7).model.name
    'random 7'
    """
    if seed % STRUCTURE_PERIOD == PATTERN_PERIOD:
        model, used = random_structures(seed // STRUCTURE_PERIOD)
        model.name = f"random {seed}"
        return RandomModel(model, frozenset(used))
    if seed % PATTERN_PERIOD == 0:
        made = RandomPattern(PATTERNS[seed // STRUCTURE_PERIOD % len(PATTERNS)], seed)
        return RandomModel(made.model, frozenset(made.used))
    if seed % PATTERN_PERIOD == ARITHMETIC:
        k = seed // PATTERN_PERIOD
        if k % LEVEL_PERIOD == 0:
            model, used = random_levels(k)
        else:
            model, used = random_arithmetic(k)
        model.name = f"random {seed}"
        return RandomModel(model, frozenset(used))
    if seed % SEQUENCE_PERIOD == SEQUENCE:
        k = seed // SEQUENCE_PERIOD
        if k % STATE_PERIOD == 0:
            model, used = random_states(k)
        else:
            model, used = random_sequences(k)
        model.name = f"random {seed}"
        return RandomModel(model, frozenset(used))
    return general_model(seed)


def general_model(seed: int) -> RandomModel:
    """Return the random model of a seed that is of no pattern: variables, constraints and objectives of all kinds.

    Parameters
    ----------
    seed : int
        Any whole number.

    Returns
    -------
    RandomModel
        The model and the names of the constructs that it uses.
    """
    return _Maker(seed).make()


def _declared(v: Interval) -> list[tuple[int, int]] | None:
    if v.declared_windows is None:
        return None
    return list(v.declared_windows)


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.scaling = random.Random(
            f"{seed} scaling"
        )  # separate, so that the choice of large numbers changes nothing else
        self.used: set[str] = set()
        self.spread = self.rng.random() < 0.2  # most intervals have no windows, with the default or a given horizon
        horizon = None
        if self.spread and self.rng.random() < 0.5:
            horizon = self.rng.randint(3, 7)
        self.open = horizon is None
        self.model = Model(f"random {seed}", horizon)
        self.origin = self.rng.choice([0] * 6 + [-4, -2, 3])
        self.room = float(ROOM)
        self.reference: dict[Variable, object] = {}
        self.expressions = RandomExpressions(self.rng, self.model, self.used)

    def make(self) -> RandomModel:
        """Add variables, constraints and objectives."""
        rng = self.rng
        for _ in range(rng.randint(2, 4)):
            self._interval()
        for _ in range(rng.choice([0, 1, 1, 2])):
            self._integer()
        kinds = self._kinds()
        for k in range(rng.randint(2, 5)):
            kind = rng.choices(list(kinds), [w for w, _ in kinds.values()])[0]
            for constraint in kinds[kind][1]():
                self.model.add(constraint, f"{kind} {k + 1}.{len(self.model.constraints) + 1}")
        extra = random.Random(f"{self.model.name} lags and transitions")  # separate, as above
        for constraint in RandomTransitions(extra, self.model, self.used).constraints():
            self.model.add(constraint, f"extra {len(self.model.constraints) + 1}")
        self._add_objectives()
        derived = self.model.derived_horizon
        if derived is not None and derived.value > OPEN:  # too many assignments to enumerate
            self.used.discard("default horizon")
            self.model = self.model.with_horizon(rng.randint(3, 7))
        self._move_to_zero()
        return RandomModel(self.model, frozenset(self.used))

    def _domain(self, variable: Variable) -> list[Value]:
        """Return the values of a variable; of an interval without windows, those up to ``OPEN``."""
        if isinstance(variable, Interval) and variable.declared_windows is None and self.open:
            sizes = range(variable.size_lo, variable.size_hi + 1)
            absent: list[Value] = []
            if variable.optional:
                absent = [None]
            return absent + [(s, s + size) for s in range(OPEN + 1) for size in sizes]
        return domain(variable)

    def _kinds(self) -> dict[str, tuple[float, Callable[[], list[Constraint]]]]:
        """Return for each kind of constraint its weight and the method that makes it."""
        return {
            "alternative": (1.7, self._alternative),
            "cumulative": (3.2, self._cumulative),
            "no_overlap": (1.8, self._no_overlap),
            "synchronize": (0.8, self._synchronize),
            "precedence": (3.2, self._precedence),
            "implication": (0.8, self._implies),
            "comparison": (4.5, self._comparison),
        }

    # Variables

    def _interval(self, optional: bool | None = None, like: Interval | None = None) -> Interval | None:
        """Add an interval (often like ``like``); return None if the model would have too many assignments."""
        rng = self.rng
        if optional is None:
            optional = rng.random() < 0.4
        size = self._size()
        if self.spread and rng.random() < 0.7:
            start = None
        else:
            start = self._windows()
        if like is not None:
            if rng.random() < 0.7:
                size = (like.size_lo, like.size_hi)
            if rng.random() < 0.6:
                start = _declared(like)
        if start is None:
            places = 8
            if self.open:
                places = OPEN
        else:
            places = sum(b - a + 1 for a, b in start)
        count = places * (size[1] - size[0] + 1) + optional
        if count > self.room:
            return None
        self.room /= count
        made = self.model.interval(f"i{len(self.model.intervals)}", size, start, optional)
        self._note_interval(made, start is None)
        if rng.random() < 0.8:
            self.reference[made] = rng.choice(self._domain(made))
        else:
            self.reference[made] = self._domain(made)[0]
        return made

    def _size(self) -> tuple[int, int]:
        draw = self.rng.random()
        if draw < 0.1:
            return 0, 0
        if draw < 0.4:
            lo = self.rng.choice([0, 1, 2, 3])
        else:
            lo = self.rng.randint(1, 4)
        return lo, lo + (self.rng.randint(1, 2) if draw < 0.4 else 0)

    def _windows(self) -> list[tuple[int, int]]:
        rng = self.rng
        lo = self.origin + rng.randint(0, 3)
        if rng.random() < 0.25:
            hi = lo + rng.randint(0, 2)
            gap = rng.randint(2, 3)
            return [(lo, hi), (hi + gap, hi + gap + rng.randint(0, 1))]
        return [(lo, lo + rng.randint(0, 4))]

    def _note_interval(self, v: Interval, default: bool) -> None:
        sizes = "variable size"
        if v.size_lo == v.size_hi:
            sizes = "fixed size"
        self.used.add("zero size" if v.size_hi == 0 else sizes)
        for occurs, construct in (
            (v.size_lo == 0 < v.size_hi, "size from zero"),
            (len(v.windows) > 1, "start windows"),
            (v.optional, "optional"),
            (default, "default horizon"),
            (v.start_lo < 0, "negative time"),
        ):
            if occurs:
                self.used.add(construct)

    def _integer(self, lo: int | None = None) -> Integer | None:
        rng = self.rng
        if lo is None and rng.random() < 0.4:
            self.used.add("boolean")
            lo, hi = 0, 1
        else:
            if lo is None:
                lo = rng.randint(-3, 2)
            hi = lo + rng.randint(0, 3)
            self.used.add("negative integer" if lo < 0 else "integer")
        if hi - lo + 1 > self.room:
            return None
        self.room /= hi - lo + 1
        name = f"x{len(self.model.integers)}"
        if (lo, hi) == (0, 1):
            made = self.model.boolean(name)
        else:
            made = self.model.integer(name, lo, hi)
        self.reference[made] = rng.randint(lo, hi)
        return made

    def _some(self, least: int, most: int) -> list[Interval]:
        intervals = self.model.intervals
        return self.rng.sample(intervals, min(len(intervals), self.rng.randint(least, most)))

    # Constraints

    def _alternative(self) -> list[Constraint]:
        rng = self.rng
        master = rng.choice(self.model.intervals)
        options = [o for o in (self._interval(True, like=master) for _ in range(rng.randint(2, 3))) if o]
        if not options:
            return []
        if rng.random() < 0.55:
            count = 1
        else:
            count = rng.randint(2, 3)
        self.used.add("alternative of 1" if count == 1 else "alternative of several")
        if master.optional:
            self.used.add("optional alternative")
        return [alternative(master, options, count)]

    def _cumulative(self) -> list[Constraint]:
        chosen = self._some(2, 5)
        chosen += self._instant(chosen[0])
        demands = [self._demand() for _ in chosen]
        known = [d for d in demands if isinstance(d, int)]
        top = max([1, *known]) + self.rng.choice([0, 0, 1, 2])
        if self.rng.random() < 0.5:
            self.used.add("cumulative constant")
            return [cumulative(chosen, demands, top)]
        self.used.add("cumulative stepwise")
        times = sorted(self.rng.sample(range(self.origin, self.origin + 8), self.rng.randint(2, 3)))
        low = self.rng.randint(0, 1)
        capacities = [top if k % 2 == low else self.rng.randint(0, top - 1) for k in range(len(times))]
        return [cumulative(chosen, demands, list(zip(times, capacities, strict=True)))]

    def _demand(self) -> int | Integer | Linear:
        rng = self.rng
        draw = self.rng.random()
        if draw < 0.65:
            return rng.randint(0, 3)
        known = [x for x in self.model.integers if x.lo >= 0]
        made = rng.choice(known) if known and rng.random() < 0.6 else self._integer(lo=rng.randint(0, 2))
        if made is None:
            return 1
        if draw < 0.85:
            self.used.add("variable demand")
            return made
        self.used.add("affine demand")
        if draw < 0.92:
            return 2 * made + rng.randint(0, 1)
        return made.hi + rng.randint(0, 1) - made

    def _no_overlap(self) -> list[Constraint]:
        self.used.add("no_overlap")
        chosen = self._some(2, 4)
        return [no_overlap(chosen + self._instant(chosen[0]))]

    def _instant(self, host: Interval) -> list[Interval]:
        """Return an interval that can have size 0 at a time at which ``host`` can be running, or nothing."""
        if self.rng.random() < 0.5 or host.size_hi < 2:
            return []
        at = host.start_lo + self.rng.randint(1, host.size_hi)
        made = self.model.interval(f"i{len(self.model.intervals)}", (0, self.rng.randint(0, 1)), at)
        self._note_interval(made, False)
        self.reference[made] = domain(made)[0]
        return [made]

    def _synchronize(self) -> list[Constraint]:
        self.used.add("synchronize")
        chosen = self._some(2, 3)
        fresh = self._interval(like=chosen[0])
        return [synchronize(chosen[0], [*chosen[2:], fresh] if fresh else chosen[1:])]

    def _precedence(self) -> list[Constraint]:
        kind = self.rng.choice(PRECEDENCES)
        before, after = self.rng.sample(self.model.intervals, 2)
        delay = self.rng.choice([0, 0, 0, 1, 2, -1, -2, -3])
        self.used.add(kind.__name__)
        if delay:
            self.used.add("delay" if delay > 0 else "negative delay")
        return [kind(before, after, delay)]

    def _implies(self) -> list[Constraint]:
        self.used.add("implies")
        return [implies(self._truth(), self._truth())]

    def _truth(self) -> Linear | Comparison:
        if self.rng.random() < 0.4:
            return self._compared(self.expressions.integral(1), real=False)
        return self.expressions.truth()

    def _comparison(self) -> list[Constraint]:
        rng = self.rng
        e = self.expressions.linear(rng.choice([0, 1, 1, 2]), rng.random() < 0.25)
        if e.integral and rng.random() < 0.25:
            middle = round(self._at_reference(e))
            self.used.add("range")
            return [e >= middle - rng.randint(0, 1), e <= middle + rng.randint(0, 1)]
        compared = self._compared(e, real=True)
        return [self._enlarged(compared) if compared.integral and self.scaling.random() < 0.25 else compared]

    def _enlarged(self, c: Comparison) -> Comparison:
        """Return an equivalent comparison: multiplied by a factor, bounds of an inequality loosened by less than it."""
        factor = self.scaling.choice(LARGE)
        rest = 0
        if c.lo != c.hi:
            rest = self.scaling.randrange(factor)
        lo, hi = (side if math.isinf(side) else factor * int(side) for side in (c.lo, c.hi))
        self.used.add("large coefficients")
        return Comparison(factor * c.expr, lo - rest, hi + rest)

    def _compared(self, e: Linear, real: bool) -> Comparison:
        """Return a comparison of the expression with a value near its value at the reference assignment."""
        rng = self.rng
        value = round(self._at_reference(e), 6)
        slack = rng.choice([0, 0, 0, 1, 1, 2, 3, -1])
        sign = rng.choice(["<=", "<=", ">=", ">=", "==", "<", "<"])
        integral = e.integral and isinstance(value, int)
        if not integral and (not real or sign == "<"):
            sign = "<="
        if real and rng.random() < 0.08:
            value += 0.5  # a fractional bound of an expression that is a whole number
        if not integral or not isinstance(value, int):
            self.used.add("real comparison")
            if sign == "<":
                sign = "<="
        self.used.add(sign)
        if sign == "==":
            if rng.random() < 0.85:
                return e == value
            return e == value + slack
        if sign == ">=":
            return e >= value - slack
        if sign == "<":
            return e < value + slack + 1
        return e <= value + slack

    def _at_reference(self, e: Linear) -> int | float:
        """Return a value of the expression: at the reference assignment or, if undefined there, at a random one."""
        for _ in range(4):
            variables: list[Variable] = [*self.model.intervals, *self.model.integers]
            values = {v: self.reference[v] for v in variables}
            try:
                return self.model.value(e, Assignment(self.model, values))
            except UndefinedValue:
                self.reference.update({v: self.rng.choice(self._domain(v)) for v in self.model.intervals})
        return 0

    # Objectives

    def _add_objectives(self) -> None:
        rng = self.rng
        draw = self.rng.random()
        if draw < 0.12:
            self.used.add("no objective")
            return
        count = 1
        if draw < 0.3:
            count = rng.randint(2, 3)
        objectives = [self._objective() for _ in range(count)]
        if count > 1:
            self.used.add("lexicographic")
        if any(not e.integral for e in objectives):
            self.used.add("real objective")
        sense = "maximize"
        if rng.random() < 0.65:
            sense = "minimize"
        self.used.add(sense)
        getattr(self.model, sense)(objectives if count > 1 else objectives[0])

    def _move_to_zero(self) -> None:
        """Shift the first of several objectives so that its optimum is 0 and bounds on it can have both signs."""
        objectives = self.model.objectives
        if len(objectives) < 2:
            return
        with contextlib.suppress(EnumerationError):
            truth = brute_force(self.model)
            if truth.best is not None:
                self.model.objectives[0] = objectives[0] - truth.objectives[0]
                self.used.add("first optimum 0")

    def _objective(self) -> Linear:
        rng = self.rng
        draw = self.rng.random()
        ends = [v.end for v in self.model.intervals]
        if draw < 0.4:
            weights = [rng.choice([1, 2, 0.5, 1 / 3600, 1 / 18000, 1 / 86400]) for _ in ends]
            self.used.add("sum")
            return total([v.start for v in self.model.intervals], weights) - rng.randint(0, 3)
        if draw < 0.55:
            self.used.add("max")
            return latest(ends) + rng.choice([0, 0.5]) * rng.choice(ends)
        return self.expressions.linear(rng.choice([1, 2, 2]), rng.random() < 0.4)
