"""``python -m schedlab.bench.wheel``: build the wheel of the repository in the current folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ...errors import SchedlabError
from ..terminal import say
from .build import build


def main() -> int:
    """Build the wheel, and print its name; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m schedlab.bench.wheel", description="Build a wheel with the machine code of the kernels."
    )
    parser.add_argument("--source", type=Path, default=Path(), help="the repository; default: the current folder")
    parser.add_argument("--out", type=Path, default=Path("dist"), help="the folder for the wheel; default: dist")
    arguments = parser.parse_args()
    if not (arguments.source / "pyproject.toml").is_file():
        say(
            f"error: {arguments.source.absolute()} has no pyproject.toml; run this at the root of the repository",
            error=True,
        )
        return 2
    try:
        say(str(build(arguments.source.absolute(), arguments.out)))
    except (SchedlabError, OSError) as e:
        say(f"error: {e}", error=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
