"""Packages whose names are imported when they are first used, so that a command imports only what it needs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

NOTHING: Mapping[str, Sequence[str]] = {}


def names_later(
    package: str,
    names: Mapping[str, Sequence[str]] = NOTHING,
    modules: Sequence[str] = (),
    inner: Mapping[str, Sequence[str]] = NOTHING,
) -> Callable[[str], Any]:
    """Return the function ``__getattr__`` of a package that imports its names when they are first used.

    Parameters
    ----------
    package : str
        The name of the package.
    names : mapping
        Module, relative to the package, without a leading dot -> the names that it has. None of them may be the name of
        a module or folder of the package: once that is imported, Python finds it instead.
    modules : sequence of str
        Modules and folders of the package that are themselves imported when they are first used.
    inner : mapping
        As ``names``: what other packages of schedlab read from this one, wherever it stands. These names are not public.

    Returns
    -------
    callable
        Name -> object. Raises AttributeError for other names.
    """
    module_of = {name: module for table in (names, inner) for module, some in table.items() for name in some}

    def find(name: str) -> Any:
        if name in modules:
            return import_module(f".{name}", package)
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f".{module_of[name]}", package), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
