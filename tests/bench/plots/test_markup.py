"""Short markup of SVG elements: the same elements with the same values, with less text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from schedlab.bench.pages.panels import with_short_markup

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
