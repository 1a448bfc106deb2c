"""``attempts.csv``: the attempts of a replay that ended early; writing and reading.

The columns are job_id, attempt (its number), start, end (seconds), nodes (``node:units`` for each node, nodes numbered
in the order of the platform), why, work_done (seconds that count), returned (1 if the job came back, else 0: then the
attempt is also the row of the job in ``jobs.csv``).
"""

from __future__ import annotations

from pathlib import Path

from ...errors import WrongValue
from ...instances.files.atomic import write_whole
from ...instances.files.lines import csv_rows, read_text, split_lines
from ...instances.files.writing import to_csv
from ...instances.workload import Workload
from ...models.platform import Platform
from ..engine.simulation import Simulation
from ..engine.states.attempts import Attempt, History, attempts_of
from .reading import JobsError

COLUMNS = ("job_id", "attempt", "start", "end", "nodes", "why", "work_done", "returned")


def attempts_file(jobs: Path) -> Path:
    """Return the name of the attempts file beside a jobs file.

    Examples
    --------
    >>> attempts_file(Path("easy.1.jobs.csv")).name, attempts_file(Path("mine.csv")).name
    ('easy.1.attempts.csv', 'mine.attempts.csv')
    """
    return jobs.with_name(jobs.name.removesuffix(".csv").removesuffix(".jobs") + ".attempts.csv")


def write_attempts(simulation: Simulation, path: Path) -> bool:
    """Write the attempts that ended early, if there are any; return whether there are. Raises OSError."""
    found = simulation.history
    if found is None:
        return False
    gone = {simulation.workload.ids[k] for k in found.dropped}
    last = [a for a in attempts_of(simulation) if a.job in gone and a not in found.early]
    number = {name: n for n, name in enumerate(simulation.platform.nodes)}
    rows = [
        (
            *(a.job, a.number, a.start, a.end),
            " + ".join(
                " ".join(f"{number[name]}:{units}" for name, units in on.items()) for on in (a.nodes, *a.further)
            ),
            *(a.why, a.work_done, int(back)),
        )
        for back, listed in ((True, found.early), (False, last))
        for a in listed
    ]
    write_whole(path, to_csv(COLUMNS, rows))
    return True


def read_attempts(path: Path, workload: Workload, platform: Platform) -> History | None:
    """Read an ``attempts.csv``.

    Parameters
    ----------
    path : Path
        The file.
    workload : Workload
        The jobs of the replay.
    platform : Platform
        The machine of the replay.

    Returns
    -------
    History or None
        The attempts that ended early; None if the file has no rows.

    Raises
    ------
    JobsError
        If the file is not valid; the message has the file and the line.
    """
    row_of = {name: k for k, name in enumerate(workload.ids)}
    early: list[Attempt] = []
    rows: list[int] = []
    dropped: dict[int, str] = {}
    listed = csv_rows(path, split_lines(read_text(path)))
    if tuple(next(listed, (1, []))[1]) != COLUMNS:
        raise JobsError(f"{path}, line 1: not an attempts.csv; expected the columns {', '.join(COLUMNS)}")
    for line, cells in listed:
        try:
            job, number, start, end, nodes, why, work, back = cells
            k = row_of[job]
            on, *further = (_nodes(text, platform) for text in nodes.split("+"))
            attempt = Attempt(job, int(number), int(start), int(end), on, why, int(work), tuple(further))
            if back not in ("0", "1"):
                raise WrongValue(back)
        except (ValueError, LookupError) as e:
            expected = "a job of the workload, whole numbers, nodes such as 0:2 7:1, and 0 or 1"
            raise JobsError(f"{path}, line {line}: expected {expected} ({e})") from None
        if back == "1":
            early.append(attempt)
            rows.append(k)
        else:
            dropped[k] = why
    return History.of(early, rows, dropped, len(workload))


def _nodes(text: str, platform: Platform) -> dict[str, int]:
    pairs = (piece.partition(":") for piece in text.split())
    return {platform.nodes[int(n)]: int(units) for n, _, units in pairs}
