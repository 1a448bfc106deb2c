"""The versions of numba whose private interfaces our cache and linker know; others compile by numba's own means."""

from __future__ import annotations

import logging
from importlib.metadata import version

KNOWN = (
    "0.68",
)  # held by tests/models/test_compiled.py; make versions runs the suite's kernels with older and newer ones


def is_known(numba_version: str) -> bool:
    """Return whether the private interfaces of a version of numba such as "0.68.1" are known."""
    return ".".join(numba_version.split(".")[:2]) in KNOWN


def use_own_linker() -> bool:
    """Return whether our own cache and linker are used; if not, say so on the logger."""
    installed = version("numba")
    if is_known(installed):
        return True
    logging.getLogger("schedlab").warning(
        "numba %s: kernels are compiled by its own means, which takes a minute or two once after the installation; with "
        "numba %s it takes 5 to 30 s (docs/installation.md)",
        installed,
        KNOWN[-1],
    )
    return False
