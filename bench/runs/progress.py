"""The progress of runs in the terminal, and how long runs will take."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress_bar import ProgressBar

from ...models.words import how_many
from ..grid import number, seconds
from ..records.store import Record
from .process import KILL_AFTER
from .selection import Run
from .view import replay_label

# --- Estimates of the time that runs take, printed before they start.

START_UP = 3.0  # seconds for the imports of a run, in the worst case


def worst_case(runs: Iterable[Run], jobs: int) -> float:
    """Return the most seconds that the runs can take, ``jobs`` of them in parallel; the start-up is an estimate."""
    return sum(r.time_limit + KILL_AFTER + START_UP for r in runs) / jobs


def how_long(runs: Sequence[Run], jobs: int) -> str:
    """Return a text with the number of runs and the time that they take, ``jobs`` of them in parallel.

    A solver may use its whole time limit. A replay without a solver ends long before its limit (28,475 jobs: 0.1 to 5 s at
    the load of the log; minutes for backfilling with all reservations on an overloaded machine), so that these replays are
    listed separately.

    Examples
    --------
    >>> how_long([Run("day", "day", "c0ffee", "cpsat:pool", time_limit=52, kind="dispatch")], 1)
    '1 run, at most 1.0 minutes'
    """
    replays = [r for r in runs if needs_no_solver(r)]
    others = [r for r in runs if not needs_no_solver(r)]
    count = how_many(len(runs), "run")
    most = f"at most {worst_case(others, jobs) / 60:.1f} minutes"
    if not replays:
        return f"{count}, {most}"
    limit = max(r.time_limit for r in replays)
    which = how_many(len(replays), "replay")
    each = " each"
    if len(replays) == 1:
        each = ""
    quick = f"{which} without a solver: usually a few seconds{each}, stopped after {limit:g} s{each}"
    if others:
        return f"{count} ({len(others)} of them: {most} in total; {quick})"
    return f"{count} ({quick})"


def needs_no_solver(run: Run) -> bool:
    """Return whether a run replays a dispatcher without a solver."""
    return run.replay is not None and run.solver == "schedlab"


# --- The progress of the runs: a live display on a terminal, else plain lines; both on the standard error.

SHOWN = 300  # characters of a reason that are printed
COMPILING = "compiling kernels, once after an installation"
LINE_EVERY = 10.0  # seconds between two plain lines about one replay


class Pace(NamedTuple):
    """The progress of a replay: ``done`` of ``total`` jobs have started after ``seconds``.

    Examples
    --------
    >>> Pace(1000, 5000, 4.0).text
    '1,000 of 5,000 jobs, 250 jobs/s, 0:00:16 left'
    """

    done: int
    total: int
    seconds: float

    @property
    def text(self) -> str:
        """The progress as text, with the rate and the time left at that rate."""
        text = f"{self.done:,} of {how_many(self.total, 'job', ',')}"
        if not self.done or self.seconds <= 0:
            return text
        rate = self.done / self.seconds
        left = timedelta(seconds=round((self.total - self.done) / rate))
        if rate >= 10:
            return f"{text}, {rate:,.0f} jobs/s, {left} left"
        return f"{text}, {rate:.2g} jobs/s, {left} left"


def pace_of(event: Mapping[str, Any]) -> Pace:
    """Return the pace of an event of a worker."""
    return Pace(event["done"], event["total"], event["seconds"])


class Lines:
    """Progress as plain lines, one for each run that has ended.

    Parameters
    ----------
    runs
        All runs.
    console
        Where the lines are printed.
    on_record
        Callback for the record of each run.
    """

    def __init__(
        self, runs: Sequence[Run], console: Console, on_record: Callable[[Record], None] | None = None
    ) -> None:
        self.total = len(runs)
        self.done = 0
        self.console = console
        self.on_record = on_record
        self._compiling = False
        self._next: dict[str, float] = {}  # key of a run: the second of the replay at which its next line is printed

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, trace: TracebackType | None) -> None:
        pass

    def begun(self, run: Run) -> None:
        """Note that the process of a run was started."""

    def compiling(self, run: Run) -> None:
        """Print once that kernels are compiled."""
        if not self._compiling:
            self._compiling = True
            self.console.print(COMPILING, soft_wrap=True)

    def incumbent(self, run: Run, event: Mapping[str, Any]) -> None:
        """Note that a run found a better solution or bound."""

    def log(self, run: Run, event: Mapping[str, Any]) -> None:
        """Print a line of the solver's log, after the method and seed that it belongs to."""
        text = f"{run.method}, seed {run.seed} | {event['line']}"
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def progress(self, run: Run, event: Mapping[str, Any]) -> None:
        """Print a line about a replay, every ``LINE_EVERY`` seconds."""
        pace = pace_of(event)
        if pace.seconds >= self._next.get(run.key, LINE_EVERY):
            self._next[run.key] = pace.seconds + LINE_EVERY
            self.console.print(f"{named(run)}: {pace.text}", soft_wrap=True)

    def refused(self, run: Run, reason: str) -> None:
        """Print why the record of an earlier run is not valid."""
        short = " ".join(reason.split())[:SHOWN]
        text = f"{named(run)}: run again, its record is not valid: {short}"
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        """Print the result of a run."""
        self.done += 1
        width = len(str(self.total))
        text = f"[{self.done:{width}}/{self.total}] {named(run)}: {outcome(record)}" + (" (kept)" if kept else "")
        self.console.print(text, soft_wrap=True)
        if self.on_record is not None:
            self.on_record(record)


