"""Charts side by side as one SVG picture, for a document that shows pictures but no HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from ..errors import WrongUse

CAPTION, GAP, FONT = 22, 14, 13  # points
LETTER = 0.6  # greatest mean width of the letters of a caption, as a share of the font size


def side_by_side(charts: Sequence[tuple[str, str]]) -> str:
    """Return one SVG document with the charts in a row.

    Parameters
    ----------
    charts
        Pairs of a caption and an SVG element with a ``viewBox``, as ``charts.as_svg`` makes it.

    Returns
    -------
    str
        The document. The same charts give the same text.
    """
    parts, x, tallest = [], 0.0, 0.0
    for caption, svg in charts:
        box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
        if box is None:
            raise WrongUse("a chart has no size and cannot be part of a picture")
        width, height = float(box[1]), float(box[2])
        size = min(FONT, (width - GAP) / (LETTER * max(1, len(caption))))  # a long caption is smaller, not cut off
        parts.append(f'<text x="{x + GAP:g}" y="{FONT + 2}" font-size="{size:.3g}">{escape(caption)}</text>')
        parts.append(svg.replace("<svg ", f'<svg x="{x:g}" y="{CAPTION}" width="{width:g}" height="{height:g}" ', 1))
        x, tallest = x + width + GAP, max(tallest, height + CAPTION)
    box_of_all = f"{x - GAP:g} {tallest:g}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {box_of_all}"'
    )
    style = 'font-family="sans-serif" fill="#222"'
    return "\n".join([f"{head} {style}>", '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>", ""])
