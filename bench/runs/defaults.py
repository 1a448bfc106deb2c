"""The default runs: the views of an instance, each with its methods and time limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...instances import Instance
from ...models.dispatch.jobs import DAY
from ..kinds.base import bench_kind
from .view import View

SMALL = 8  # an instance with at most this many nodes gets the defaults for small instances
USUAL_LIMIT = 10.0  # time limit in seconds of a method that is not among the defaults


class Default(NamedTuple):
    """A method and its time limit in seconds."""

    method: str
    time_limit: float = USUAL_LIMIT


NOON = View(at=DAY // 2, first=100)
WHOLE = View()
DAY_REPLAYED = View(durations="runtime")  # for dispatchers, and for the clairvoyant methods they are compared with
Defaults = Mapping[View, Sequence[Default]]


def defaults(instance: Instance) -> Defaults:
    """Return the default views of an instance, each with its methods; views without jobs are left out."""
    kind = bench_kind(instance.kind)
    return {v: methods for v, methods in views_known(instance).items() if not kind.is_empty(instance.problem, v)}


def views_known(instance: Instance) -> Defaults:
    """Return the views for which there are default methods and time limits, by the kind and size of the instance."""
    return bench_kind(instance.kind).default_views(instance)
