"""The names of CP dispatchers that follow a desired profile: ``hcp3-profile``, or with a cost ``hcp3-profile:0.5``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .....errors import WrongValue

PROFILE = "-profile"
FOLLOWING = tuple(f"{name}{PROFILE}" for name in ("pcp2", "pcp3", "hcp2", "hcp3", "cpmodel"))
"""The names without a cost."""


def keeps_to_profile(dispatcher: str, over_cost: float | None, policies: Sequence[str]) -> bool:
    """Return whether a profile limits the starts of a dispatcher; ``policies``: those that keep to one."""
    return dispatcher in policies or (dispatcher in FOLLOWING and over_cost is None)


def split_cost(name: str) -> tuple[str, float | None]:
    """Return the name and the cost of an amount-hour above the profile; None: no cost.

    Raises
    ------
    ValueError
        If the cost is no number of at least 0.

    Examples
    --------
    >>> split_cost("hcp3-profile:0.5"), split_cost("hcp3-profile"), split_cost("easy:lst")
    (('hcp3-profile', 0.5), ('hcp3-profile', None), ('easy:lst', None))
    """
    base, colon, text = name.partition(":")
    if not colon or base not in FOLLOWING:
        return name, None
    cost = float(text)
    if not 0 <= cost < math.inf:
        raise WrongValue(text)
    return base, cost
