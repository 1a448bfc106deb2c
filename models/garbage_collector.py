"""Times without Python's garbage collector, while many objects are made that all stay in use."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the garbage collector off while a model is built, lowered or compiled.

    The lowering of 1,000 jobs has millions of objects, all in use. To examine them again and again takes up to half of
    the time.

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
            gc.enable()
