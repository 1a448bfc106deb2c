"""Shorter text of SVG elements: no groups without attributes, no needless digits, one font for all texts."""

from __future__ import annotations

import re

TAG = re.compile(r"<[a-z][^>]*>")
GROUP = re.compile(r"<(/?)g\b([^>]*?)(/?)>")
NUMBER = re.compile(r"-?\d+\.\d{3,}")
PLACE = re.compile(r' (?:x="|y="|transform="rotate\()[^"]*"')
UPRIGHT = re.compile(r' transform="rotate\(-?0 [^"]*\)"')
FONT = re.compile(r'(?<=[" ;])font-family: [^;"]*(?:; )?')
STYLE = re.compile(r' style="[^"]*"')
BLANK = re.compile(r"([:;]) ")


def with_short_markup(svg: str) -> str:
    """Return an SVG element that looks the same with less text.

    Examples
    --------
    >>> with_short_markup('''<svg viewBox="0 0 9 9">
    ...  <g>
    ...   <g clip-path="url(#a)"><text style="font-size: 8px; fill: #333333" x="1.123456" transform="rotate(-0 1 2)">b c</text></g>
    ...  </g>
    ... </svg>''')
    '<svg viewBox="0 0 9 9"><g clip-path="url(#a)"><text style="font-size:8px;fill:#333333" x="1.12">b c</text></g></svg>'
    """
    svg = _without_plain_groups(re.sub(r">\s+<", "><", svg))
    fonts = {font.removesuffix("; ") for tag in TAG.findall(svg) for font in FONT.findall(tag)}
    font = fonts.pop() if len(fonts) == 1 else ""
    if font:
        svg = TAG.sub(lambda m: FONT.sub("", m.group(0)), svg).replace("<svg ", f'<svg style="{font}" ', 1)
    return TAG.sub(lambda m: _short(m.group(0)), svg)


def _short(tag: str) -> str:
    """Return a tag with two decimals in its places, and without what changes nothing."""
    tag = PLACE.sub(lambda m: NUMBER.sub(_rounded, m.group(0)), UPRIGHT.sub("", tag))
    return STYLE.sub(lambda m: BLANK.sub(r"\1", m.group(0)), tag)


def _rounded(found: re.Match[str]) -> str:
    return f"{round(float(found.group(0)), 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: no minus sign before 0


def _without_plain_groups(svg: str) -> str:
    """Remove the tags of groups that have no attributes."""
    kept: list[bool] = []

    def tag(found: re.Match[str]) -> str:
        closes, attributes, empty = found.groups()
        if closes:
            return found.group(0) if kept.pop() else ""
        if not empty:
            kept.append(bool(attributes.strip()))
        return found.group(0) if attributes.strip() else ""

    return GROUP.sub(tag, svg)
