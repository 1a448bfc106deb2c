"""Who watches the runs: a live display on a terminal, plain lines otherwise; both on the standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar

from .report import number, seconds
from .selection import Run
from .store import Record


class Lines:
    """A line per run; ``tell`` gets every record as it is there (for JSON lines)."""

    def __init__(self, runs: Sequence[Run], console: Console, tell: Callable[[Record], None] | None = None) -> None:
        self.total = len(runs)
        self.done = 0
        self.console = console
        self.tell = tell

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        pass

    def begun(self, run: Run) -> None:
        """The run's process was started."""

    def incumbent(self, run: Run, event: Mapping[str, Any]) -> None:
        """It found something better."""

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        """A line with its end."""
        self.done += 1
        width = len(str(self.total))
        text = f"[{self.done:{width}}/{self.total}] {named(run)}: {outcome(record)}" + (" (kept)" if kept else "")
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)
        if self.tell is not None:
            self.tell(record)


class ClockBar(BarColumn):
    """A bar of a task's seconds out of its limit; of all runs, of those that are done."""

    def render(self, task: Task) -> ProgressBar:
        done = task.completed if task.fields["limit"] is None else task.elapsed or 0.0
        total = task.total if task.fields["limit"] is None else task.fields["limit"]
        return ProgressBar(total=total, completed=min(done, total or done), width=20)


class Live(Lines):
    """A bar over all runs, and a line with the clock and the incumbent for each that is going on."""

    def __init__(self, runs: Sequence[Run], console: Console, tell: Callable[[Record], None] | None = None) -> None:
        super().__init__(runs, console, tell)
        columns = (TextColumn("{task.description}", markup=False), ClockBar(), TimeElapsedColumn())
        self.bars = Progress(*columns, TextColumn("{task.fields[news]}", markup=False), console=console, transient=True)
        self.tasks: dict[str, TaskID] = {}
        self.whole = self.bars.add_task("all runs", total=len(runs), limit=None, news=f"0/{self.total}")

    def __enter__(self) -> Live:
        self.bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        self.bars.stop()

    def begun(self, run: Run) -> None:
        self.tasks[run.key] = self.bars.add_task(
            f"{run.method}, seed {run.seed}", limit=run.time_limit, news="starting"
        )

    def incumbent(self, run: Run, event: Mapping[str, Any]) -> None:
        news = f"{number(event['objective'])} (bound {number(event['bound'])})"
        self.bars.update(self.tasks[run.key], news=news)

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        if run.key in self.tasks:
            self.bars.remove_task(self.tasks.pop(run.key))
        super().ended(run, record, kept)
        self.bars.update(self.whole, completed=self.done, news=f"{self.done}/{self.total}")


def watch(runs: Sequence[Run], console: Console, as_json: bool) -> Lines:
    """The display that fits where the standard error goes."""
    tell = json_line if as_json else None
    return (Live if console.is_terminal else Lines)(runs, console, tell)


def json_line(record: Record) -> None:
    """The record as a line on the standard output."""
    sys.stdout.write(json.dumps(record, allow_nan=False) + "\n")
    sys.stdout.flush()


def named(run: Run) -> str:
    """A run for people."""
    return f"{run.instance}, {run.view.label}: {run.method}, seed {run.seed}"


def outcome(record: Mapping[str, Any]) -> str:
    """A record in half a line."""
    if record["cause"]:
        return str(record["cause"])
    text = str(record["status"])
    if record["objective"] is not None:
        text += f" {number(record['objective'])}"
    if record["bound"] is not None:
        text += f", bound {number(record['bound'])}"
    took = (record["seconds"] or {}).get("total")
    return text + (f" in {seconds(took)} s" if took is not None else "")
