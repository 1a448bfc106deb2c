"""Checked reading of JSON objects: faults are collected, each with the file, the field and what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...models.platform import LATEST, MOST_CAPACITY
from ...models.unknown_names import similar
from ..files.faults import Fault, InstanceError
from ..files.numbers import json_whole_of


class Document:
    """A JSON file that is being read, with its faults.

    Parameters
    ----------
    path
        The file, for the messages.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.faults: list[Fault] = []

    def add_fault(self, field: str, expected: str, found: object) -> None:
        """Record a fault."""
        self.faults.append(Fault(self.path.name, None, field, expected, found))

    def raise_faults(self) -> None:
        """Raise InstanceError if there are faults."""
        if self.faults:
            raise InstanceError(self.path, self.faults)


@dataclass(frozen=True, eq=False)
class Entry:
    """An object of a JSON file with its place, such as ``waiting[3]``; entries of lists count from 1.

    The methods return the value of a key; a wrong one is recorded as a fault, and a valid value returned.
    """

    document: Document
    values: Mapping[str, Any]
    place: str = ""

    @classmethod
    def of(cls, document: Document, value: object, place: str = "") -> Entry:
        """Return the entry of a value that should be an object."""
        if isinstance(value, dict):
            return cls(document, value, place)
        document.add_fault(place or "file", "an object", value)
        return cls(document, {}, place)

    def at(self, key: str) -> str:
        """Return the place of a key, with the id of the job or the name of the node if it is known."""
        name = next((self.values[k] for k in ("id", "name") if isinstance(self.values.get(k), str)), None)
        dotted = f"{self.place}.{key}" if self.place else key
        return dotted if name is None or key in ("id", "name") else f"{dotted} ({name})"

    def add_fault(self, key: str, expected: str, found: object) -> None:
        """Record a fault of the value of ``key``."""
        self.document.add_fault(self.at(key), expected, found)

    def only(self, *known: str) -> None:
        """Record a fault for each key that is not in ``known``, with a similar one if there is one."""
        for key in self.values:
            if key not in known:
                near = similar(key, known, 1)
                self.add_fault(key, f"{near[0]!r} perhaps" if near else f"one of {', '.join(known)}", key)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text that is not empty; without a default, a missing key is a fault."""
        if key not in self.values and default is not None:
            return default
        value = self.values.get(key)
        if isinstance(value, str) and value:
            return value
        self.add_fault(key, "a text", value)
        return ""

    def maybe_whole(self, key: str, least: int, most: int = LATEST) -> int | None:
        """Return a whole number; None if the key is missing or null."""
        return None if self.values.get(key) is None else self.whole(key, least, most)

    def whole(self, key: str, least: int, most: int = LATEST, default: int | None = None) -> int:
        """Return a whole number from ``least`` to ``most``; without a default, a missing key is a fault."""
        value = self.values.get(key, default)
        found = json_whole_of(value, least, most)
        if found is not None:
            return found
        above = f" and at most {most}" if isinstance(value, int) and value > most else ""
        self.add_fault(key, f"a whole number of at least {least}{above}", value)
        return least

    def flag(self, key: str) -> bool:
        """Return true or false; false if the key is missing."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self.add_fault(key, "true or false", value)
        return value is True

    def amounts(self, key: str) -> dict[str, int]:
        """Return an object of whole numbers of at least 0, {resource: amount}."""
        return self.entry(key).all_amounts()

    def all_amounts(self) -> dict[str, int]:
        """Return all keys of this object as {resource: amount}."""
        return {name: self.whole(name, 0, MOST_CAPACITY) for name in self.values}

    def entry(self, key: str) -> Entry:
        """Return an object."""
        return Entry.of(self.document, self.values.get(key), self.at(key))

    def entries(self, key: str) -> Iterator[Entry]:
        """Yield the objects of a list; a missing list is a fault."""
        value = self.values.get(key)
        if not isinstance(value, list):
            self.add_fault(key, "a list of objects", value)
            return
        for k, each in enumerate(value, 1):
            yield Entry.of(self.document, each, f"{self.place}.{key}[{k}]".lstrip("."))
