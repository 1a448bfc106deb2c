"""``attempts.csv`` and ``node_states.csv``: attempts that ended early, changes of node states; writing and reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...errors import WrongValue
from ...instances.files.lines import csv_rows, read_text, split_lines
from ...instances.files.writing import to_csv, write_whole
from ...instances.workload import Workload
from ...models.excerpt import excerpt
from ...models.platform import Platform
from ..features.running import chunks_together, ending_at, with_rows
from ..node_policies import STATE_NAMES, Switching
from ..records import Attempt, History, PowerRecord, attempts_of
from ..result import Simulation
from .reading import JobsError

# --- ``attempts.csv``: the attempts of a replay that ended early; writing and reading.
#
# The columns are job_id, attempt (its number), start, end (seconds), nodes (``node:units`` for each node, nodes numbered
# in the order of the platform), why, work_done (seconds that count), returned (1 if the job came back, else 0: then the
# attempt is also the row of the job in ``jobs.csv``). The first attempt of a job that runs at the begin may start before
# second 0.

ATTEMPT_COLUMNS = ("job_id", "attempt", "start", "end", "nodes", "why", "work_done", "returned")


def attempts_file(jobs: Path) -> Path:
    """Return the name of the attempts file beside a jobs file.

    Examples
    --------
    >>> attempts_file(Path("easy.1.jobs.csv")).name, attempts_file(Path("mine.csv")).name
    ('easy.1.attempts.csv', 'mine.attempts.csv')
    """
    return jobs.with_name(jobs.name.removesuffix(".csv").removesuffix(".jobs") + ".attempts.csv")


def write_attempts(simulation: Simulation, path: Path) -> bool:
    """Write the attempts that ended early, if there are any.

    Parameters
    ----------
    simulation : Simulation
        The result of a replay.
    path : Path
        The CSV file.

    Returns
    -------
    bool
        Whether there are any.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    history = simulation.history
    if history is None:
        return False
    ids = simulation.workload.ids
    known = Counter(history.rows.tolist())
    final = {(ids[k], known[k] + 1) for k in history.dropped} | {(a.job, a.number) for a in history.gone}
    last = [a for a in attempts_of(simulation) if (a.job, a.number) in final]
    number = {name: n for n, name in enumerate(simulation.platform.nodes)}
    rows = [
        (
            *(a.job, a.number, a.start, a.end),
            " + ".join(
                " ".join(f"{number[name]}:{units}" for name, units in on.items()) for on in (a.nodes, *a.further)
            ),
            *(a.why, a.work_done, int(back)),
        )
        for back, listed in ((True, history.early), (False, last))
        for a in listed
    ]
    write_whole(path, to_csv(ATTEMPT_COLUMNS, rows))
    return True


