"""``bench calibrate``: whether a replay by the rules of a site starts jobs when the recorded machine did."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import Annotated

import typer

from ..replays.open_log import time_zone
from ..terminal import console_for, say


def calibrate(
    log: Annotated[
        Path, typer.Argument(help="log of Slurm: the output of sacct, with -D for requeued jobs, or jobcomp")
    ],
    *,
    site: Annotated[
        list[Path],
        typer.Option(help="files of the site, or folders of them: slurm.conf, sacctmgr dump, site.toml, ..."),
    ],
    zone: Annotated[str | None, typer.Option(help="time zone of the times in the files, such as Europe/Rome")] = None,
    replays: Annotated[int, typer.Option(min=1, help="free replays, each with other fractions of seconds")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="random seed")] = 0,
    csv: Annotated[Path | None, typer.Option(help="file of the table to write")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="say what each column means")] = False,
) -> None:
    """Compare a log with what the rules of its site would have done.

    One step: at each recorded event, the recorded state is asked what starts now, and the answers are compared with the
    starts that followed. Free: the log is replayed from its submissions on, several times; what happens within a second is
    not recorded and is drawn. How much the replays differ from each other is what chance does.

    Example: bench calibrate jobs.txt --site slurm.conf --site dump.cfg --site qos.txt

    Example: bench calibrate jobs.txt --site site.toml --zone Europe/Rome --csv waits.csv
    """
    from ...instances.files.writing import write_whole
    from ...instances.sites import read_site
    from ...instances.traces import read_trace
    from ...simulation.slurm.calibration import calibrate as calibrated
    from ..show.calibration import lines_of, table_of

    own = time_zone(zone)
    machine = read_site(*site, zone=own or UTC)
    workload = read_trace(log, "sacct", zone=own).with_cancelled().workload
    result = calibrated(workload, machine, replays=replays, seed=seed)
    table = table_of(result)
    table.show(console_for(), explain)
    say("\n".join(lines_of(result)))
    if csv is not None:
        write_whole(csv, table.as_csv())
        say(f"{csv}: written")
