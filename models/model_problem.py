"""A model as a problem of its own: what ``bench`` runs, explains and exports from the JSON file of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .arguments import expect
from .kind import ProblemKind
from .language import Assignment, Model, UndefinedValue, Violation
from .platform import ProblemError
from .problem import Encoding, Schedule, Value
from .words import ByName, with_short_repr

SIZE = "size"


@with_short_repr
@dataclass(frozen=True, init=False)
class ModelProblem:
    """Find the best answer of a model.

    The answer is a schedule: a present interval has its start, and its size in place of units on a node; an integer
    variable has its value in place of a start. Variables of one name are told apart by ``#2``, ``#3``, ... behind it.

    Parameters
    ----------
    model : Model
        The model; it has an objective.

    Raises
    ------
    ProblemError
        If the model has no objective.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3, start=(2, 9)); x = m.integer("x", 0, 4)
    >>> m.add(a.start + x == 5); m.minimize(a.end)
    >>> problem = ModelProblem(m)
    >>> sl.solve(problem, method="cpsat:model").schedule.as_json()
    {'a': {'start': 2, 'nodes': {'size': 3}}, 'x': {'start': 3, 'nodes': {}}}
    """

    model: Model

    kind: str = field(default="model", init=False)
    sense: Literal["minimize", "maximize"] = field(default="minimize", init=False)

    def __init__(self, model: Model) -> None:
        expect("model of ModelProblem", model, Model)
        if not model.objectives:
            raise ProblemError(f"model {model.name!r} has no objective; m.minimize(0) makes any answer a best one")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "sense", model.sense)

    @property
    def formulations(self) -> Mapping[str, Callable[[], Encoding]]:
        """``model``: the model itself."""
        return ByName("formulation", {"model": self._encoding})

    def _encoding(self) -> Encoding:
        return Encoding(self.model, self._schedule, self._assignment)

    def _names(self) -> list[str]:
        """Return the name of each interval and integer in an answer."""
        seen: Counter[str] = Counter()
        names = []
        for given in [*(v.name for v in self.model.intervals), *(x.name for x in self.model.integers)]:
            seen[given] += 1
            names.append(given if seen[given] == 1 else f"{given}#{seen[given]}")
        if len(set(names)) < len(names):
            twice = next(name for name, count in Counter(names).items() if count > 1)
            raise ProblemError(f"model {self.model.name!r}: two variables would be called {twice!r} in an answer")
        return names

    def _schedule(self, assignment: Assignment) -> Schedule:
        names = self._names()
        answer = Schedule({})
        for v, name in zip(self.model.intervals, names, strict=False):
            if assignment.present[v.index]:
                answer.start[name] = assignment.start[v.index]
                answer.nodes[name] = {SIZE: assignment.end[v.index] - assignment.start[v.index]}
        for x, name in zip(self.model.integers, names[len(self.model.intervals) :], strict=True):
            answer.start[name] = assignment.integer[x.index]
        return answer

    def _assignment(self, schedule: Schedule) -> Assignment:
        assignment, faults = self._read(schedule)
        if faults:
            raise ProblemError(faults[0].message)
        return assignment

    def _read(self, schedule: Schedule) -> tuple[Assignment, list[Violation]]:
        """Return the assignment of an answer, and what of the answer is no value of a variable."""
        names = self._names()
        assignment = Assignment(self.model)
        faults = [Violation(n, 1, f"the model has no variable {n!r}") for n in schedule.start if n not in set(names)]
        for v, name in zip(self.model.intervals, names, strict=False):
            size = schedule.nodes.get(name, {}).get(SIZE)
            if name not in schedule.start:
                if not v.optional:
                    faults.append(Violation(name, 1, f"interval {name!r} is not optional and has no start"))
            elif size is None:
                faults.append(Violation(name, 1, f"interval {name!r} has no size"))
            else:
                assignment.set(v, schedule.start[name], schedule.start[name] + size)
        for x, name in zip(self.model.integers, names[len(self.model.intervals) :], strict=True):
            if name in schedule.start:
                assignment.integer[x.index] = schedule.start[name]
            else:
                faults.append(Violation(name, 1, f"integer {name!r} has no value"))
        return assignment, faults

    def verify(self, schedule: Schedule) -> list[Violation]:
        """Return all violations of an answer."""
        assignment, faults = self._read(schedule)
        return faults or self.model.check(assignment)

    def value(self, schedule: Schedule) -> Value:
        """Return the value of the objective, or of each of several; raise ProblemError if the answer has not all values."""
        assignment = self._assignment(schedule)
        try:
            values = tuple(self.model.value(e, assignment) for e in self.model.objectives)
        except UndefinedValue as e:
            raise ProblemError(f"the objective has no value: {e}") from e
        if len(values) == 1:
            return values[0]
        return values

    def read(self, data: Any) -> Schedule:
        """Return the answer of JSON data; raise ValueError, with the name of the variable, if the data are malformed."""
        return Schedule.from_json(data)


# --- The registration of models as problems.

MODEL = ProblemKind("model", ModelProblem, bench="..bench.kinds.plain:MODEL", formulations=("model",))
