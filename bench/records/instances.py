"""The instances of records: each is read only once, and its files are compared with those that were run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...instances import Instance
from ...instances.files.folder import content_of
from ...models.problem import Problem
from ..kinds.dispatch import bounded
from ..runs.view import View

Load = Callable[[str, bool], Instance]


class Instances:
    """The instances and problems of records.

    Parameters
    ----------
    load
        Function that loads an instance from a path and the flag ``drop_impossible``.
    """

    def __init__(self, load: Load) -> None:
        self.load = load
        self._instances: dict[tuple[str, bool], Instance] = {}
        self._problems: dict[tuple[str, bool, View], Problem] = {}
        self._contents: dict[Path, str] = {}

    def instance(self, record: Mapping[str, Any]) -> Instance:
        """Return the instance of a record. Raises what ``load`` raises."""
        place = _place(record)
        if place not in self._instances:
            self._instances[place] = self.load(*place)
        return self._instances[place]

    def problem(self, record: Mapping[str, Any]) -> Problem:
        """Return the problem of a record: its view of its instance, with its limits if it has a composite objective."""
        alike = (*_place(record), View(**record["view"]))
        if alike not in self._problems:
            self._problems[alike] = alike[-1].of(self.instance(record))
        return bounded(self._problems[alike], record)

    def unchanged(self, record: Mapping[str, Any], path: Path) -> bool:
        """Return whether the files at ``path`` (an instance or a log) are those that were run. Raises OSError."""
        if path not in self._contents:
            self._contents[path] = content_of(path)
        return self._contents[path] == record.get("content")


def _place(record: Mapping[str, Any]) -> tuple[str, bool]:
    return str(record["path"]), bool(record["drop_impossible"])