def read_attempts(path: Path, workload: Workload, platform: Platform) -> tuple[Workload, History | None]:
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
    Workload
        The jobs, with rows for those that came back after they had run at the begin; the running jobs that failed and
        did not come back end then.
    History or None
        The attempts that ended early; None if the file has no rows.

    Raises
    ------
    JobsError
        If the file is not valid; the message has the file and the line.
    """
    listed = list(_attempts(path, platform))
    at_begin = {parts[0].job.id: parts for parts in chunks_together(workload.running)}
    back = {a.job for _, a, comes_back in listed if comes_back and a.job in at_begin}
    gone = [a for _, a, _ in listed if a.job in at_begin and a.job not in back]
    returned = [parts for name, parts in at_begin.items() if name in back]
    left = [r for name, parts in at_begin.items() if name not in back for r in parts]
    whole = with_rows(workload, returned)
    whole = replace(whole, running=ending_at(left, {r.job.id: a.end for a in gone for r in at_begin[a.job]}))
    row_of = {name: k for k, name in enumerate(whole.ids)}
    early: list[Attempt] = []
    rows: list[int] = []
    dropped: dict[int, str] = {}
    for line, attempt, comes_back in listed:
        k = row_of.get(attempt.job)
        if k is None and attempt.job not in at_begin:
            raise JobsError(f"{path}, line {line}: {excerpt(attempt.job)} is no job of workload {workload.name}")
        if k is not None and comes_back:
            early.append(attempt)
            rows.append(k)
        elif k is not None:
            dropped[k] = attempt.why
    begun = {row_of[name]: at_begin[name] for name in back}
    return whole, History.of(early, rows, dropped, len(whole), begun, gone)


def _attempts(path: Path, platform: Platform) -> Iterator[tuple[int, Attempt, bool]]:
    """Yield the line, the attempt, and whether the job came back, of each line. Raises JobsError."""
    listed = csv_rows(path, split_lines(read_text(path)))
    if tuple(next(listed, (1, []))[1]) != ATTEMPT_COLUMNS:
        raise JobsError(f"{path}, line 1: not an attempts.csv; expected the columns {', '.join(ATTEMPT_COLUMNS)}")
    for line, cells in listed:
        try:
            job, number, start, end, nodes, why, work, back = cells
            on, *further = (_nodes(text, platform) for text in nodes.split("+"))
            attempt = Attempt(job, int(number), int(start), int(end), on, why, int(work), tuple(further))
            if back not in ("0", "1"):
                raise WrongValue(back)
        except (ValueError, LookupError) as e:
            expected = "whole numbers, nodes such as 0:2 7:1, and 0 or 1"
            raise JobsError(f"{path}, line {line}: expected {expected} ({e})") from None
        yield line, attempt, back == "1"


def _nodes(text: str, platform: Platform) -> dict[str, int]:
    pairs = (piece.partition(":") for piece in text.split())
    return {platform.nodes[int(n)]: int(units) for n, _, units in pairs}


# --- ``node_states.csv``: the changes of the states of nodes that were switched off and on; writing and reading.
#
# The columns are node (its name), time (seconds), state (``shutting down``, ``off``, ``booting``, ``on``), in the order of
# the times. All nodes are on before their first change.

STATE_COLUMNS = ("node", "time", "state")


def node_states_file(jobs: Path) -> Path:
    """Return the name of the file of the node states beside a jobs file.

    Examples
    --------
    >>> node_states_file(Path("easy.1.jobs.csv")).name
    'easy.1.node_states.csv'
    """
    return jobs.with_name(jobs.name.removesuffix(".csv").removesuffix(".jobs") + ".node_states.csv")


def write_node_states(record: PowerRecord, platform: Platform, path: Path) -> None:
    """Write the changes of the states of the nodes. Raises OSError."""
    write_whole(path, to_csv(STATE_COLUMNS, record.named(platform)))


def read_node_states(path: Path, platform: Platform, policy: str, switching: Switching) -> PowerRecord:
    """Read a ``node_states.csv``.

    Parameters
    ----------
    path : Path
        The file.
    platform : Platform
        The machine of the replay.
    policy : str
        The name of the node policy.
    switching : Switching
        The times of the nodes.

    Returns
    -------
    PowerRecord
        The states.

    Raises
    ------
    JobsError
        If the file is not valid; the message has the file and the line.
    """
    listed = csv_rows(path, split_lines(read_text(path)))
    if tuple(next(listed, (1, []))[1]) != STATE_COLUMNS:
        raise JobsError(f"{path}, line 1: not a node_states.csv; expected the columns {', '.join(STATE_COLUMNS)}")
    number = {name: n for n, name in enumerate(platform.nodes)}
    rows = list[tuple[int, int, int]]()
    for line, cells in listed:
        try:
            node, time, state = cells
            rows.append((number[node], int(time), STATE_NAMES.index(state)))
        except (ValueError, LookupError) as e:
            expected = f"a node of the platform, whole seconds, and one of {', '.join(STATE_NAMES)}"
            raise JobsError(f"{path}, line {line}: expected {expected} ({e})") from None
    changes = np.array(rows, np.int64).reshape(-1, 3)
    return PowerRecord(policy, switching, changes[:, 0], changes[:, 1], changes[:, 2])
