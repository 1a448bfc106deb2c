"""Random cases of which a few run each time, and the others in ``make known``."""

from collections.abc import Sequence
from typing import Any

import pytest


def some_now(cases: Sequence[Any], count: int) -> list[Any]:
    """Return cases for ``parametrize``: the first ones as they are, the others with the mark ``known``."""
    return [*cases[:count], *(pytest.param(case, marks=pytest.mark.known) for case in cases[count:])]


def some_seeds_now(count: int, every: int) -> list[Any]:
    """Return ranges of seeds for ``parametrize``: the first ``count``, and those up to ``every`` with the mark ``known``."""
    return some_now([range(count), range(count, every)], 1)
