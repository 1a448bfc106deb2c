"""``bench merge``: folders of records of several machines as one folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import WrongUse
from ...terminal import say

SHOWN = 20  # runs that are present several times and listed


def merge(
    results: Annotated[list[Path], typer.Argument(help="folders of records, such as results/classic")],
    out: Annotated[Path, typer.Option(help="new folder")],
) -> None:
    """Merge folders of records of several machines.

    The records are copied into a new folder with a manifest. Of a run that is present several times one record is kept: one that did not fail before one that failed, then the one that
    started first. Folders are refused if the same instance has other files, or if versions of schedlab or of a solver differ. A damaged
    record is named with its reason; then nothing is written, and the exit code is 1. manifest.json has the SHA-256 and the size of each
    file; bench verify checks them.

    Example: bench merge machine1/classic machine2/classic --out results/classic
    """
    from ...records.merge import merge as merged
    from ...records.merge import read_folders

    if len({folder.resolve() for folder in results}) < len(results):
        raise WrongUse("a folder is given twice")
    found, faults = read_folders(results)
    for path, fault in faults:
        say(f"{path}: {fault}")
    if faults:
        say(f"{len({path for path, _ in faults})} files with faults; nothing was written")
        raise typer.Exit(1)
    made = merged(results, found, out)
    for run in made.twice[:SHOWN]:
        r = run.kept.record
        say(
            f"{r['instance']}, {r['method']}, seed {r['seed']}: kept {run.kept.path}, not {', '.join(map(str, run.others))}"
        )
    more = f" ({len(made.twice) - SHOWN:,} more)" if len(made.twice) > SHOWN else ""
    twice = f", {len(made.twice):,} runs present several times{more}" if made.twice else ""
    say(f"{out}: {made.records:,} records of {len(results)} folders{twice}")
