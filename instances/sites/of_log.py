"""What a log tells of a machine: its nodes, their sizes as far as they were in use, and which partition used which nodes.

It also tells since when a node that was drained took no jobs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...errors import WrongValue
from ...models.node_states import EVERY, NodeEvent
from ...models.site import GPUS, Partition, Site, SiteNode, natural_order
from ..files.reading import WorkloadError, begins_with, each_line
from ..formats.sacct_rows import Refused, Row, completion_rows, is_completion, json_rows, table_of, text_rows
from ..formats.slurm_values import count, gpus_in, gres_gpus_of_job, hosts_of, is_unknown, memory, moment, tres
from ..logged import Trace
from ..workload import Workload

SLACK = 5  # s: a scheduler gives the nodes of a job away up to so long before it records its end
SEEN = "sizes of nodes are the largest use that the log shows"
RULES = "limits, priorities and accounts (the log does not have them)"


class PlacedJob(NamedTuple):
    """A job with its nodes.

    Attributes
    ----------
    nodes
        The names of its nodes.
    partition
        Its partition; empty: none.
    start, end
        Times in s, on any clock.
    each
        What it had on each node: ``cores``, ``memory`` in MB, ``gpus`` and, by type, ``gpus a100``.
    """

    nodes: Sequence[str]
    partition: str
    start: float
    end: float
    each: Mapping[str, int]


def site_of_jobs(jobs: Iterable[PlacedJob], name: str = "log") -> Site:
    """Return the site that the jobs of a log show.

    The size of a node is the largest use of it at one time; it may have more. Logs do not say how the CPUs of a job are shared
    among its nodes: of a job on several nodes, each has at least one CPU, and the largest size of all is at least the mean. A
    partition has the nodes that its jobs had.

    Parameters
    ----------
    jobs : iterable of PlacedJob
        The jobs that ran.
    name : str, optional
        Name of the site.

    Returns
    -------
    Site
        The site, without rules; nodes are in the order of their names.

    Raises
    ------
    WorkloadError
        No job has nodes.

    Examples
    --------
    >>> jobs = [PlacedJob(("n1",), "batch", 0, 90, {"cores": 4}), PlacedJob(("n1", "n2"), "batch", 50, 90, {"cores": 8}),
    ...         PlacedJob(("n1",), "debug", 60, 80, {"cores": 6})]
    >>> site = site_of_jobs(jobs)
    >>> [(node.name, node.cores) for node in site.nodes], [(p.name, p.nodes) for p in site.partitions]
    ([('n1', 11), ('n2', 8)], [('batch', ('n1', 'n2')), ('debug', ('n1',))])
    """
    uses: dict[str, list[tuple[float, int, Mapping[str, int]]]] = {}
    members: dict[str, dict[str, None]] = {}
    least: dict[str, dict[str, int]] = {}
    for job in jobs:
        if len(job.nodes) == 1:
            certain = job.each
        else:
            certain = {"cores": 1}
        end = max(job.start, job.end - SLACK)
        for node in job.nodes:
            uses.setdefault(node, []).extend(((job.start, 1, certain), (end, -1, certain)))
            if len(job.nodes) > 1:
                known = least.setdefault(node, {})
                known.update({name: max(known.get(name, 0), n) for name, n in job.each.items()})
            if job.partition:
                members.setdefault(job.partition, {})[node] = None
    if not uses:
        raise WorkloadError(f"{name}: no job of the log has nodes; expected a column NodeList, and jobs that ran")
    order = sorted(uses, key=natural_order)
    peaks = {node: _peak(uses[node], least.get(node, {})) for node in order}
    has_memory = any(peak.get("memory") for peak in peaks.values())
    nodes = [_node(node, peaks[node], has_memory) for node in order]
    place = {node: k for k, node in enumerate(order)}
    partitions = [
        Partition(each, tuple(sorted(listed, key=place.__getitem__)), default=False) for each, listed in members.items()
    ]
    return Site(name, nodes, partitions, not_modelled=(SEEN, RULES))


def _peak(uses: list[tuple[float, int, Mapping[str, int]]], least: Mapping[str, int]) -> dict[str, int]:
    """Return the largest amount of each resource in use at one time, or ``least``; what ends at a time is free at it."""
    now: Counter[str] = Counter()
    peak = dict(least)
    for _, sign, amounts in sorted(uses, key=lambda use: use[:2]):
        for name, amount in amounts.items():
            now[name] += sign * amount
            peak[name] = max(peak.get(name, 0), now[name])
    return peak


def _node(name: str, peak: Mapping[str, int], has_memory: bool) -> SiteNode:
    typed = {key.removeprefix(f"{GPUS} "): n for key, n in peak.items() if key.startswith(f"{GPUS} ") and n}
    untyped = peak.get(GPUS, 0) - sum(typed.values())
    gpus = typed | ({"": untyped} if untyped > 0 else {})
    return SiteNode(name, max(1, peak.get("cores", 0)), memory=peak.get("memory", 0) if has_memory else None, gpus=gpus)


# --- The jobs of a log that was read.


def site_of_trace(trace: Trace) -> Site:
    """Return the site that the recorded nodes of a log show.

    Parameters
    ----------
    trace : Trace
        The log.

    Returns
    -------
    Site
        See ``site_of_jobs``.

    Raises
    ------
    WorkloadError
        No job of the log has nodes.
    """
    return site_of_jobs(_placed_in(trace), trace.name.partition(".")[0])


def shows_nodes(trace: Trace) -> bool:
    """Return whether a log has the nodes of some job that ran."""
    site = trace.site
    if site is None:
        return False
    listed = np.array([bool(text) for text in site.texts], np.bool_)
    return bool((listed[site.nodes] & np.isfinite(trace.start)).any())


def without_nodes(trace: Trace) -> int:
    """Return the number of jobs of a log that ran, and of which it does not name the nodes."""
    ran = np.isfinite(trace.start) & np.isfinite(trace.runtime)
    if trace.site is None:
        return int(ran.sum())
    listed = np.array([bool(text) for text in trace.site.texts], np.bool_)
    return int((ran & ~trace.site.of_queue & ~listed[trace.site.nodes]).sum())


def _placed_in(trace: Trace) -> Iterator[PlacedJob]:
    """Yield the jobs that have nodes, and their earlier attempts."""
    site = trace.site
    if site is None:
        return
    if trace.partition is None:
        group = trace.queue
    else:
        group = trace.partition
    starts = trace.start.tolist()
    runtimes = trace.runtime.tolist()
    for row in range(len(trace)):
        partition = group.names[int(group.index[row])]
        tries = [(one.nodes, one.start, one.end) for one in site.attempts.get(row, ()) if one.start >= 0]
        last = site.texts[int(site.nodes[row])]
        if last and math.isfinite(starts[row]):
            tries.append((last, starts[row], starts[row] + (math.inf if math.isnan(runtimes[row]) else runtimes[row])))
        total = {}
        if tries:
            total = _held(trace, row)
        for text, start, end in tries:
            nodes = _nodes_in(text)
            if nodes:
                each = {name: n // len(nodes) for name, n in total.items() if n}
                yield PlacedJob(nodes, partition, start, math.inf if end < 0 else end, each)


def _nodes_in(text: str) -> Sequence[str]:
    """Return the nodes of a list; brackets that are no ranges are parts of names."""
    try:
        return hosts_of(text)
    except WrongValue:
        return tuple(dict.fromkeys(filter(None, text.split(","))))


def _held(trace: Trace, row: int) -> dict[str, int]:
    """Return what a job had in all; GPUs also by type."""
    chunks = trace.chunks.get(row)
    if chunks is None:
        units = int(trace.units[row])
        total = dict(zip(trace.resources, (units * trace.request[row]).tolist(), strict=True))
    else:
        total = dict(sum((Counter({r: c.units * n for r, n in c.request.items()}) for c in chunks), Counter[str]()))
    types = ""
    if trace.gpu_types is not None:
        types = trace.gpu_types.names[int(trace.gpu_types.index[row])]
    for part in filter(None, types.split(",")):
        kind, _, number = part.partition("=")
        total[f"{GPUS} {kind}"] = int(number)
    return total


# --- The jobs of ``sacct`` with the columns NodeList, Start, End, Partition, and AllocTRES or NCPUS. A log that has no more
# columns cannot be replayed, and shows its machine.


def site_of_log(path: str | Path, zone: tzinfo = UTC, columns: Sequence[str] = ()) -> Site:
    """Return the site that the accounting of Slurm shows, where no description of the machine is there.

    Parameters
    ----------
    path : str or Path
        Output of ``sacct`` with NodeList, or the text file of ``jobcomp/filetxt``; plain or compressed.
    zone : tzinfo, optional
        Time zone of the times in the file.
    columns : sequence of str, optional
        Names of the columns, for a file without a header.

    Returns
    -------
    Site
        See ``site_of_jobs``.

    Raises
    ------
    WorkloadError
        The file cannot be read, or no job of it has nodes.
    """
    return site_of_jobs(placed_jobs(path, zone, columns), Path(path).name.partition(".")[0])


def placed_jobs(path: str | Path, zone: tzinfo = UTC, columns: Sequence[str] = ()) -> Iterator[PlacedJob]:
    """Yield the jobs of a log of Slurm that have nodes; rows of steps, and those that cannot be read, are left out."""
    for row in _rows(path, columns):
        if isinstance(row, Refused) or "." in row.cells.get("JobID", "").partition("[")[0]:
            continue
        try:
            job = _placed(row.cells, zone)
        except WrongValue:  # the reader of the log says so
            continue
        if job is not None:
            yield job


def _rows(path: str | Path, columns: Sequence[str]) -> Iterator[Row | Refused]:
    if begins_with(path, "{"):
        yield from json_rows(path)
        return
    lines = enumerate(each_line(path), 1)
    first = next(((n, line) for n, line in lines if line.strip()), None)
    if first is None:
        raise WorkloadError(f"{path}: the file is empty; expected the output of sacct")
    if is_completion(first[1].strip()):
        yield from completion_rows(chain([first], lines))
        return
    table, header = table_of(path, iter([first]), columns)
    rest = lines if header else chain([first], lines)
    for row in text_rows(table, ((n, text) for n, text in rest if not table.is_header(text)), lambda row: row):
        yield row if isinstance(row, Refused) else row[0]


def _placed(cells: Mapping[str, str], zone: tzinfo) -> PlacedJob | None:
    """Return a job with its nodes, None if it has none. Raises WrongValue."""
    listed = cells.get("NodeList", "")
    if is_unknown(listed):
        return None
    nodes = hosts_of(listed)
    start = moment(cells.get("Start", ""), zone)
    end = moment(cells.get("End", ""), zone)
    if math.isnan(start) or not nodes:
        return None
    amounts = tres(cells.get("AllocTRES", ""))
    cpus = amounts.get("cpu") or cells.get("AllocCPUS") or cells.get("NCPUS") or "0"
    gpus, kinds = gpus_in(amounts)
    if not gpus:
        older = gres_gpus_of_job(cells.get("AllocGRES", ""), len(nodes))
        gpus = older.number
        kinds = older.types
    total = {"cores": count(cpus), GPUS: gpus} | {f"{GPUS} {kind}": n for kind, n in kinds.items()}
    if "mem" in amounts:
        total["memory"] = math.ceil(memory(amounts["mem"]).megabytes)
    each = {name: n // len(nodes) for name, n in total.items() if n}
    return PlacedJob(nodes, cells.get("Partition", ""), start, math.inf if math.isnan(end) else end, each)


# --- Since when a drained node took no jobs.

EMPTIED = 3  # s: a node is drained so soon after the end of its last job


def with_draining(
    events: Iterable[NodeEvent], runs: Callable[[str], Iterable[tuple[int, int]]]
) -> tuple[NodeEvent, ...]:
    """Return the changes of nodes in which a node that was drained takes no jobs from the last start on it.

    Slurm's accounting has the time at which a drained node was empty, not that of the command. A node that was emptied at the
    very time of its event was draining before; it took its last job when the last one started on it.

    Parameters
    ----------
    events : iterable of NodeEvent
        The recorded changes.
    runs : callable
        Returns what ran on a node: starts and ends in s, on the clock of the events.

    Examples
    --------
    >>> with_draining([NodeEvent(90, "node-drain", ["n1"])], lambda node: [(10, 90), (20, 30)])
    (NodeEvent(time=21, kind='node-drain', nodes=('n1',)),)
    """
    moved: list[NodeEvent] = []
    for event in events:
        state = event.effect.state
        if state is None or state.starts or not state.runs or EVERY in event.nodes:
            moved.append(event)
            continue
        since: dict[int, list[str]] = {}
        for node in event.nodes:
            before = [(start, end) for start, end in runs(node) if start < event.time]
            time = event.time
            if any(abs(end - time) <= EMPTIED for _, end in before):
                time = min(time, 1 + max(start for start, _ in before))
            since.setdefault(time, []).append(node)
        moved.extend(replace(event, time=time, nodes=tuple(nodes)) for time, nodes in since.items())
    return tuple(sorted(moved, key=lambda event: event.time))  # those of one time stay in order


def runs_on(workload: Workload, node: str) -> Iterator[tuple[int, int]]:
    """Yield when jobs of a log ran on a node: starts and ends in s."""
    site = workload.site
    if site is None or workload.recorded_start is None:
        return
    texts = [k for k, text in enumerate(site.texts) if node in _nodes_in(text)]
    started = np.isin(site.nodes, texts) & (workload.recorded_start >= 0)
    for row in np.flatnonzero(started).tolist():
        start = int(workload.recorded_start[row])
        yield start, start + int(workload.runtime[row])
    for attempts in site.attempts.values():
        yield from ((each.start, each.end) for each in attempts if each.start >= 0 and node in _nodes_in(each.nodes))
