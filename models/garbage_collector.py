"""Python's garbage collector, kept away from the millions of objects of a large model, which all stay in use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY_OBJECTS = 100_000  # an examination of fewer takes some milliseconds


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the garbage collector off while a model is built, lowered or compiled.

    The lowering of 1,000 jobs has millions of objects, all in use. To examine them again and again takes up to half of
    the time. The new objects count as old ones at the end: to examine them at once, as the collector otherwise would,
    stops all threads for a second or more.

    Examples
    --------
    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            if gc.get_count()[0] > MANY_OBJECTS and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()  # into the oldest generation
            gc.enable()


@contextmanager
def unexamined(size: int) -> Iterator[None]:
    """Keep the garbage collector from the objects that exist now, while a solver runs.

    ``size`` is the number of variables and constraints: for a small model nothing is done. A program that has frozen its own objects (``gc.freeze``) keeps them as they are.

    Examples
    --------
    >>> with unexamined(1_000_000):
    ...     gc.get_freeze_count() > 0
    True
    """
    if 10 * size < MANY_OBJECTS or gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
