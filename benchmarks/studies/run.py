"""The run of a study from the command line (``python -m benchmarks.studies.NAME``)."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from rich.console import Console
from schedlab.bench.errors import WRONG
from schedlab.bench.terminal import console_for
from schedlab.errors import SchedlabError


def run_study(study: Callable[[argparse.Namespace, Console], object], options: argparse.Namespace) -> int:
    """Run a study and return the exit code; errors that a user can cause are printed as one line.

    Parameters
    ----------
    study : callable
        ``study(options, console)`` prints its results.
    options : argparse.Namespace
        The options of the command line.
    """
    try:
        study(options, console_for())
    except (SchedlabError, OSError) as e:
        console_for(stderr=True).print(f"error: {e}", markup=False, highlight=False, soft_wrap=True)
        return WRONG
    return 0
