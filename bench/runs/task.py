"""What a command has to do about runs: which are requested, where they are performed, what is recorded and printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ...instances import Instance
from ..records.record import BROKEN_OFF, failed
from ..records.store import Record
from ..replays.settings import RESULTS, RUNS
from .executors import Where
from .process import WORKER
from .selection import RunRequest

if TYPE_CHECKING:
    from .suites import BestKnown


@dataclass(frozen=True)
class Recording:
    """What is performed, recorded and printed: options of ``bench run``, ``simulate`` and ``dardis``."""

    dry_run: Annotated[
        bool,
        Option("--dry-run", help="only print the runs or replays and how long they take", rich_help_panel=RUNS),
    ] = False
    as_json: Annotated[bool, Option("--json", help="print the records as JSON lines", rich_help_panel=RESULTS)] = False
    retry: Annotated[
        bool,
        Option(
            "--retry",
            help="also repeat the runs that failed, crashed, were killed or ran out of memory",
            rich_help_panel=RESULTS,
        ),
    ] = False
    again: Annotated[
        bool, Option("--again", help="repeat all of them, also those with a record", rich_help_panel=RESULTS)
    ] = False
    explain: Annotated[
        bool, Option("--explain", help="print below each table what its columns mean", rich_help_panel=RESULTS)
    ] = False

    def keeps(self, record: Record) -> bool:
        """Return whether the record of an earlier run is used instead of a new run."""
        return not self.again and not (self.retry and (record["cause"] in BROKEN_OFF or failed(record)))


@dataclass(frozen=True)
class RunTask:
    """What ``bench run`` has to do.

    Parameters
    ----------
    instances
        Pairs of the path given by the user and the loaded instance.
    request
        Methods, limits and views of the runs.
    out
        Folder of the records; None: results/<instance>.
    recording
        What is performed, recorded and printed.
    command
        Command that starts a worker.
    where
        The executor.
    known
        Best-known values by the name of the instance, beside those of suites.
    """

    instances: Sequence[tuple[str, Instance]]
    request: RunRequest
    out: Path | None = None
    recording: Recording = field(default_factory=Recording)
    command: Sequence[str] = WORKER
    where: Where = field(default_factory=Where)
    known: Mapping[str, BestKnown] = field(default_factory=dict)
