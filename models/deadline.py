"""The time that a call may take: its limit, its begin, and the clock that both are read from."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Deadline:
    """A limit on the wall time of a call, counted from the begin of the call.

    Parameters
    ----------
    limit : float or None
        Seconds; None: no limit.
    began : float
        Reading of ``time.perf_counter`` when the call began, in seconds; the default is now.

    Examples
    --------
    >>> Deadline(5, began=time.perf_counter() - 6).passed
    True
    >>> Deadline().remaining, Deadline().at_most(10)
    (None, 10)
    """

    limit: float | None = None
    began: float = field(default_factory=time.perf_counter)

    @classmethod
    def until(cls, end: float | None) -> Deadline:
        """Return the deadline of a call that begins now and must end at a reading of ``time.perf_counter`` (None: no limit)."""
        now = time.perf_counter()
        return cls(None if end is None else end - now, now)

    @property
    def end(self) -> float | None:
        """Reading of ``time.perf_counter`` at the limit, in seconds; None: no limit."""
        return None if self.limit is None else self.began + self.limit

    @property
    def elapsed(self) -> float:
        """Seconds since the call began."""
        return time.perf_counter() - self.began

    @property
    def remaining(self) -> float | None:
        """Seconds until the limit, at least 0; None: no limit."""
        return None if self.limit is None else max(0.0, self.limit - self.elapsed)

    @property
    def passed(self) -> bool:
        """Whether the limit has been reached."""
        return self.limit is not None and self.elapsed >= self.limit

    def at_most(self, seconds: float) -> float:
        """Return the seconds until the limit, at least 0 and at most ``seconds``."""
        left = self.remaining
        return seconds if left is None else min(seconds, left)

    def share(self, part: float) -> Deadline:
        """Return the deadline with the same begin and a part, such as 0.9, of the limit."""
        return self if self.limit is None else Deadline(part * self.limit, self.began)

    def earlier(self, seconds: float) -> Deadline:
        """Return the deadline with the same begin and a limit that is ``seconds`` shorter."""
        return self if self.limit is None else Deadline(self.limit - seconds, self.began)
