"""Methods as text and as objects: each is converted into the other without loss, and errors name the wrong part."""

import re
import shlex
from dataclasses import fields

import pytest
import schedlab as sl
from hypothesis import given
from hypothesis import strategies as st
from schedlab.heuristics import ORDERINGS, PRIORITY_RULES, RULES
from schedlab.methods import Method, Start, all_classes, parse_method, parse_start

M = sl.methods
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,11}", fullmatch=True)
VALUES = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=12), st.sampled_from(["1", "true", "+5"])
)
PARAMETERS = st.dictionaries(NAMES.filter(lambda n: n not in ("solver", "max_nonzeros")), VALUES, max_size=3)
SECONDS = st.none() | st.integers(1, 10**6) | st.floats(0.001, 1e6).map(lambda x: round(x, 3))
PLAIN = st.one_of(
    st.sampled_from(ORDERINGS).map(M.FirstSolution),
    st.sampled_from(RULES).map(M.Rule),
    st.sampled_from(PRIORITY_RULES).map(M.SerialSgs),
    st.sampled_from([M.MultiSearch(), M.DynamicProgram(), M.Greedy(), M.Backtracking(), M.MultiSgs(), M.Bounds()]),
    st.builds(M.Lns, st.sampled_from([None, "cpsat", "highs"]), st.none(), st.none() | st.integers(1, 10**6)),
    st.builds(M.DelaySearch, st.none(), st.none() | st.integers(1, 10**6)),
    st.builds(M.RelaxationSearch, st.sampled_from(["cpsat", "highs", "cpo"]), st.none(), st.none() | st.integers(1)),
)
STARTS = st.none() | st.builds(Start, st.none() | PLAIN, SECONDS)
FORMULATIONS = st.none() | st.sampled_from(["units", "counts", "pool", "modes"])
STEPS = st.integers(1, 10**5)
GRIDS = STEPS | st.tuples(STEPS, STEPS)
LOWERINGS = st.one_of(
    st.just({}),
    st.sampled_from([{"lowering": "pairwise"}, {"lowering": "time-indexed"}, {"integral": False}]),
    st.just({"lowering": "pairwise", "integral": False}),
    GRIDS.map(lambda g: {"grid": g}),
    GRIDS.map(lambda g: {"grid": g, "lowering": "time-indexed", "side": "relax"}),
    GRIDS.map(lambda g: {"grid": g, "side": "relax", "integral": False}),
    st.tuples(GRIDS, st.booleans()).map(lambda x: {"grid": x[0], "lowering": "energy", "integral": x[1]}),
)
SOLVERS = st.one_of(
    st.builds(M.CpSat, FORMULATIONS, STARTS, PARAMETERS),
    st.builds(M.CpOptimizer, FORMULATIONS, STARTS, PARAMETERS),
    st.builds(lambda f, s, p, low: M.Highs(f, s, p, **low), FORMULATIONS, STARTS, PARAMETERS, LOWERINGS),
    st.builds(
        lambda f, s, p, low, n: M.Pyomo(f, s, p, **low, solver=n),
        *(FORMULATIONS, STARTS, PARAMETERS, LOWERINGS, st.sampled_from(["appsi_highs", "cbc"])),
    ),
)


@given(PLAIN | SOLVERS)
def test_the_text_of_a_method_gives_an_equal_method(method: Method) -> None:
    assert parse_method(method.text) == method
    assert hash(parse_method(method.text)) == hash(method)


@given(PLAIN | SOLVERS)
def test_neither_a_shell_nor_a_comma_list_splits_a_text(method: Method) -> None:
    assert shlex.split(method.text) == [method.text]
    assert method.text.split(",") == [method.text]
    assert not set(method.text) & set("*?[]{}()<>|&;$!#\\\"' \t\n")


@given(NAMES, VALUES)
def test_values_keep_their_type(name: str, value: object) -> None:
    found = parse_method(M.CpSat("counts", None, {name: value}).text).parameters[name]
    assert found == value
    assert type(found) is type(value)


@given(STARTS)
def test_starts_as_text(start: Start | None) -> None:
    if start is not None:
        assert parse_start(start.text) == start


