"""Partitions of a machine in a log: as queues, and as a filter of the jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..logged import TextColumn
from ..repair import Trace
from ..workload import WorkloadError

QUEUE, PARTITION = "queue", "partition"
SOURCES = (QUEUE, PARTITION)  # columns of a log from which the queues can be taken


def with_queues_from(trace: Trace, source: str) -> Trace:
    """Return the trace with its queues taken from a column of the log.

    The expected waiting time of a queue is then the mean recorded wait of the jobs of this partition.

    Parameters
    ----------
    trace
        A log.
    source
        "queue" or "partition".

    Raises
    ------
    WorkloadError
        ``source`` is something else, or the log has no partitions.

    Examples
    --------
    >>> from schedlab.instances.logged import Logged
    >>> trace = Trace.of("log", "swf", [Logged("1", queue="q")], ["cores"])
    >>> with_queues_from(replace(trace, partition=TextColumn.of(["fat"])), "partition").queue.names
    ('fat',)
    """
    if source not in SOURCES:
        raise WorkloadError(f"queues cannot be taken from {source!r:.60}; expected {' or '.join(SOURCES)}")
    if source == QUEUE:
        return trace
    partition = _partitions(trace)
    note = f"the queues are the partitions: {', '.join(_first(partition.names))}"
    return replace(trace, queue=partition, ewt={}, report=trace.report.and_also(notes=[note]))


def in_partitions(trace: Trace, names: Sequence[str]) -> Trace:
    """Return the trace of the jobs in some partitions; the report has the number of the others.

    Parameters
    ----------
    trace
        A log.
    names
        Names of partitions; for SWF also their numbers (field 16).

    Raises
    ------
    WorkloadError
        A partition has no job in the log, or the log has no partitions.
    """
    partition = _partitions(trace)
    by_number = {number: name for name, number in trace.partition_numbers.items()}
    wanted = [by_number.get(name, name) for name in names]
    for name, full in zip(names, wanted, strict=True):
        if full not in partition.names:
            shown = [
                f"{n} ({trace.partition_numbers[n]})" if n in trace.partition_numbers else n for n in partition.names
            ]
            raise WorkloadError(
                f"{trace.name}: no job is in the partition {name!r:.60}; the partitions are {', '.join(_first(shown, 40))}"
            )
    inside = np.isin(partition.index, [k for k, name in enumerate(partition.names) if name in wanted])
    others = Counter(partition.names[k] for k in partition.index[~inside].tolist())
    found = trace.keep(inside)
    if not others:
        return found
    most = ", ".join(f"{name}: {n:,}" for name, n in others.most_common(5))
    note = f"only jobs of partition {', '.join(dict.fromkeys(wanted))}; jobs of other partitions, left out, are from {most}"
    repairs = {"in other partitions, left out": int((~inside).sum())}
    return replace(found, report=found.report.and_also(repairs, notes=[note]))


def partition_names(text: str | None) -> tuple[str, ...]:
    """Return the names in a list with commas; None and an empty text give none.

    >>> partition_names("3, fat")
    ('3', 'fat')
    """
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _partitions(trace: Trace) -> TextColumn:
    if trace.partition is None:
        raise WorkloadError(
            f"{trace.name}: the log has no partitions (SWF: field 16; sacct: column Partition; PBS: queue); "
            "leave out the options on partitions"
        )
    return trace.partition


def _first(names: Sequence[str], most: int = 8) -> list[str]:
    return [*names[:most], f"and {len(names) - most} more"] if len(names) > most else list(names)
