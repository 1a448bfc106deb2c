"""Models as text: the listing of ``print``, and JSON that is read again without a difference."""

from __future__ import annotations

import copy
import itertools
import json
import random
from typing import Any

import pytest
import schedlab as sl
from draws import some_now
from schedlab.backends.conformance import CONSTRUCTS, brute_force, random_model
from schedlab.models.language import Comparison, Element, Function, text_forms
from schedlab.models.language.text_forms import CLASSES, functions_of

MODELS = [random_model(seed) for seed in range(300)]


def small() -> sl.Model:
    """A model with an interval, an integer, a function, a constraint and an objective."""
    m = sl.Model("small", horizon=20)
    a, on = m.interval("a", size=(2, 4)), [m.interval(f"a on {n}", size=3, optional=True) for n in range(2)]
    x = m.integer("x", 0, 3)
    m.add(sl.alternative(a, on))
    m.add(sl.cumulative([a, *on], [x, 1, 1], 2), "node")
    m.add(sl.max([a.end, 4 * x]) <= 12)
    m.minimize(a.end + 0.1 * x)
    return m


# JSON


@pytest.mark.parametrize("made", some_now(MODELS, 80), ids=lambda made: made.model.name)
def test_a_model_is_the_same_after_a_round_trip(made: Any) -> None:
    text = made.model.to_json()
    again = sl.Model.from_json(text)
    assert again.to_json() == text
    assert again.listing(limit=None) == made.model.listing(limit=None)
    assert [repr(c) for c in again.constraints if isinstance(c.constraint, Comparison)] == [
        repr(c) for c in made.model.constraints if isinstance(c.constraint, Comparison)
    ]
    assert again.horizon == made.model.horizon
    assert sl.Model.from_json(json.loads(text)).to_json() == text


def test_the_models_of_the_round_trip_have_all_constructs() -> None:
    assert set().union(*(made.constructs for made in MODELS)) == set(CONSTRUCTS)
    constraints = [c.constraint for made in MODELS for c in made.model.constraints]
    assert {type(c) for c in constraints} == {Comparison, *CLASSES.values()}
    written = [json.loads(made.model.to_json()) for made in MODELS]
    assert {c["type"] for m in written for c in m["constraints"]} == {"comparison", *CLASSES}
    functions = [f for made in MODELS for f in functions_of(made.model)]
    assert {type(f) for f in functions} == set(Function.__subclasses__())
    assert {f["type"] for m in written for f in m["functions"]} == set(text_forms.FUNCTIONS)
    for kind in CLASSES:
        given = set().union(*(c for m in written for c in m["constraints"] if c["type"] == kind))
        assert given - {"name", "type"} == {f.name for f, _ in text_forms.arguments(kind)}, kind


@pytest.mark.parametrize("made", some_now(MODELS[:40], 14), ids=lambda made: made.model.name)
def test_a_model_has_the_same_optimum_after_a_round_trip(made: Any) -> None:
    again = sl.Model.from_json(made.model.to_json())
    before, after = brute_force(made.model), brute_force(again)
    assert (before.objectives, before.best is None) == (after.objectives, after.best is None)


def test_numbers_are_exact() -> None:
    m = sl.Model("numbers")
    x = m.integer("x", -(10**30), 10**30)
    numbers = [0.1, 1 / 3, 1e-300, 5e-324, 2.0, 123456789.123456789, -(10**25), 2**63 + 1]
    m.add(sl.element(numbers, x) <= 1 / 7)
    again = sl.Model.from_json(m.to_json())
    (found,) = functions_of(again)
    assert isinstance(found, Element)
    assert [(type(v), v) for v in found.array] == [(type(v), v) for v in numbers]
    assert again.constraints[0].constraint.hi == 1 / 7
    assert again.integers[0].hi == 10**30


def test_a_product_with_a_negative_real_number_is_the_same_after_a_round_trip() -> None:
    """-0.75 * 0 is -0.0 in Python."""
    m = sl.Model("m")
    x = m.integer("x", 0, 3)
    m.minimize(-0.75 * (x + 0))
    text = m.to_json()
    assert sl.Model.from_json(text).to_json() == text


def test_deep_and_shared_expressions() -> None:
    m = sl.Model("deep")
    e: Any = m.integer("x", 0, 3)
    for k in range(3000):
        e = sl.max([e + 1, k])
    m.add(e <= 5000)
    shared: Any = m.integers[0]
    for _ in range(80):  # written out, it had 2^80 terms
        shared = sl.max([sl.min([shared, 7]), shared - 1])
    m.minimize(shared)
    again = sl.Model.from_json(m.to_json())
    assert again.to_json() == m.to_json()
    assert len(functions_of(again)) == 3000 + 160
    assert len(m.listing(limit=None)) < 100_000_000
    assert len(str(m)) < 60_000


