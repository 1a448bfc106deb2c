"""The log of a solver, bounded: of a long log the first and the last part are kept."""

from __future__ import annotations

from collections import deque

from ..models.counts import how_many

LOG_CHARACTERS = 200_000
"""Most characters of a log, half of them from its begin and half from its end; what lies between is left out."""


class SolverLog:
    """A text that grows and stays bounded; solvers write to it as to a file, from any thread.

    Parameters
    ----------
    most : int
        The number of characters that are kept, without the line that says how many were left out.

    Examples
    --------
    >>> log = SolverLog(most=8)
    >>> _ = log.write("first, second, third")
    >>> print(log.text())
    firs
    ... 12 characters of the log left out ...
    hird
    """

    def __init__(self, most: int = LOG_CHARACTERS) -> None:
        self._half = most // 2
        self._head: list[str] = []
        self._head_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._written = 0

    def write(self, text: str) -> int:
        """Append a text; return its length."""
        self._written += len(text)
        room = self._half - self._head_size
        if room > 0:
            self._head.append(text[:room])
            self._head_size += len(self._head[-1])
        rest = text[max(room, 0) :][-self._half :]
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
            while self._tail_size - len(self._tail[0]) >= self._half:
                self._tail_size -= len(self._tail.popleft())
        return len(text)

    def line(self, text: str) -> None:
        """Append a line."""
        self.write(text + "\n")

    def flush(self) -> None:
        """Do nothing; files have this method."""

    def text(self) -> str:
        """Return the log; of a long one the first and the last part, with the number of characters left out."""
        head, tail = "".join(self._head), "".join(self._tail)[-self._half :]
        left = self._written - len(head) - len(tail)
        return (
            head + tail
            if not left
            else f"{head}\n... {how_many(left, 'character', ',')} of the log left out ...\n{tail}"
        )


def joined(first: str, second: str) -> str:
    """Return two logs as one, bounded."""
    if len(first) + len(second) <= LOG_CHARACTERS:
        return first + second
    log = SolverLog()
    log.write(first + second)
    return log.text()
