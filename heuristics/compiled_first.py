"""Searches that are called directly: their kernels are compiled before their time limit begins."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from ..models.compiled import progress_line
from ..models.kind import resolve

P = ParamSpec("P")
R = TypeVar("R")
LOCK = threading.RLock()  # a thread waits while another one compiles; a warm-up may call the search itself
_done: set[str] = set()


def compiled_first(place: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a search compile its kernels before a call with a time limit, as ``schedlab.solve`` does.

    Parameters
    ----------
    place : str
        The function that compiles them, "module:function" within ``schedlab.heuristics``; it is called once.
    """

    def decorate(search: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(search)

        @wraps(search)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if parameters.bind_partial(*args, **kwargs).arguments.get("time_limit") is not None:
                _compile(f"{__package__}.{place}")
            return search(*args, **kwargs)

        return call

    return decorate


def _compile(place: str) -> None:
    with LOCK:
        if place in _done:
            return
        _done.add(place)
        try:
            with progress_line():
                resolve(place)()
        except BaseException:
            _done.discard(place)
            raise
