"""``node_states.csv``: the changes of the states of nodes that were switched off and on; writing and reading.

The columns are node (its name), time (seconds), state (``shutting down``, ``off``, ``booting``, ``on``), in the order of
the times. All nodes are on before their first change.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...instances.files.atomic import write_whole
from ...instances.files.lines import csv_rows, read_text, split_lines
from ...instances.files.writing import to_csv
from ...models.platform import Platform
from ..node_policies import STATE_NAMES, Switching
from ..records import PowerRecord
from .reading import JobsError

COLUMNS = ("node", "time", "state")


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
    write_whole(path, to_csv(COLUMNS, record.named(platform)))


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
    if tuple(next(listed, (1, []))[1]) != COLUMNS:
        raise JobsError(f"{path}, line 1: not a node_states.csv; expected the columns {', '.join(COLUMNS)}")
    number, rows = {name: n for n, name in enumerate(platform.nodes)}, list[tuple[int, int, int]]()
    for line, cells in listed:
        try:
            node, time, state = cells
            rows.append((number[node], int(time), STATE_NAMES.index(state)))
        except (ValueError, LookupError) as e:
            expected = f"a node of the platform, whole seconds, and one of {', '.join(STATE_NAMES)}"
            raise JobsError(f"{path}, line {line}: expected {expected} ({e})") from None
    found = np.array(rows, np.int64).reshape(-1, 3)
    return PowerRecord(policy, switching, found[:, 0], found[:, 1], found[:, 2])