def test_a_plain_model_of_another_program() -> None:
    m = sl.Model.from_json(
        """{"schedlab_model": 1, "name": "m", "horizon": 9, "integers": [],
            "intervals": [{"name": "a", "size": 3}, {"name": "b", "size": [1, 2], "start": [[2, 4]], "optional": false}],
            "functions": [{"type": "max", "operands": [{"terms": [[1, "end", 0]]}, {"terms": [[1, "end", 1]]}]}],
            "constraints": [{"name": "apart", "type": "no_overlap", "intervals": [1, 0]}],
            "sense": "minimize", "objectives": [{"terms": [[2, "function", 0]], "constant": 1}]}"""
    )
    assert brute_force(m).objectives == (2 * 4 + 1,)


def change(path: str, value: Any) -> dict[str, Any]:
    """The JSON of ``small`` with another value at a path, such as ``constraints.0.count``."""
    data = json.loads(small().to_json())
    *keys, last = (int(k) if k.isdigit() else k for k in path.split("."))
    at = data
    for key in keys:
        at = at[key]
    at[last] = value
    return dict(data)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("schedlab_model", 2, "version 2 of the format, but this schedlab reads version 1 alone; install a newer"),
        ("schedlab_model", "1", "schedlab_model: expected the version as a whole number, 1, not '1'"),
        ("name", 3, "name: expected a string, not 3"),
        ("horizon", -1, "horizon: .* must be >= 0"),
        ("horizon", 2.5, "horizon: expected a whole number, not 2.5"),
        ("colour", "red", "the model: unknown key colour; known are schedlab_model, name"),
        ("intervals", {}, "intervals: expected a list"),
        ("intervals.1.size", [3, 1], r"intervals\[1\]: .*the size must be 0 <= lo <= hi"),
        ("intervals.0.start", [[3, 1]], r"intervals\[0\]: .*ends before it begins"),
        ("intervals.0.start", [3, 1], r"intervals\[0\].start\[0\]: expected a list, not 3"),
        ("intervals.0.optional", 1, r"intervals\[0\].optional: expected true or false, not 1"),
        ("intervals.0.strat", [], r"intervals\[0\]: unknown key strat; known are name, size, start, optional"),
        ("integers.0.lo", 9, r"integers\[0\]: .*lower bound 9 is above"),
        ("integers.0.lo", True, r"integers\[0\].lo: expected a whole number, not True"),
        ("functions.0.type", "median", r"functions\[0\].type: expected one of max, min, .*, not 'median'"),
        ("functions.0.operands", [], r"functions\[0\]: max\(\) needs at least one expression"),
        (
            "functions.0.operands.0.terms.0",
            [1, "function", 0],
            r"functions\[0\].operands\[0\].terms\[0\]: .* before this",
        ),
        ("constraints.0.options.1", 7, r"constraints\[0\].options\[1\]: .* one of the 3 intervals, not 7"),
        ("constraints.0.options.1", 0, r"constraints\[0\]: alternative\(a\): a is listed twice"),
        ("constraints.0.count", 0, r"constraints\[0\]: alternative\(a\): the count must be at least 1"),
        ("constraints.0.type", "alternate", r"constraints\[0\].type: expected one of comparison, alternative"),
        ("constraints.1.demands.0", [1], r"constraints\[1\].demands\[0\]: expected a whole number, not \[1\]"),
        ("constraints.1.demands", [1], r"constraints\[1\]: cumulative\(.*3 intervals but 1 demand"),
        ("constraints.1.steps.0", [1], r"constraints\[1\].steps\[0\]: expected 2 values, not 1"),
        ("constraints.2.hi", None, r"constraints\[2\]: expected a number as lo or hi"),
        ("constraints.2.terms.0.0", "1", r"constraints\[2\].terms\[0\] must be a finite number, not '1'"),
        ("constraints.2.terms.0.1", "begin", r"constraints\[2\].terms\[0\]: expected start, end, size"),
        ("constraints.2.terms.0", [1, "end"], r"constraints\[2\].terms\[0\]: expected \[coefficient"),
        ("sense", "least", 'sense: expected "minimize" or "maximize"'),
        ("objectives.0", "a", r"objectives\[0\]: expected a number or"),
        ("objectives.0.terms.1.2", -1, r"objectives\[0\].terms\[1\]: .*one of the 1 integer, not -1"),
    ],
)
def test_errors_name_the_place(path: str, value: Any, message: str) -> None:
    with pytest.raises(sl.ModelError, match=message) as caught:
        sl.Model.from_json(change(path, value))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "the model is no JSON text: Expecting value: line 1"),
        ('{"schedlab_model": 1, "name": "a" "b"}', "the model is no JSON text: .*line 1 column 35"),
        ("[" * 100_000, "nested too deeply"),
        ('{"schedlab_model": 1, "horizon": NaN}', "contains NaN; all numbers must be finite"),
        (b"\xff", "the model is no JSON text"),
        ("[1]", 'no model of schedlab: expected an object with "schedlab_model": 1'),
        ({"name": "a"}, "no model of schedlab"),
        ({"schedlab_model": 1, "name": "a"}, "the model: horizon, intervals, .* missing"),
    ],
)
def test_texts_that_are_no_models(data: Any, message: str) -> None:
    with pytest.raises(sl.ModelError, match=message):
        sl.Model.from_json(data)