def test_every_class_is_generated_above() -> None:
    ours = {c.name for c in all_classes() if c.__module__.startswith("schedlab.")}
    public = [getattr(M, name) for name in M.__all__]
    assert ours == {c.name for c in public if isinstance(c, type) and "name" in vars(c)}


def test_every_field_is_a_part_of_the_text() -> None:
    parts = {"argument", "backend", "start", "option", "parameters", "lowering"}
    wrong = [f"{c.name}.{f.name}" for c in all_classes() for f in fields(c) if f.metadata.get("part") not in parts]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("cpsat:counts+warm=lns/5s:num_workers=1", M.CpSat("counts", Start(M.Lns(), 5), {"num_workers": 1})),
        ("cpsat:counts+warm=lns/rounds=3", M.CpSat("counts", M.Lns(rounds=3))),
        ("cpsat:counts+warm=first-solution/est", M.CpSat("counts", "first-solution/est")),
        ("cpsat:counts+warm", M.CpSat("counts", "usual")),
        ("cpsat:counts+warm=usual/2.5s", M.CpSat("counts", Start(None, 2.5))),
        ("cpo:SearchType=Restart", M.CpOptimizer(parameters={"SearchType": "Restart"})),
        ("highs@pairwise", M.Highs(lowering="pairwise")),
        ("highs:pool@60s..900s-lp", M.Highs("pool", grid=(60, 900), side="relax", integral=False)),
        ("pyomo@1s:solver=cbc:ratio=0.1", M.Pyomo(grid=1, solver="cbc", parameters={"ratio": 0.1})),
        ("relaxation-search@highs", M.RelaxationSearch("highs")),
    ],
)
def test_texts_and_their_objects(text: str, method: Method) -> None:
    assert parse_method(text) == method
    assert method.text == text


@pytest.mark.parametrize(
    ("text", "error", "part", "near"),
    [
        ("cpsta:pool", sl.UnknownName, "'cpsta'", "cpsat"),
        ("lns:ronds=3", sl.UnknownName, "'ronds'", "rounds"),
        ("lns@hihgs", sl.UnknownName, "'@hihgs'", "@highs"),
        ("cpsat:pool+worm", sl.UnknownName, "'+worm'", "+warm"),
        ("cpsat:pool+warm=lsn/5s", sl.UnknownName, "'lsn'", "lns"),
        ("cpsat:pool+warm=cpsat", sl.UnknownName, "'cpsat'", "multi-search"),
        ("highs:pool@9oos", sl.UnknownName, "'@9oos'", "@900s"),
        ("cpsat:pool@900s", sl.UnknownName, "'@900s'", "none"),
        ("rule:est-stritc", sl.UnknownName, "'est-stritc'", "est-strict"),
        ("first-solution", sl.UnknownName, "''", "est"),
        ("dp:fast", sl.UnknownName, "'fast'", "none"),
        ("lns:rounds=some", ValueError, "'some'", "a whole number"),
        ("cpsat:pool:counts:units", ValueError, "'units'", "NAME=VALUE"),
    ],
)
def test_errors_show_the_wrong_part_and_near_names(text: str, error: type[Exception], part: str, near: str) -> None:
    with pytest.raises(error, match=f"{re.escape(part)}.*{re.escape(near)}"):
        parse_method(text)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: M.Highs(lowering="pairwise", grid=5), "a grid belongs to"),
        (lambda: M.Highs(lowering="energy"), "without a grid"),
        (lambda: M.Highs(grid=5, integral=False), "side='relax'"),
        (lambda: M.Highs(grid=0), "grid is 0"),
        (lambda: M.Highs(side="left", grid=5), "side is 'left'"),
        (lambda: M.Lns(rounds=2.5), "rounds of lns is 2.5; expected a whole number"),
        (lambda: M.Lns(rounds=-3), "rounds of lns is -3; expected at least 1"),
        (lambda: M.DelaySearch(delay=0), "delay of delay-search is 0; expected at least 1"),
        (lambda: M.CpSat(parameters={"x": [1]}), "expected a bool, int, float or str"),
        (lambda: M.CpSat(warm_start=3), "expected a heuristic"),
        (lambda: Start(M.Lns(), 0), "seconds above 0"),
    ],
)
def test_fields_are_checked(make, expected: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises((TypeError, ValueError), match=expected):
        make()
