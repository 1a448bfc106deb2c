"""The options that the commands about results share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import WrongUse
from ...statistics.measures import SHIFT, Measure, seconds, seconds_to

Folder = Annotated[Path, typer.Argument(help="folder of records, such as results/classic")]
Target = Annotated[
    float | None,
    typer.Option(
        help="count the seconds to a schedule within this gap to the best known, such as 0.01, not those to the proof"
    ),
]
Shift = Annotated[float, typer.Option(min=0.0, help="seconds added to times before their geometric mean")]
Methods = Annotated[list[str] | None, typer.Option(help="only these methods, separated by commas")]
Unproven = Annotated[bool, typer.Option("--unproven", help="only the problems that no run of these methods proved")]
SHIFT_USUAL = SHIFT


def measure_of(target: float | None) -> Measure:
    """Return the measure of seconds for ``--target``. Raises WrongUse."""
    if target is None:
        return seconds
    if not 0 <= target < 1:
        raise WrongUse(f"--target {target:g}: expected a gap from 0 to 1, such as 0.01")
    return seconds_to(target)
