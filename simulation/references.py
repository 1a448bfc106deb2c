"""Dispatchers and rankers of third parties that are named as ``module:attribute``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..backends import UnknownName
from ..models.plugins import NoSuchAttribute, NoSuchModule, load_reference


def referred(what: str, text: str, known: list[str]) -> Any:
    """Return the object ``module:attribute``.

    Parameters
    ----------
    what : str
        What the object should be, for messages: "dispatcher".
    text : str
        The name ``module:attribute``; the module is a file in the current folder, or installed.
    known : list of str
        Names that exist, for messages.

    Returns
    -------
    object
        The object.

    Raises
    ------
    UnknownName
        If there is no such module or attribute.
    PluginError
        If the module cannot be imported.
    """
    module, _, attribute = text.partition(":")
    try:
        return load_reference(text)
    except NoSuchAttribute as e:
        raise UnknownName(f"object of the module {module} called", attribute, e.known) from None
    except NoSuchModule:
        note = f", and no module {module} in the current folder or installed"
        here = [f"{file.stem}:{attribute}" for file in sorted(Path.cwd().glob("*.py"))]
        raise UnknownName(what, text, [*known, *here], note) from None
