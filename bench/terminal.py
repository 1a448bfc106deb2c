"""Output of the bench: text is printed as text, never as markup; control characters in data are made visible."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ..models.words import visible

PLAIN_WIDTH = 120  # columns of tables that are not printed on a terminal
KEPT = "\n\t"  # control characters that are printed as they are


class Plain(Console):
    """A console for text from data: names, descriptions, messages.

    It interprets no markup ("[/red]") and no emoji codes, and does not highlight; styles are given by ``Text`` or
    ``style``. Control characters are made visible before the layout, and again in every segment that is printed.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return the text without interpreting it."""
        return super().render_str(visible(text, KEPT), **{**options, "markup": False, "emoji": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments that are printed."""
        for piece in super().render(renderable, options):
            if piece.control or piece.text.isprintable():
                yield piece
            else:
                yield Segment(visible(piece.text, KEPT), piece.style)

    def on_broken_pipe(self) -> None:
        """Raise the error, so that the command ends with 141; rich itself would exit with code 1, "a run failed"."""
        self.quiet = True
        raise


def console_for(stderr: bool = False) -> Console:
    """Return a console for the standard output or error; it is 120 columns wide unless it is a terminal."""
    made = Plain(stderr=stderr)
    if made.is_terminal:
        return made
    return Plain(stderr=stderr, width=PLAIN_WIDTH)


def say(text: str, error: bool = False) -> None:
    """Print a line on the standard output, or on the standard error (where a failing write is ignored)."""
    with contextlib.suppress(*[OSError] if error else []):
        print(visible(text, KEPT), file=sys.stderr if error else sys.stdout, flush=error)


def open_streams() -> None:
    """Make sure that the process has all three standard streams: replace a closed one by /dev/null.

    Otherwise the next file that is opened would take its file descriptor and receive the output. Characters that a stream
    cannot encode are escaped.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            _reserve(number)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
        elif number and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Redirect the standard output to /dev/null: its reader is gone, and its buffer could not be written at the exit either."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):  # a stream without a file, in tests
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)


def _reserve(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != number:
            os.dup2(null, number)
            os.close(null)
