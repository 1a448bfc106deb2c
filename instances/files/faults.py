"""Faults of the files of an instance, each with its place, and the error that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import SchedlabError
from ...models.comparing import hashable
from ...models.excerpt import excerpt, shortened, visible, with_short_repr

SHOWN = 50  # faults in the message of an error


@with_short_repr
@hashable
@dataclass(frozen=True)
class Fault:
    """One mistake in the files of an instance.

    Attributes
    ----------
    file
        The name of the file.
    line
        The line number, counted from 1; None if the fault has no line.
    field
        The setting, column or property that is wrong.
    expected
        A description of valid values.
    found
        The value in the file; None if there is none.
    """

    file: str
    line: int | None
    field: str
    expected: str
    found: object

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        found = "nothing" if self.found is None else excerpt(self.found)
        return shortened(visible(f"{where}, {self.field}: expected {self.expected}, found {found}"))


class InstanceError(SchedlabError, ValueError):
    """The error for files with faults; the message lists the first 50 of them.

    Parameters
    ----------
    path
        The instance folder or the file.
    faults
        All faults.
    """

    def __init__(self, path: Path, faults: Sequence[Fault]) -> None:
        self.path, self.faults = path, tuple(faults)
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        count += f", the first {SHOWN} of them" if len(faults) > SHOWN else ""
        super().__init__("\n".join([f"{path}: {count}", *(f"  {fault}" for fault in faults[:SHOWN])]))
