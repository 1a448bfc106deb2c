"""Methods of third parties: a class that they bring, or one made from what they state; ``solve`` obeys or refuses."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import ClassVar

import pytest
import schedlab as sl
from hypothesis import given
from hypothesis import strategies as st
from made_heuristics import made
from schedlab.backends import base, register
from schedlab.backends.cpsat import CpSat
from schedlab.heuristics import ARGUMENT, HEURISTICS, OPTION, START, Heuristic, Incumbents, first_solution
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue

JOBS = [Job(f"j{k}", k, 5 + 7 * k % 11, 1 + k % 2, {"cores": 5 + 2 * (k % 4)}, "q") for k in range(3)]
PROBLEM = Dispatch(Platform([NodeGroup("n", 3, {"cores": 16})]), JOBS, [Queue("q", 60)], "weighted-wait")
asked: list[object] = []


@dataclass(frozen=True)
class Rotated(Heuristic):
    """List scheduling of a rotated order."""

    kinds: ClassVar[tuple[str, ...]] = ("dispatch",)
    order: str = field(metadata={**ARGUMENT, "values": ("up", "down")})
    warm_start: sl.methods.Start | sl.methods.Method | str | None = field(default=None, metadata=START)
    shift: int = field(default=3, metadata={**OPTION, "least": 1})
    label: str = field(default="", metadata=OPTION)

    def run(self, problem, limits, start, on_incumbent):
        return rotated(
            problem,
            SimpleNamespace(options={"shift": self.shift, "label": self.label}, start=start, on_incumbent=on_incumbent),
        )


@dataclass(frozen=True)
class Narrow(sl.methods.SolverMethod):
    """CP-SAT with an option of its own."""

    name: ClassVar[str] = "narrow"
    width: float = field(default=1.0, metadata=OPTION)


class NarrowBackend(CpSat):
    name, method = "narrow", Narrow

    def compile(self, model, *, width=1.0):
        asked.append(width)
        return super().compile(model)


class Plain(CpSat):
    """A backend without a class of its own: its option is found in ``compile``; it obeys no further argument."""

    name, obeys = "plain", frozenset()

    def compile(self, model, *, depth=7):
        asked.append(depth)
        return super().compile(model)


def rotated(problem, request):
    asked.append(dict(request.options))
    seen = Incumbents(problem, "rotated", request.on_incumbent, request.start)
    found = first_solution(problem, [job.id for job in problem.jobs])
    seen.report(problem.value(found), lambda: found)
    return seen.result(found)


@pytest.fixture(autouse=True, scope="module")
def third_parties() -> Iterator[None]:
    register(NarrowBackend())
    register(Plain())
    HEURISTICS.register("rotated", Rotated)
    HEURISTICS.register("stated", made(rotated, options=("turns",), kinds=("dispatch",), starts=True))
    yield
    for name in ("narrow", "plain"):
        del base._registered[name]
    for name in ("rotated", "stated"):
        HEURISTICS.unregister(name)


VALUES = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(min_size=1, max_size=8)


@given(st.data())
def test_text_and_object_are_converted_without_loss(data: st.DataObject) -> None:
    stated, plain = sl.methods.method_class("stated"), sl.methods.method_class("plain")
    method = data.draw(
        st.one_of(
            st.builds(Rotated, st.sampled_from(["up", "down"]), st.none(), st.integers(1), st.text(max_size=8)),
            st.builds(
                Narrow,
                st.none() | st.just("pool"),
                st.sampled_from([None, "usual", "rotated/up/2s"]),
                width=st.floats(0, 9),
            ),
            st.builds(lambda v: stated(turns=v), VALUES),
            st.builds(lambda f, v: plain(f, depth=v), st.none() | st.just("pool"), VALUES),
        )
    )
    assert sl.methods.parse_method(method.text) == method
    assert shlex.split(method.text) == [method.text] and "," not in method.text


@pytest.mark.parametrize(
    ("text", "options", "seen"),
    [
        ("rotated:up:shift=2:label=some", {}, {"shift": 2, "label": "some"}),
        ("rotated:up", {"shift": 5}, {"shift": 5, "label": ""}),
        ("stated:turns=4", {}, {"turns": 4}),
        ("stated", {}, {}),
        ("narrow:pool:width=0.5", {}, 0.5),
        ("narrow:pool", {"width": 2}, 2.0),
        ("plain:pool:depth=3", {}, 3),
        ("plain:pool", {"depth": "deep"}, "deep"),
    ],
)
def test_options_reach_the_heuristic_and_the_backend(text: str, options: dict[str, object], seen: object) -> None:
    asked.clear()
    result = sl.solve(PROBLEM, text, time_limit=10, threads=1, seed=1, on_incumbent=lambda _: None, **options)
    assert result.status in ("optimal", "feasible") and asked == [seen]
    start = sl.solve(PROBLEM, "first-solution:-area").schedule
    assert sl.solve(PROBLEM, text, time_limit=10, threads=1, warm_start=start, **options).warm_start.fate == "accepted"


@pytest.mark.parametrize(
    ("text", "arguments", "error", "expected"),
    [
        ("rotated:up", {"gap_limit": 0.1}, TypeError, "does not obey gap_limit; methods that do: .*narrow"),
        ("rotated:up", {"parameters": {"x": 1}}, TypeError, "does not obey parameters"),
        ("rotated:up", {"width": 1}, TypeError, "does not obey width; methods that do: narrow"),
        ("rotated:up", {"shift": 0}, ValueError, "shift of rotated is 0; expected at least 1"),
        ("rotated:up", {"shift": "far"}, ValueError, "shift of rotated is 'far'; expected a whole number"),
        ("rotated:upp", {}, sl.UnknownName, "did you mean up"),
        ("stated:tunrs=3", {}, sl.UnknownName, "did you mean turns"),
        ("plain:pool", {"deterministic_limit": 1}, TypeError, "does not obey deterministic_limit; methods that do: .*cpsat"),
        ("plain:pool", {"parameters": {"num_workers": 1}}, TypeError, "does not obey parameters"),
        ("narrow:pool", {"width": "wide"}, ValueError, "width of narrow is 'wide'; expected a number"),
    ],
)  # fmt: skip
def test_other_arguments_and_values_are_refused(text, arguments, error, expected) -> None:
    with pytest.raises(error, match=expected):
        sl.solve(PROBLEM, text, **arguments)
