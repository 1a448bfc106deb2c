"""Shorter paths in SVG: relative coordinates in hundredths of a point, in place of absolute ones with six decimals.

Long filled paths, such as the jobs of a Gantt chart and curves of use, have whole numbers of twentieths of a point, which a
transformation scales: their outline is not drawn, and half a twentieth is less than a pixel at any size a page shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PATH = re.compile(r'<path [^>]*?\bd="([^"]*)"[^>]*>')
STEP = re.compile(r"([MLQCz])([^MLQCz]*)")  # what matplotlib writes: absolute coordinates
FILLED = re.compile(r'<path d="[^"]*"( clip-path="[^"]*")? style="fill: #\w+(?:; opacity: [\d.]+)?"\s*/>')
RING_AGAIN = re.compile(r"z\s*[LQC]")  # a path that goes on from the begin of a closed ring
LONG = 600  # letters of the path of matplotlib from which a transformation is worth its own letters
HUNDREDTHS, TWENTIETHS = 100, 20  # of a point

Step = tuple[str, list[int]]


def with_short_paths(svg: str) -> str:
    """Return an SVG element whose paths take a third of the text or less, long filled ones a quarter.

    No coordinate changes by more than 0.005 points, in long filled paths 0.025.

    Examples
    --------
    >>> with_short_paths('<path d="M 10 20.004 L 30.5 20 L 30.5 40 L 10 40 z" />')
    '<path d="M10 20h20.5v20h-20.5z" />'
    """
    return PATH.sub(_shorter, svg)


def _shorter(found: re.Match[str]) -> str:
    element, path = found.group(0), found.group(1)
    filled = FILLED.fullmatch(element) if len(path) >= LONG and not RING_AGAIN.search(path) else None
    if filled is None:
        return element.replace(path, "".join(_short(path)), 1)
    scaled = element.replace(path, "".join(_filled(path)), 1).replace(
        "<path ", f'<path transform="scale({1 / TWENTIETHS:g})" ', 1
    )
    clip = filled.group(1)  # of a group, as the transformation of an element applies to its clip path too
    return f"<g{clip}>{scaled.replace(clip, '', 1)}</g>" if clip else scaled


def _steps(path: str, parts: int) -> Iterator[Step]:
    """Yield the steps of a path with its numbers in parts of a point.

    Points are rounded before differences are taken, so that errors do not add up.
    """
    for letter, text in STEP.findall(path):
        yield letter, [round(parts * float(number)) for number in text.split()]


def _short(path: str) -> Iterator[str]:
    """Yield the steps of a path in hundredths of a point, relative to each other."""
    x = y = begin_x = begin_y = 0
    first = True
    for letter, numbers in _steps(path, HUNDREDTHS):
        if letter == "z":
            yield "z"
            x, y = begin_x, begin_y
            continue
        deltas = [n - (y if k % 2 else x) for k, n in enumerate(numbers)]
        if letter == "M" and first:
            yield "M" + _joined(map(_number, numbers))
        elif letter == "L" and deltas[1] == 0:
            yield "h" + _number(deltas[0])
        elif letter == "L" and deltas[0] == 0:
            yield "v" + _number(deltas[1])
        else:
            yield letter.lower() + _joined(map(_number, deltas))
        x, y = numbers[-2:]
        if letter == "M":
            begin_x, begin_y, first = x, y, False


def _filled(path: str) -> Iterator[str]:
    """Yield the steps of a path in twentieths of a point that cover the same area.

    Rings are not closed, as filling closes them, and lines without length and corners between lines of one direction are left out.
    """
    x = y = across = down = 0  # the last point that was passed; the line from it that has not been written
    for letter, numbers in [*_steps(path, TWENTIETHS), ("z", [])]:
        to_x, to_y = numbers[-2:] or (x, y)
        straight = letter == "L" and (to_x == x or to_y == y)
        if (across and not (straight and to_y == y)) or (down and not (straight and to_x == x)):
            yield f"h{across}" if across else f"v{down}"
            across = down = 0
        if straight:
            across, down = across + to_x - x, down + to_y - y
        elif letter != "z":
            deltas = [n - (y if k % 2 else x) for k, n in enumerate(numbers)]
            yield letter.lower() + _joined(map(str, deltas))
        x, y = to_x, to_y


def _joined(numbers: Iterator[str]) -> str:
    """Return numbers with a blank between them where none has a minus sign."""
    return next(numbers, "") + "".join(text if text.startswith("-") else f" {text}" for text in numbers)


def _number(hundredths: int) -> str:
    """Return a number of hundredths without needless digits: 50 -> ".5"."""
    whole, rest = divmod(abs(hundredths), 100)
    decimals = f".{rest:02}".rstrip("0") if rest else ""
    sign = "-" if hundredths < 0 else ""
    return f"{sign}{whole if whole or not rest else ''}{decimals}"
