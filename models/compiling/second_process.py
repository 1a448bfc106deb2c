"""A second process that compiles kernels while this one compiles others, once after an installation.

It begins at the first function of a block that is not in the cache, calls functions that compile what the block needs
late, and ends with the block, or with this process. Both take from the cache what the other one has compiled
(``cache.SharedCache``). It shows nothing: without it, or if it fails, the block compiles everything itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..compiled import watching
from ..kind import resolve


def _can_start() -> bool:
    """Return whether there is a second processor, and a Python that is not part of another program."""
    return (os.cpu_count() or 1) > 1 and Path(sys.executable or "").stem.startswith("python")


@contextlib.contextmanager
def second_process(places: Sequence[str]) -> Iterator[None]:
    """Compile in a second process what this block needs late, if something has to be compiled in the block.

    Parameters
    ----------
    places
        Functions without arguments, named as in ``kind.resolve``, that the second process calls; empty: no second process.
    """
    started: list[subprocess.Popen[bytes]] = []

    def begin(number: int) -> None:
        if number > 1 or not places or not _can_start():
            return
        with contextlib.suppress(OSError):
            started.append(
                subprocess.Popen(
                    [sys.executable, "-P", "-m", __name__, *places],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
            )

    try:
        with watching(begin):
            yield
    finally:
        for process in started:
            process.kill()
            process.communicate()


def _end_with_the_first_process() -> None:
    """End this process when the pipe from the first one is closed: its block or the process itself has ended."""
    sys.stdin.buffer.read()
    os._exit(1)


def main(places: Sequence[str]) -> None:
    """Call the functions; Ctrl-C is for the first process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_first_process, daemon=True).start()
    for place in places:
        resolve(place)()


if __name__ == "__main__":
    main(sys.argv[1:])
