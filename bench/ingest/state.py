"""``bench import state``: the state of a machine from the JSON of Slurm or PBS."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import WrongValue
from ...instances.files.atomic import write_whole
from ...instances.files.lines import read_json, read_text
from ...instances.states.pbs import state_from_pbs
from ...instances.states.slurm import state_from_slurm
from ..errors import WrongUse
from ..log_options import time_zone
from ..terminal import say

EXPECTED = (
    "expected squeue --json with scontrol show nodes --json (or sinfo -N --json), or qstat -f -F json with "
    "pbsnodes -av -F json"
)


def import_state(
    files: Annotated[list[Path], typer.Argument(metavar="JOBS NODES", help="two JSON files: the jobs, the nodes")],
    out: Annotated[Path, typer.Option(help="file of the state to write")],
    now: Annotated[
        int | None, typer.Option(min=0, help="time of the state, s since 1970; default: in the files")
    ] = None,
    ewt: Annotated[int, typer.Option(min=1, help="expected waiting time of each queue in seconds")] = 3600,
    reservations: Annotated[
        Path | None, typer.Option(help="Slurm: scontrol show reservations --json; PBS: pbs_rstat -f")
    ] = None,
    zone: Annotated[str | None, typer.Option(help="time zone of PBS, such as Europe/Rome; default: UTC")] = None,
) -> None:
    """Make the state of a machine for bench decide from the JSON of Slurm or PBS.

    Slurm: squeue --json > jobs.json; scontrol show nodes --json > nodes.json (or sinfo -N --json).

    PBS: qstat -f -F json > jobs.json; pbsnodes -av -F json > nodes.json.

    With reservations: scontrol show reservations --json > reservations.json, or pbs_rstat -f > reservations.txt.

    Example: bench import state jobs.json nodes.json --out state.json

    Example: bench import state jobs.json nodes.json --reservations reservations.json --out state.json
    """
    if len(files) != 2:
        raise WrongUse(f"{len(files)} files; {EXPECTED}")
    kinds = {_kind(values, file): values for file in files for values in [read_json(file)]}
    sources = " and ".join(str(file) for file in (*files, reservations) if file is not None)
    try:
        made, skipped = _made(kinds, now, ewt, zone, reservations)
    except WrongValue as e:
        raise WrongUse(f"{sources}: {e}") from e
    except (KeyError, TypeError, AttributeError) as e:
        raise WrongUse(
            f"{sources}: a field is missing or has another form ({type(e).__name__}: {e}); {EXPECTED}"
        ) from e
    try:
        write_whole(out, json.dumps(made, indent=1) + "\n")
    except OSError as e:
        raise WrongUse(f"--out {out}: cannot be written ({e.strerror})") from e
    for why, count in skipped.items():
        noun, rest = why.split(" ", 1)
        say(f"left out: {count} {noun}{'s' * (count != 1)} {rest}")
    say(
        f"{out}: {len(made['nodes'])} nodes, {len(made['running'])} running and {len(made['waiting'])} waiting jobs; "
        f"next: bench decide {out}"
    )


def _kind(values: Any, file: Path) -> str:
    """Return which output a file is."""
    if isinstance(values, dict):
        if isinstance(values.get("Jobs"), dict):
            return "qstat"
        if isinstance(values.get("jobs"), list):
            return "squeue"
        if isinstance(values.get("sinfo"), list) or isinstance(values.get("nodes"), list):
            return "slurm nodes"
        if isinstance(values.get("nodes"), dict):
            return "pbsnodes"
        if "pbs_version" in values:
            return "qstat"  # without jobs there is no object of them
    raise WrongUse(f"{file}: neither jobs nor nodes; {EXPECTED}")


def _made(
    kinds: Mapping[str, Any], now: int | None, ewt: int, zone: str | None, reservations: Path | None
) -> tuple[dict[str, Any], Counter[str]]:
    if set(kinds) == {"squeue", "slurm nodes"}:
        if zone is not None:
            raise WrongUse("--zone: for PBS only; the times of Slurm's JSON have no time zone")
        reserved = None if reservations is None else read_json(reservations)
        if reserved is not None and not (isinstance(reserved, dict) and isinstance(reserved.get("reservations"), list)):
            raise WrongUse(f"--reservations {reservations}: expected the output of scontrol show reservations --json")
        return state_from_slurm(kinds["squeue"], kinds["slurm nodes"], now, ewt, reserved)
    if set(kinds) == {"qstat", "pbsnodes"}:
        text = None if reservations is None else read_text(reservations, errors="replace")
        return state_from_pbs(kinds["qstat"], kinds["pbsnodes"], now, ewt, time_zone(zone) or UTC, text)
    raise WrongUse(f"the files are {' and '.join(kinds)}; {EXPECTED}")
