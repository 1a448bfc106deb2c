"""Who watches the runs: a live display on a terminal, plain lines otherwise; both on the standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.progress_bar import ProgressBar

from ..records.store import Record
from ..tables.numbers import number, seconds
from .selection import Run
from .view import replay_label

SHOWN = 300  # characters of a reason
LINE_EVERY = 10.0  # seconds between two plain lines of one replay


class Pace(NamedTuple):
    """How far a replay is.

    >>> Pace(1000, 5000, 4.0).text
    '1,000 of 5,000 jobs, 250 jobs/s, 0:00:16 left'
    """

    done: int
    total: int
    seconds: float

    @property
    def text(self) -> str:
        """For people, with the rate and the time left at that rate."""
        said = f"{self.done:,} of {self.total:,} jobs"
        if not self.done or self.seconds <= 0:
            return said
        rate = self.done / self.seconds
        left = timedelta(seconds=round((self.total - self.done) / rate))
        return f"{said}, {rate:,.0f} jobs/s, {left} left" if rate >= 10 else f"{said}, {rate:.2g} jobs/s, {left} left"


def pace_of(event: Mapping[str, Any]) -> Pace:
    """The pace that a worker tells."""
    return Pace(event["done"], event["total"], event["seconds"])


class Lines:
    """A line per run; ``tell`` gets every record as it is there (for JSON lines)."""

    def __init__(self, runs: Sequence[Run], console: Console, tell: Callable[[Record], None] | None = None) -> None:
        self.total = len(runs)
        self.done = 0
        self.console = console
        self.tell = tell
        self._next: dict[str, float] = {}  # run -> the second of the replay at which it gets a line again

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        pass

    def begun(self, run: Run) -> None:
        """The run's process was started."""

    def incumbent(self, run: Run, event: Mapping[str, Any]) -> None:
        """It found something better."""

    def progress(self, run: Run, event: Mapping[str, Any]) -> None:
        """A line every ten seconds."""
        pace = pace_of(event)
        if pace.seconds >= self._next.get(run.key, LINE_EVERY):
            self._next[run.key] = pace.seconds + LINE_EVERY
            self.console.print(f"{named(run)}: {pace.text}", soft_wrap=True)

    def refused(self, run: Run, reason: str) -> None:
        """A line with the reason."""
        said = " ".join(reason.split())[:SHOWN]
        text = f"{named(run)}: run again, its record does not hold: {said}"
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        """A line with its end."""
        self.done += 1
        width = len(str(self.total))
        text = f"[{self.done:{width}}/{self.total}] {named(run)}: {outcome(record)}" + (" (kept)" if kept else "")
        self.console.print(text, soft_wrap=True)
        if self.tell is not None:
            self.tell(record)


class ClockBar(BarColumn):
    """A bar of a task's seconds out of its limit; of all runs, of those that are done."""

    def render(self, task: Task) -> ProgressBar:
        done = task.completed if task.fields["limit"] is None else task.elapsed or 0.0
        total = task.total if task.fields["limit"] is None else task.fields["limit"]
        return ProgressBar(total=total, completed=min(done, total or done), width=20)


class LiveDisplay(Lines):
    """A bar over all runs, and a line with the clock and the incumbent for each that is going on."""

    def __init__(self, runs: Sequence[Run], console: Console, tell: Callable[[Record], None] | None = None) -> None:
        super().__init__(runs, console, tell)
        columns = (TextColumn("{task.description}", markup=False), ClockBar(), TimeElapsedColumn())
        self.bars = Progress(*columns, TextColumn("{task.fields[news]}", markup=False), console=console, transient=True)
        self.tasks: dict[str, TaskID] = {}
        self.whole = self.bars.add_task("all runs", total=len(runs), limit=None, news=f"0/{self.total}")

    def __enter__(self) -> LiveDisplay:
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

    def progress(self, run: Run, event: Mapping[str, Any]) -> None:
        pace = pace_of(event)
        self.bars.update(self.tasks[run.key], limit=None, completed=pace.done, total=pace.total, news=pace.text)

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        if run.key in self.tasks:
            self.bars.remove_task(self.tasks.pop(run.key))
        super().ended(run, record, kept)
        self.bars.update(self.whole, completed=self.done, news=f"{self.done}/{self.total}")


def watch(runs: Sequence[Run], console: Console, as_json: bool) -> Lines:
    """The display that fits where the standard error goes."""
    tell = json_line if as_json else None
    return (LiveDisplay if console.is_terminal else Lines)(runs, console, tell)


def json_line(record: Record) -> None:
    """The record as a line on the standard output."""
    sys.stdout.write(json.dumps(record, allow_nan=False) + "\n")
    sys.stdout.flush()


def named(run: Run) -> str:
    """A run for people."""
    label = run.view.label if run.replay is None else replay_label(run.view, run.replay)
    return f"{run.instance}, {label}: {run.method}, seed {run.seed}"


def outcome(record: Mapping[str, Any]) -> str:
    """A record in half a line."""
    text = str(record["cause"] or record["status"])
    if record["objective"] is not None:
        text += f" {number(record['objective'])}"
    if record["bound"] is not None:
        text += f", bound {number(record['bound'])}"
    took = (record["seconds"] or {}).get("total")
    return text + (f" in {seconds(took)} s" if took is not None else "")
