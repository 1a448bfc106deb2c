"""Short paths in SVG against the points of the path that they replace."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from schedlab.bench.plots.paths import with_short_paths

SIZES = {"m": 2, "l": 2, "q": 4, "c": 6, "h": 1, "v": 1}
NUMBER = re.compile(r"-?(?:\d+\.\d+|\d+|\.\d+)")


def points(path: str) -> list[tuple[float, float]]:
    """Return all points of a path, absolute or relative, control points included."""
    found: list[tuple[float, float]] = []
    here = begin = (0.0, 0.0)
    for letter, text in re.findall(r"([a-zA-Z])([^a-zA-Z]*)", path):
        if letter in "zZ":
            here = begin
            continue
        numbers = [float(n) for n in NUMBER.findall(text)]
        assert len(numbers) == SIZES[letter.lower()]
        base = (0.0, 0.0) if letter.isupper() else here
        if letter in "hv":
            numbers = [numbers[0], 0.0] if letter == "h" else [0.0, numbers[0]]
        some = [(base[0] + numbers[k], base[1] + numbers[k + 1]) for k in range(0, len(numbers), 2)]
        found.extend(some)
        here = some[-1]
        if letter in "mM":
            begin = here
    return found


coordinate = st.floats(-1000, 1000).map(lambda x: f"{x:.6f}")
steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("ML"), st.lists(coordinate, min_size=2, max_size=2)),
        st.tuples(st.just("Q"), st.lists(coordinate, min_size=4, max_size=4)),
        st.tuples(st.just("C"), st.lists(coordinate, min_size=6, max_size=6)),
        st.tuples(st.just("z"), st.just([])),
    ),
    max_size=12,
)


@given(steps)
def test_no_point_moves_by_more_than_half_a_hundredth(rest: list[tuple[str, list[str]]]) -> None:
    path = " \n".join(f"{letter} {' '.join(numbers)}" for letter, numbers in [("M", ["1.5", "-2"]), *rest])
    short = re.findall(r'd="([^"]*)"', with_short_paths(f'<path style="fill: none" d="{path}"/>'))[0]
    old, new = np.array(points(path)), np.array(points(short))
    assert old.shape == new.shape and np.abs(old - new).max() <= 0.005 + 1e-9


def test_bars_take_a_third_of_the_text_or_less() -> None:
    """Absolute coordinates with six decimals take some 110 letters a bar."""
    bars = "".join(
        f"M {k}.123456 20.654321 L {k}.5 20.654321 L {k}.5 40.25 L {k}.123456 40.25 z " for k in range(100, 600)
    )
    short = with_short_paths(f'<path d="{bars}"/>')
    assert short.count("z") == 500 and len(short) < 500 * 32