def test_any_fault_is_a_model_error() -> None:
    """Random changes of the JSON of random models are read, or refused with a ``ModelError``."""
    rng = random.Random(1)
    values = [None, -1, 10**6, 2.5, True, "a", [], {}, [[1, 2]], {"terms": []}, [1, "start", 0], "function"]
    refused = 0
    for made in MODELS[:100]:
        written = json.loads(made.model.to_json())
        for _ in range(15):
            data = copy.deepcopy(written)
            at: Any = data
            while isinstance(at, (dict, list)) and at:
                key = rng.choice(list(at)) if isinstance(at, dict) else rng.randrange(len(at))
                if not isinstance(at[key], (dict, list)) or not at[key] or rng.random() < 0.2:
                    if rng.random() < 0.2:
                        del at[key]
                    else:
                        at[key] = rng.choice(values)
                    break
                at = at[key]
            try:
                sl.Model.from_json(json.dumps(data))
            except sl.ModelError as e:
                refused += 1
                assert str(e)
    assert 500 < refused < 1500


# The listing


def test_the_listing_of_a_small_model() -> None:
    assert str(small()).splitlines() == [
        "Model 'small': 1 objective, 3 intervals, 1 integer, 3 constraints; horizon 20",
        "minimize:",
        "  a.end + 0.1*x",
        "intervals:",
        "  a: size 2 to 4, start 0 to 20",
        "  a on 0: optional, size 3, start 0 to 20",
        "  a on 1: optional, size 3, start 0 to 20",
        "integers:",
        "  x: 0 to 3",
        "constraints:",
        "  alternative(a, [a on 0, a on 1], 1)",
        "  node: cumulative([a, a on 0, a on 1], [x, 1, 1], 2)",
        "  max(a.end, 4*x) <= 12",
    ]


def test_expressions_are_written_in_the_notation_of_the_language() -> None:
    m = sl.Model("m")
    a, b, x = m.interval("a", size=3), m.interval("b", size=2, start=[(0, 1), (9, 9)]), m.integer("x", 0, 2)
    for c in (
        a.start + 2 * b.end - 3 <= x,
        sl.holds(a.start >= 2) + sl.overlap(b, 0, 5) == 2,
        sl.element([1, 2.5, 4], x) - 0.5 * sl.piecewise(x, [(0, 0), (2, 1.5)]) >= 1,
        -x <= -1,
    ):
        m.add(c)
    m.add(sl.cumulative([a, b], [1, 2], [(0, 2), (5, 3)]), "steps")
    m.add(sl.start_before_end(a, b, -2))
    m.add(sl.synchronize(a, [b]))
    m.maximize([x, a.start])
    lines = m.listing().splitlines()
    assert lines[1:4] == ["maximize:", "  x", "  a.start"]
    assert "  b: size 2, start 0 to 1 or 9" in lines
    assert lines[lines.index("constraints:") + 1 :] == [
        "  a.start + 2*b.end - x <= 3",
        "  holds(a.start >= 2) + overlap(b, 0, 5) == 2",
        "  element([1, 2.5, 4], x) - 0.5*piecewise(x, [(0, 0), (2, 1.5)]) >= 1.0",
        "  -x <= -1",
        "  steps: cumulative([a, b], [1, 2], [(0, 2), (5, 3)])",
        "  start_before_end(a, b, -2)",
        "  synchronize(a, [b])",
    ]


def test_the_listing_of_a_long_model_is_short() -> None:
    m = sl.Model("long")
    jobs = [m.interval(f"job {k}", size=3) for k in range(5000)]
    m.add(sl.no_overlap(jobs), "machine")
    for before, after in itertools.pairwise(jobs):
        m.add(sl.end_before_start(before, after))
    m.minimize(sl.sum([j.end for j in jobs]))
    lines = str(m).splitlines()
    assert len(lines) <= 210 and max(map(len, lines)) <= 210
    assert [line for line in lines if "more" in line] == ["  ... and 4,901 more", "  ... and 4,900 more"]
    complete = m.listing(limit=None).splitlines()
    assert len(complete) == 4 + 1 + 5000 + 5000
    assert "job 4999.end" in complete[2] and "job 4999]" in complete[complete.index("constraints:") + 1]
    assert len(m.listing(limit=0).splitlines()) == 7


def test_names_cannot_disturb_a_terminal() -> None:
    m = sl.Model("a\x1b[31m\nb")
    m.interval("c\nd\x1b[0m", size=1)
    assert all(line.isprintable() for line in str(m).splitlines()) and len(str(m).splitlines()) == 3


def test_shared_functions_are_written_once() -> None:
    m = sl.Model("shared")
    xs = [m.integer(f"variable {k}", 0, 3) for k in range(9)]
    top = sl.max(xs)
    m.add(top <= 3)
    m.add(top >= 1)
    names = ", ".join(f"variable {k}" for k in range(9))
    assert [line for line in str(m).splitlines() if "f1" in line] == [f"  f1 = max({names})", "  f1 <= 3", "  f1 >= 1"]
