"""What the bench prints: text is text, never markup, and control characters of data are visible."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ..models.excerpt import visible

PLAIN_WIDTH = 120  # of tables that do not go to a terminal
KEPT = "\n\t"


class Plain(Console):
    """A console for names, descriptions and messages of data.

    It knows no markup ("[/red]"), no emoji codes and no highlighting: styles are given by ``Text`` or ``style``. Control
    characters are made visible before the layout, and once more in what is drawn, whoever made it.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """A text as it stands."""
        return super().render_str(visible(text, KEPT), **{**options, "markup": False, "emoji": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces of text that are drawn."""
        for piece in super().render(renderable, options):
            if piece.control or piece.text.isprintable():
                yield piece
            else:
                yield Segment(visible(piece.text, KEPT), piece.style)

    def on_broken_pipe(self) -> None:
        """Let the command end where its output is lost: rich itself would exit with code 1, "a run failed"."""
        self.quiet = True
        raise


def console_for(stderr: bool = False) -> Console:
    """A console; what does not go to a terminal is 120 columns wide."""
    made = Plain(stderr=stderr)
    return made if made.is_terminal else Plain(stderr=stderr, width=PLAIN_WIDTH)


def say(text: str, error: bool = False) -> None:
    """Print a line on the standard output, or on the standard error as far as that can be written."""
    with contextlib.suppress(*[OSError] if error else []):
        print(visible(text, KEPT), file=sys.stderr if error else sys.stdout, flush=error)


def open_streams() -> None:
    """Give the process all three standard streams; one that was closed leads nowhere.

    Else the next file that is opened would take its place, and be printed into. What a stream cannot encode is escaped.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            _take_place(number)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115
        elif number and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Lead the standard output nowhere, as its reader is gone: what is left in it could not be written at the exit either."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError):  # a stream without a file, in tests
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _take_place(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
