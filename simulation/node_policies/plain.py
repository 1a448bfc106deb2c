"""Node policies without knowledge of the future: always on, and off after some idle time."""

from __future__ import annotations

import re

import numpy as np

from ...errors import WrongValue
from ...models import DesiredProfile, Platform
from ...models.excerpt import with_short_repr
from .policy import NodeDecision, NodeMoment
from .switching import Switching

UNITS = {"": 1, "s": 1, "min": 60, "h": 3600}
DURATION = re.compile(r"(\d+)\s*(s|min|h|)")
USUAL = "30min"


def seconds_of(text: str) -> int | None:
    """Return the seconds of a text such as 300, 300s, 30min or 2h; None if it is no such text.

    Examples
    --------
    >>> seconds_of("30min"), seconds_of("45"), seconds_of("soon")
    (1800, 45, None)
    """
    found = DURATION.fullmatch(text.strip())
    return None if found is None else int(found[1]) * UNITS[found[2]]


@with_short_repr
class AlwaysOn:
    """Switch no node off."""

    name = "always-on"

    def begin(self, platform: Platform, switching: Switching, desired: DesiredProfile | None) -> None:
        """Do nothing."""

    def decide(self, moment: NodeMoment) -> NodeDecision:
        """Return no node."""
        return NodeDecision()


@with_short_repr
class Idle:
    """Switch nodes off that have run no job for some time.

    Parameters
    ----------
    after : str, default "30min"
        The time, such as 300s, 30min or 2h.

    Raises
    ------
    WrongValue
        If it is no time.
    """

    def __init__(self, after: str = USUAL) -> None:
        seconds = seconds_of(after)
        if seconds is None:
            raise WrongValue(f"node policy idle:{after}: expected a time such as idle:300s, idle:30min or idle:2h")
        self.after, self.name = seconds, f"idle:{after}"

    def begin(self, platform: Platform, switching: Switching, desired: DesiredProfile | None) -> None:
        """Do nothing."""

    def decide(self, moment: NodeMoment) -> NodeDecision:
        """Return the nodes that have been idle for long enough, and the next time at which there is one."""
        since = moment.idle_since[moment.may_switch_off] + self.after
        later = since[since > moment.now]
        off = np.flatnonzero(moment.may_switch_off & (moment.idle_since + self.after <= moment.now))
        return NodeDecision(off, wake=int(later.min()) if later.size else None)
