"""The versions of numba that schedlab works with: it uses private interfaces of numba, which change with each version."""

from __future__ import annotations

from importlib.metadata import version

from ...errors import MissingPackage

TRIED = ("0.68",)  # the dependency in pyproject.toml allows the same versions


def check_numba() -> None:
    """Raise MissingPackage if the installed version of numba was not tried."""
    found = version("numba")
    if ".".join(found.split(".")[:2]) not in TRIED:
        first, last = TRIED[0], TRIED[-1]
        wanted = f"numba>={first},<{last.split('.')[0]}.{int(last.split('.')[1]) + 1}"
        raise MissingPackage(
            f"numba {found} is installed, but the kernels of schedlab were tried with numba {', '.join(TRIED)} only "
            f"and use parts of it that change from version to version; install another one: pip install '{wanted}'"
        )
