"""The penalty scheduling policy under EASY and under conservative backfilling [Rocchetti2015, 4]."""

from __future__ import annotations

from ..rankers.penalty import Penalty
from .policy import POLICIES, Policy


def psp() -> Policy:
    """Return EASY with jobs of accurate users first; the same as ``easy+psp``, a new ranker for each call.

    Examples
    --------
    >>> psp().ranker
    Penalty(last=10, classes=5, first_class='best', aging=inf)
    """
    return POLICIES["easy"].with_ranker(Penalty(), "psp")


def psp_conservative() -> Policy:
    """Return conservative backfilling with jobs of accurate users first; the same as ``conservative+psp``."""
    return POLICIES["conservative"].with_ranker(Penalty(), "psp-conservative")
