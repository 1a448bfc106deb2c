"""What a user can do wrong: told in a sentence, exit code 2, never a traceback."""

from __future__ import annotations


class WrongUse(Exception):  # noqa: N818 - as UnknownName
    """A wrong use of the bench; the message says what, where, and what to do."""
