"""The names of users: those of schedlab and of third parties, with options as text."""

from __future__ import annotations

from typing import Any

from ...models.plugins import Registry, explained
from ..references import made_with_options, parse_options, source_of
from .scenarios import OWN
from .users import Users, check_users

USERS: Registry[Any] = Registry("group of users", "schedlab.users", OWN)
"""Users by name: an object, or a class or function that returns one."""


def users_of(what: str | Users | type[Users]) -> Users:
    """Return users by their name, ``NAME[:OPTION=VALUE]...`` or ``module:attribute``; an object is checked and returned.

    Parameters
    ----------
    what : str or Users
        A name of ``USERS``: ``be``, ``ge``, ``cf``, ``cfg`` (``Static``), ``di``, ``hdi`` (``Learning``), ``impatient``.

    Returns
    -------
    Users
        The users.

    Raises
    ------
    UnknownName
        If there is no such name or option; the message lists similar ones.
    PluginError
        If the object cannot be created, or does not follow the protocol.

    Examples
    --------
    >>> users_of("di:seed=3").seed
    3.0
    """
    found: Any = what
    if isinstance(what, str):
        found = made_with_options(parse_options(what, USERS), USERS, "request")[0]
    elif isinstance(found, type):
        with explained(f"the argument users ({what!r:.100}) cannot be created"):
            found = found()
    check_users(found)
    made: Users = found
    return made


def users_source(text: str) -> str | None:
    """Return a hash of the source of a third party's users; None for those of schedlab."""
    return source_of(parse_options(text, USERS), USERS)