class ClockBar(BarColumn):
    """A bar of the elapsed seconds of a run out of its time limit; for all runs together, of the runs that have ended."""

    def render(self, task: Task) -> ProgressBar:
        """Return the bar of a task."""
        if task.fields["limit"] is None:
            done = task.completed
            total = task.total
        else:
            done = task.elapsed or 0.0
            total = task.fields["limit"]
        return ProgressBar(total=total, completed=min(done, total or done), width=20)


class LiveDisplay(Lines):
    """Progress as bars: one for all runs, and one for each active run with its time and incumbent."""

    def __init__(
        self, runs: Sequence[Run], console: Console, on_record: Callable[[Record], None] | None = None
    ) -> None:
        super().__init__(runs, console, on_record)
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
        """Add a bar for a run."""
        self.tasks[run.key] = self.bars.add_task(
            f"{run.method}, seed {run.seed}", limit=run.time_limit, news="starting"
        )

    def incumbent(self, run: Run, event: Mapping[str, Any]) -> None:
        """Show the objective and the bound of a run."""
        news = f"{number(event['objective'])} (bound {number(event['bound'])})"
        self.bars.update(self.tasks[run.key], news=news)

    def progress(self, run: Run, event: Mapping[str, Any]) -> None:
        """Show the pace of a replay."""
        pace = pace_of(event)
        self.bars.update(self.tasks[run.key], limit=None, completed=pace.done, total=pace.total, news=pace.text)

    def ended(self, run: Run, record: Record, kept: bool) -> None:
        """Remove the bar of a run and print its result."""
        if run.key in self.tasks:
            self.bars.remove_task(self.tasks.pop(run.key))
        super().ended(run, record, kept)
        self.bars.update(self.whole, completed=self.done, news=f"{self.done}/{self.total}")


def watch(runs: Sequence[Run], console: Console, as_json: bool) -> Lines:
    """Return a live display for a terminal, else plain lines; ``as_json``: also print each record as JSON."""
    on_record = None
    if as_json:
        on_record = json_line
    return (LiveDisplay if console.is_terminal else Lines)(runs, console, on_record)


def json_line(record: Record) -> None:
    """Print a record as one JSON line on the standard output."""
    sys.stdout.write(json.dumps(record, allow_nan=False) + "\n")
    sys.stdout.flush()


def named(run: Run) -> str:
    """Return a text that names a run: instance, view, method, seed."""
    if run.replay is None:
        label = run.view.label
    else:
        label = replay_label(run.view, run.replay)
    return f"{run.instance}, {label}: {run.method}, seed {run.seed}"


def outcome(record: Mapping[str, Any]) -> str:
    """Return a short text about a record: status or cause, objective, bound, seconds."""
    text = str(record["cause"] or record["status"])
    if record["objective"] is not None:
        text += f" {number(record['objective'])}"
    if record["bound"] is not None:
        text += f", bound {number(record['bound'])}"
    took = (record["seconds"] or {}).get("total")
    return text + (f" in {seconds(took)} s" if took is not None else "")


def step_bar(console: Console) -> Progress:
    """Return a display of the progress of a command in steps, with the time that is left."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=console
    )
