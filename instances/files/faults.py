"""Faults of the files of an instance, each with its place, and the error that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...models.excerpt import excerpt, shortened, visible

SHOWN = 50  # faults in the message of an error


@dataclass(frozen=True)
class Fault:
    """One mistake of an instance's files: where, what was expected, what was found."""

    file: str
    line: int | None
    field: str
    expected: str
    found: object

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        found = "nothing" if self.found is None else excerpt(self.found)
        return shortened(visible(f"{where}, {self.field}: expected {self.expected}, found {found}"))


class InstanceError(ValueError):
    """An instance that cannot be used; ``faults`` lists everything that is wrong with it, each with its place."""

    def __init__(self, path: Path, faults: Sequence[Fault]) -> None:
        self.path, self.faults = path, tuple(faults)
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        count += f", the first {SHOWN} of them" if len(faults) > SHOWN else ""
        super().__init__("\n".join([f"{path}: {count}", *(f"  {fault}" for fault in faults[:SHOWN])]))
