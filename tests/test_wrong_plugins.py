"""Parts of third parties that return something else than their protocol says: an error of ours names part and value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import schedlab as sl
from schedlab.models.language import Violation
from schedlab.models.problem import Encoding, Schedule


class Line:
    """Jobs on one machine, one after another, for the least sum of ends."""

    kind, sense = "line", "minimize"

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes

    @property
    def formulations(self) -> Any:
        return {"intervals": self.intervals}

    def intervals(self) -> Encoding:
        m = sl.Model("line")
        jobs = {name: m.interval(name, size=size) for name, size in self.sizes.items()}
        m.add(sl.no_overlap(list(jobs.values())))
        m.minimize(sl.sum([v.end for v in jobs.values()]))
        return Encoding(
            m,
            lambda a: Schedule({name: a[v].start for name, v in jobs.items()}),
            lambda s: sl.Assignment(m, {v: s.start[name] for name, v in jobs.items()}),
        )

    def verify(self, schedule: Schedule) -> Any:
        return []

    def objective(self, schedule: Schedule) -> Any:
        return sum(start + self.sizes[name] for name, start in schedule.start.items())

    def read(self, data: Any) -> Schedule:
        return Schedule.from_json(data)


def line(**changed: Any) -> Any:
    return type("Line", (Line,), changed)({"a": 3, "b": 5})


def formulation(returned: object) -> property:
    return property(lambda self: {"only": lambda: returned})


MODEL = sl.Model("m")

PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "kind": ({"kind": None}, "kind of the problem Line is None; expected a text"),
    "sense": ({"sense": "min"}, "sense of the problem Line is 'min'; did you mean minimize"),
    "formulations a list": ({"formulations": ["intervals"]}, r"formulations of the problem Line is \['intervals'\]; expected a"),
    "formulations a method": ({"formulations": lambda self: {}}, "expected a mapping {name: function}"),
    "no formulations": ({"formulations": {}}, "line problems have no formulations"),
    "a model": ({"formulations": formulation(MODEL)}, r"formulation 'only' .* returned Model.*; expected Encoding\(model"),
    "nothing": ({"formulations": formulation(None)}, "formulation 'only' of line problems returned None; expected an Enc"),
    "verify nothing": ({"verify": lambda self, s: None}, "verify of line problems returned None; expected a list"),
    "verify a text": ({"verify": lambda self, s: "wrong"}, "verify of line problems returned 'wrong'; expected a list"),
    "verify True": ({"verify": lambda self, s: True}, "verify of line problems returned True"),
    "verify numbers": ({"verify": lambda self, s: [3]}, "returned a list with 3; expected texts or Violation"),
    "objective nothing": ({"objective": lambda self, s: None}, "objective of line problems returned None; expected a finite"),
    "objective NaN": ({"objective": lambda self, s: math.nan}, "returned nan; expected a finite number"),
    "objective a text": ({"objective": lambda self, s: "3"}, "returned '3'; expected a finite number"),
    "objective a pair": ({"objective": lambda self, s: (1, 2)}, r"returned \(1, 2\); expected a number.* one objective"),
    "read": ({"formulations": property(lambda self: {"i": lambda: Encoding(self.intervals().model, lambda a: {}, id)})},
             "read of the model 'line' returned {}; expected a Schedule"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROBLEMS.values(), ids=PROBLEMS)
def test_a_problem_that_returns_something_else(case: tuple[dict[str, Any], str]) -> None:
    changed, words = case
    with pytest.raises(sl.SchedlabError, match=words):
        sl.solve(line(**changed), "cpsat", time_limit=5)


@pytest.mark.parametrize("broken", [["a starts too early"], [Violation("a", 3, "a starts too early")]])
def test_violations_are_texts_or_violations(broken: list[Any]) -> None:
    found = sl.solve(line(verify=lambda self, s: broken), "cpsat", time_limit=5)
    assert found.status == "error" and "a starts too early" in found.message


ENCODING = line().intervals()

ENCODINGS: dict[str, tuple[Callable[[], object], str]] = {
    "model": (lambda: Encoding("m", id, id), "model of Encoding is 'm'; expected a Model"),  # type: ignore[arg-type]
    "read": (lambda: Encoding(MODEL, None, id), "read of Encoding is None; expected a function"),  # type: ignore[arg-type]
    "relaxation": (lambda: Encoding(MODEL, id, id, 1), "relaxation of Encoding is 1; expected True"),  # type: ignore[arg-type]
    "read nothing": (lambda: ENCODING.read(None), "assignment of read is None; expected an Assignment"),  # type: ignore[arg-type]
    "read another model": (lambda: ENCODING.read(sl.Assignment(MODEL)), "one of model 'm'; expected one of 'line'"),
    "write a dict": (lambda: ENCODING.write({"a": 0}), "schedule of write is {'a': 0}; expected a Schedule"),  # type: ignore[arg-type]
    "write a part": (lambda: ENCODING.write(Schedule({"a": 0})), "'b' has no start in the schedule of write"),
}  # fmt: skip


@pytest.mark.parametrize("case", ENCODINGS.values(), ids=ENCODINGS)
def test_an_encoding_is_used_wrongly(case: tuple[Callable[[], object], str]) -> None:
    call, words = case
    with pytest.raises(sl.SchedlabError, match=words):
        call()


def test_the_encodings_of_schedlab_tell_it_too() -> None:
    encoding = sl.load("eurora_99").problem.at("12:00", first=3).formulations["counts"]()
    with pytest.raises(KeyError, match="'j01' has no start in the schedule of write"):
        encoding.write(Schedule({}))
