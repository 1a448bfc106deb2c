"""Runs on this machine, some at the same time."""

from __future__ import annotations

import select
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...models.excerpt import with_short_repr
from .base import Setting, Task
from .node import RunProcess


@with_short_repr
class LocalExecutor:
    """Processes of this process; they are killed when it ends, however it ends."""

    def __init__(self, setting: Setting) -> None:
        self.jobs = setting.jobs or 1
        self.command = setting.command
        self.active: list[tuple[Task, RunProcess]] = []
        self._begun: list[Task] = []

    def open(self, tasks: Sequence[Task]) -> None:
        """Do nothing: this machine is there."""

    def has_room(self) -> bool:
        """Return whether fewer runs than the number of jobs are active."""
        return len(self.active) < self.jobs

    def submit(self, task: Task) -> None:
        """Start the process of a run."""
        self.active.append((task, RunProcess(task.run, task.folder, self.command, 1 / self.jobs)))
        self._begun.append(task)

    def events(self, seconds: float) -> Iterator[tuple[Task, Mapping[str, Any]]]:
        """Wait for the output of the processes, enforce their limits, and yield the news."""
        yield from ((task, {"event": "begun"}) for task in self._begun)
        self._begun = []
        if self.active:
            select.select([process.out for _, process in self.active], [], [], seconds)
        for entry in list(self.active):
            task, process = entry
            yield from ((task, event) for event in process.step())
            if process.over:
                self.active.remove(entry)
                yield task, {"event": "ended", "record": process.end()}

    def close(self) -> None:
        """Kill the active processes."""
        for _, process in self.active:
            process.stop()
        self.active = []
