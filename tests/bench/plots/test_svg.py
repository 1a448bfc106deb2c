"""SVG with less text: short markup has the same elements and values, short paths the points of those that they replace."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from schedlab.bench.pages.panels import with_short_markup, with_short_paths

# Short markup of SVG elements: the same elements with the same values, with less text.

LONG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">
 <g>
  <g/>
  <g clip-path="url(#a)">
   <g><path d="M0 0h1.234567" style="fill: none; stroke: #333333"/></g>
   <use x="1.999999" y="-0.001" style="fill: #333333"/>
  </g>
  <text style="font-size: 8px; font-family: 'A B', serif; fill: #333333" x="1.5" y="2" transform="rotate(-0 1.5 2)">a  x="1.2345" b</text>
  <text style="font-size: 8px; font-family: 'A B', serif" transform="rotate(-90 1.123456 2)">rotate(-0 1 2)</text>
 </g>
</svg>"""


def drawn(svg: str) -> list[tuple[str, str | None]]:
    """Return tag and text of each element that is no group without attributes."""
    found = ((e.tag.split("}")[1], e.text) for e in ElementTree.fromstring(svg).iter() if e.attrib)
    return [(tag, text.strip() if text else None) for tag, text in found]


def test_elements_and_texts_stay() -> None:
    short = with_short_markup(LONG)
    assert [e for e in drawn(short) if e[1]] == [e for e in drawn(LONG) if e[1]]
    assert [tag for tag, _ in drawn(short)] == [tag for tag, _ in drawn(LONG)]


def test_a_group_that_clips_stays_around_what_it_clips() -> None:
    short = ElementTree.fromstring(with_short_markup(LONG))
    (group,) = [e for e in short if e.tag.endswith("}g")]
    assert group.attrib == {"clip-path": "url(#a)"} and len(group) == 2


def test_coordinates_have_two_decimals_and_upright_texts_are_not_rotated() -> None:
    short = with_short_markup(LONG)
    assert '<use x="2" y="0"' in short
    assert 'd="M0 0h1.234567"' in short, "paths are not changed here"
    assert re.findall(r' transform="([^"]*)"', short) == ["rotate(-90 1.12 2)"]


def test_one_font_is_written_once_and_several_stay() -> None:
    assert with_short_markup(LONG).count("font-family") == 1
    two = LONG.replace("'A B', serif; fill", "'C', serif; fill")
    assert with_short_markup(two).count("font-family") == 2


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


Ring = list[tuple[float, float]]


def rings(path: str) -> list[Ring]:
    """Return the points of each part of a path without relative closed parts; filling closes each part."""
    found: list[Ring] = []
    for part in re.findall(r"[mM][^mM]*", path):
        x, y = found[-1][-1] if found and part[0] == "m" else (0.0, 0.0)
        found.append([(a + x, b + y) for a, b in points(part)])
    return found


def turns(found: list[Ring], x: float, y: float) -> int:
    """Return how often rings go around a point: filled are the points with another value than 0."""
    count = 0
    for ring in found:
        for (a, b), (c, d) in pairwise([*ring, ring[0]]):
            if (b <= y) != (d <= y):
                left = (c - a) * (y - b) - (x - a) * (d - b)
                count += (left > 0 and d > b) - (left < 0 and d < b)
    return count


twentieth = st.integers(0, 12).map(lambda n: f"{n / 20:.6f}")
areas = st.lists(st.lists(st.tuples(twentieth, twentieth), min_size=3, max_size=6), min_size=1, max_size=4)


@given(areas)
def test_long_filled_paths_cover_the_same_area(parts: list[list[tuple[str, str]]]) -> None:
    """Coordinates are multiples of a twentieth here, so that the area is exactly the same; squares far away make it long."""
    far = "".join(f"M {k} 9 L {k}.5 9 L {k}.5 9.5 L {k} 9.5 z " for k in range(10, 30))
    path = " ".join("M " + " L ".join(f"{x} {y}" for x, y in ring) + " z" for ring in parts) + " " + far
    text = with_short_paths(f'<path d="{path}" clip-path="url(#a)" style="fill: #ffffff"/>')
    assert re.fullmatch(
        r'<g clip-path="url\(#a\)"><path transform="scale\(0.05\)" d="[^z"]*" style="fill: #ffffff"/></g>', text
    )
    short = re.findall(r' d="([^"]*)"', text)[0]
    absolute = re.sub(r"[-\d.]+", lambda m: f"{20 * float(m.group(0)):g}", path)
    old, new = rings(absolute), rings(short)
    for x, y in [(k + 0.3, n + 0.6) for k in range(12) for n in range(12)] + [
        (20 * k + 0.3, 185.6) for k in range(10, 30)
    ]:
        assert turns(new, x, y) == turns(old, x, y)


def test_outlined_paths_are_not_scaled() -> None:
    bars = "".join(f"M {k} 20 L {k}.5 20 L {k}.5 40 L {k} 40 z " for k in range(100, 600))
    for style in ("fill: #ffffff; stroke: #333333", "fill: none; stroke: #333333", "fill: url(#h)"):
        assert "transform" not in with_short_paths(f'<path d="{bars}" style="{style}"/>')


def test_a_filled_bar_takes_twenty_letters_or_less() -> None:
    bars = "".join(
        f"M {k}.123456 20.654321 L {k}.5 20.654321 L {k}.5 40.25 L {k}.123456 40.25 z " for k in range(100, 600)
    )
    assert len(with_short_paths(f'<path d="{bars}" style="fill: #ffffff"/>')) < 500 * 20
