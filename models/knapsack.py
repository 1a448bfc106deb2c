"""The 0-1 knapsack problem: items of greatest total value within a capacity [Martello1990]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any, Literal

from . import language as sl
from .arguments import Fields, whole_records
from .kind import ProblemKind
from .language import Assignment, Model, Violation
from .platform import ProblemError
from .problem import Encoding, Schedule
from .words import ByName, how_many, with_short_repr

PACKED = {"knapsack": 1}


@with_short_repr
@dataclass(frozen=True)
class Item:
    """An item.

    Parameters
    ----------
    name : str
        Its name.
    value : int, float or Fraction
        Its value, >= 0.
    weight : int, float or Fraction
        Its weight, >= 0.

    Examples
    --------
    >>> Item("lamp", value=30, weight=4).weight
    4
    """

    name: str
    value: int | float | Fraction
    weight: int | float | Fraction


@with_short_repr
@dataclass(frozen=True, init=False)
class Knapsack:
    """Pack items so that their total value is greatest and their total weight is within the capacity.

    The answer is a schedule in which each packed item starts at 0 on the node "knapsack"; the others have no start. Weights
    are compared exactly, as fractions.

    Parameters
    ----------
    items : iterable of Item
        The items.
    capacity : int, float or Fraction
        The capacity, >= 0.

    Raises
    ------
    ProblemError
        If two items have the same name, or a number is negative.

    Examples
    --------
    >>> p = Knapsack([Item("a", 6, 3), Item("b", 5, 2), Item("c", 4, 2)], capacity=4)
    >>> packed = Knapsack.packing(["b", "c"])
    >>> p.value(packed), p.verify(packed)
    (9, [])
    """

    items: tuple[Item, ...]
    capacity: int | float | Fraction

    kind: str = field(default="knapsack", init=False)
    sense: Literal["minimize", "maximize"] = field(default="maximize", init=False)

    def __init__(self, items: Iterable[Item], capacity: int | float | Fraction) -> None:
        named, faults = whole_records(items, Fields(names=("name",)), lambda i: f"item {i.name!r}")
        if faults:
            raise ProblemError("\n".join(faults))
        object.__setattr__(self, "items", named)
        object.__setattr__(self, "capacity", capacity)
        names = [i.name for i in self.items]
        twice = None
        if len(set(names)) < len(names):
            twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise ProblemError(f"item {twice!r} is listed {how_many(names.count(twice), 'time')}")
        for what, number in (
            ("the capacity", capacity),
            *((f"the value of item {i.name!r}", i.value) for i in self.items),
            *((f"the weight of item {i.name!r}", i.weight) for i in self.items),
        ):
            if not 0 <= number < float("inf"):
                raise ProblemError(f"{what} is {number}; a number of at least 0 is expected")

    @staticmethod
    def packing(names: Iterable[str]) -> Schedule:
        """Return the answer in which these items are packed."""
        chosen = list(names)
        return Schedule(dict.fromkeys(chosen, 0), {name: dict(PACKED) for name in chosen})

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """``items``: a binary variable per item, and one linear constraint with whole coefficients (exact)."""
        return ByName("formulation", {"items": self._encoding})

    def _encoding(self) -> Encoding:
        model = Model(f"knapsack of {how_many(len(self.items), 'item')}", horizon=0)
        packed = {item.name: model.boolean(item.name) for item in self.items}
        weights = [Fraction(item.weight) for item in self.items]
        scale = lcm(*(w.denominator for w in weights))  # what is left of the capacity after the last whole unit is lost
        whole = [int(w * scale) for w in weights]
        model.add(sl.sum(list(packed.values()), weights=whole) <= int(Fraction(self.capacity) * scale // 1), "capacity")
        model.maximize(sl.sum(list(packed.values()), weights=[_plain(item.value) for item in self.items]))

        def read(assignment: Assignment) -> Schedule:
            return self.packing(name for name, x in packed.items() if assignment.integer[x.index])

        def write(schedule: Schedule) -> Assignment:
            assignment = Assignment(model)
            for name in schedule.start:
                assignment.integer[packed[name].index] = 1
            return assignment

        return Encoding(model, read, write)

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of an answer, from the data alone."""
        weight = {item.name: Fraction(item.weight) for item in self.items}
        violations = [
            Violation(n, 1, f"item {n!r} is not one of the problem") for n in schedule.start if n not in weight
        ]
        for name, start in schedule.start.items():
            if name in weight and (start != 0 or schedule.nodes.get(name) != PACKED):
                given = f"{start} on {schedule.nodes.get(name, {})}"
                violations.append(Violation(name, 1, f"item {name!r} must start at 0 on {PACKED}; given is {given}"))
        over = sum((weight.get(n, Fraction(0)) for n in schedule.start), Fraction(0)) - Fraction(self.capacity)
        if over > 0:
            text = f"the items weigh {float(over):g} more than the capacity {float(self.capacity):g}"
            violations.append(Violation("capacity", float(over), text))
        return violations

    def value(self, schedule: Schedule) -> float:
        """Return the total value of the packed items; raise KeyError for an unknown item."""
        value = {item.name: Fraction(item.value) for item in self.items}
        return _plain(sum((value[name] for name in schedule.start), Fraction(0)))

    def read(self, data: Any) -> Schedule:
        """Return the answer of JSON data; raise ValueError, with the name of the item, if the data are malformed."""
        return Schedule.from_json(data)


def _plain(value: int | float | Fraction) -> int | float:
    """Return a whole number as int, others as float."""
    if value == int(value):
        return int(value)
    return float(value)


# --- The registration of knapsack problems.

KNAPSACK = ProblemKind("knapsack", Knapsack, bench="..bench.kinds.plain:KNAPSACK", formulations=("items",))
