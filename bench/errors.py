"""What a user can do wrong: told in a sentence, exit code 2, never a traceback."""

from __future__ import annotations


class WrongUse(Exception):
    """A wrong use of the bench; the message says what, where, and what to do."""
