"""Writing of workloads in the Standard Workload Format."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...files.atomic import whole_file
from ...times import UNKNOWN
from ...workload import Workload, WorkloadError

CHUNK = 20_000  # jobs that are formatted together
LINE = "%d %d %d %d %d -1 -1 %d %d %d 1 %d -1 %d %d %d -1 -1\n"
KB_PER_MB = 1024


def write_swf(workload: Workload, nodes: int, path: str | Path, cores: int = 1) -> None:
    r"""Write a workload as a log in the Standard Workload Format (SWF).

    A unit counts as ``cores`` processors: the log has whole nodes. Jobs get the numbers 1, 2, ... in the order of the
    workload, users, programs, queues and partitions the numbers from 1 on. Names of queues are in the header. Memory per
    unit becomes KB per processor, rounded up.

    Parameters
    ----------
    workload
        The jobs.
    nodes
        Number of nodes of the machine, for the header.
    path
        The file; an existing file is replaced.
    cores
        Processors per unit.

    Raises
    ------
    WorkloadError
        A job has properties that SWF does not have: start windows, several chunks, a preceding job.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from schedlab.instances.formats.swf.reading import read_swf
    >>> from schedlab.instances.generators.lublin import workload
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = workload(50, seed=1, nodes=64)
    ...     write_swf(made, 64, Path(folder, "log.swf"))
    ...     again = read_swf(Path(folder, "log.swf"))
    >>> bool((made.submit == again.submit).all() and (made.units == again.units).all())
    True
    """
    w = workload
    for what, jobs in (("start windows", w.windows), ("several chunks", w.chunks), ("a preceding job", w.after)):
        if jobs:
            raise WorkloadError(
                f"{w.name}: job {w.ids[min(jobs)]!r} has {what}, which this writer of SWF cannot express"
            )
    processors = w.units * cores
    memory = np.full(len(w), -1, np.int64)
    if "memory" in w.resources:
        memory = -(-w.request[:, w.resources.index("memory")] * KB_PER_MB // cores)
    wait = np.where(w.recorded_start == UNKNOWN, -1, w.recorded_start - w.submit)
    partition = w.partition + 1 if w.partitions else np.full(len(w), -1, np.int64)
    columns = (
        np.arange(1, len(w) + 1), w.submit, wait, w.runtime, processors, processors, w.walltime, memory, w.user + 1,
        w.program + 1, w.queue + 1, partition,
    )  # fmt: skip
    with whole_file(Path(path)) as out:
        out.write(f"; MaxNodes: {nodes}\n; MaxProcs: {nodes * cores}\n")
        if w.unix_start is not None:
            out.write(f"; UnixStartTime: {w.unix_start}\n")
        out.writelines(f"; Queue: {k} {q.name}\n" for k, q in enumerate(w.queues, 1))
        for begin in range(0, len(w), CHUNK):
            rows = np.column_stack([values[begin : begin + CHUNK] for values in columns])
            out.write(LINE * len(rows) % tuple(rows.ravel().tolist()))
