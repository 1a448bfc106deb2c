"""HiGHS without output."""

from __future__ import annotations

from functools import cache
from typing import Any


def new_highs() -> Any:
    """Return a new ``highspy.Highs`` that has written nothing.

    highspy enables callbacks in its constructor, before its user can switch the output off; the first time in a process,
    HiGHS 1.16 then writes two lines on the standard output, where workers of the bench write their records.
    """
    return _quiet_class()()


@cache
def _quiet_class() -> Any:
    import highspy

    base: Any = highspy.Highs

    class QuietHighs(base):  # type: ignore[misc]
        """HiGHS that writes nothing when callbacks are enabled."""

        def enableCallbacks(self) -> None:  # noqa: N802 of highspy
            """Enable callbacks with the output off."""
            kept = self.getOptionValue("output_flag")[1]
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()
            self.setOptionValue("output_flag", kept)

    return QuietHighs
