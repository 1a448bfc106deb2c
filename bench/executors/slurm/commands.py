"""The commands of SLURM: sbatch, squeue, scontrol, scancel. None of them needs its accounting database."""

from __future__ import annotations

import getpass
import re
import subprocess
from collections.abc import Sequence
from typing import NamedTuple

from ....errors import SchedlabError
from ...errors import WrongUse

TIMEOUT = 60.0  # seconds for a command; slurmctld answers slowly when it is busy
CONNECT = 10.0  # seconds to reach slurmctld at the start
USUAL_ARRAY = 1001  # MaxArraySize of SLURM if it is not configured


class SlurmError(SchedlabError, RuntimeError):
    """A command of SLURM failed; the message is what it printed."""


class Listed(NamedTuple):
    """An element of a job array that waits or runs."""

    name: str
    job: str
    element: int


def ping() -> int:
    """Return the most elements of a job array. Raises WrongUse if SLURM is not installed or does not answer."""
    try:
        text = _run(["scontrol", "show", "config"], timeout=CONNECT)
    except SlurmError as e:
        raise WrongUse(f"--executor slurm: SLURM does not answer: {e}") from e
    found = re.search(r"^MaxArraySize\s*=\s*(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else USUAL_ARRAY


def submit(script: str, arguments: Sequence[str]) -> str:
    """Submit a batch script and return the id of its job. Raises WrongUse with the reason of SLURM."""
    try:
        return _run(["sbatch", "--parsable", *arguments], script).strip().partition(";")[0]
    except SlurmError as e:
        raise WrongUse(f"--executor slurm: sbatch refuses the runs: {e}") from e


def listed() -> list[Listed]:
    """Return the elements of the arrays of this user that wait, run or end. Raises SlurmError."""
    text = _run(["squeue", "--noheader", "--array", f"--user={getpass.getuser()}", "--format=%j|%F|%K"])
    rows = [line.split("|") for line in text.splitlines()]
    return [Listed(row[0], row[1], int(row[2])) for row in rows if len(row) == 3 and row[2].isdigit()]


def ending(job: str, index: int) -> tuple[str, str, str]:
    """Return the state, exit code and nodes of an ended element of an array; "unknown" if SLURM has forgotten it."""
    try:
        text = _run(["scontrol", "--oneliner", "show", "job", f"{job}_{index}"])
    except SlurmError:
        text = ""
    found = [re.search(rf"\b{name}=(\S+)", text) for name in ("JobState", "ExitCode", "NodeList")]
    state, code, nodes = (field[1] if field else "unknown" for field in found)
    return state, code, nodes


def cancel(jobs: Sequence[str]) -> None:
    """End jobs; those that have ended are no error."""
    if jobs:
        try:
            _run(["scancel", "--quiet", *jobs])
        except SlurmError as e:
            raise WrongUse(f"scancel {' '.join(jobs)}: {e}") from e


def _run(command: Sequence[str], text: str | None = None, timeout: float = TIMEOUT) -> str:
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=timeout, check=False)
    except FileNotFoundError:
        raise WrongUse(f"--executor slurm: there is no command {command[0]}: start bench where SLURM is") from None
    except subprocess.TimeoutExpired:
        raise SlurmError(f"{command[0]}: no answer within {timeout:g} s") from None
    if done.returncode:
        raise SlurmError(" ".join((done.stderr or done.stdout).split()) or f"{command[0]}: exit code {done.returncode}")
    return done.stdout
