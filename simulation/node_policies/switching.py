"""How long nodes take to boot and to shut down, and the states that they go through."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import WrongValue
from ...models.excerpt import with_short_repr
from ...models.whole_numbers import is_whole, shown
from ..energy.power import BOOTING, OFF, SHUTTING_DOWN

ON = 3
STATE_NAMES = ("off", "booting", "shutting down", "on")
"""The names of the states ``OFF``, ``BOOTING``, ``SHUTTING_DOWN`` and ``ON``, which are indices of this tuple."""

__all__ = ["BOOTING", "OFF", "ON", "SHUTTING_DOWN", "STATE_NAMES", "Switching"]


@with_short_repr
@dataclass(frozen=True)
class Switching:
    """The times of nodes that are switched off and on: on -> shutting down -> off -> booting -> on.

    Parameters
    ----------
    boot : int, default 300
        Seconds from the begin of the boot until jobs may start.
    shut_down : int, default 60
        Seconds from the switch-off until the node is off.
    min_off : int, default 900
        Least time in seconds that a node is off before it boots. It cannot be shortened.

    Raises
    ------
    WrongValue
        If a time is not a whole number of seconds of at least 0.

    Examples
    --------
    >>> Switching(boot=45 * 60).away
    3660
    """

    boot: int = 300
    shut_down: int = 60
    min_off: int = 900

    def __post_init__(self) -> None:
        for name in ("boot", "shut_down", "min_off"):
            value = getattr(self, name)
            if not is_whole(value) or value < 0:
                raise WrongValue(f"switching: {name} is {shown(value)} s; a whole number of at least 0 is expected")

    @property
    def away(self) -> int:
        """The least time in seconds from a switch-off until jobs may start again."""
        return self.shut_down + self.min_off + self.boot
