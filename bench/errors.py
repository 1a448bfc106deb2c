"""The error class for wrong use of the bench."""

from __future__ import annotations

from ..errors import SchedlabError


class WrongUse(SchedlabError, RuntimeError):
    """A wrong option, path or file given by the user.

    The message says what is wrong, where, and what to do. The command line prints it as one line, without a traceback,
    and ends with exit code 2.
    """
