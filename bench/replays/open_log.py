"""A log as the settings of a replay describe it: how it is read, which of its jobs are taken, and on which machine.

The same for ``bench show``, ``import``, ``simulate`` and ``dardis``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from ...instances import UnknownInstance, names
from ...instances.formats.eurora import BATCHES, batch_of, eurora_platform, on_recorded_nodes, recorded_nodes
from ...instances.log_preparation import QUEUE, latest_start_rule, partition_names, with_partition_limits
from ...instances.logged import SEVERAL_NODES, SEVERAL_NODES_UNTOLD, Trace
from ...instances.sites.of_log import shows_nodes, site_of_trace, without_nodes
from ...instances.traces import open_trace, read_trace
from ...instances.workload import Workload
from ...models.platform import Platform
from ...models.site import Site
from ...models.words import how_many
from ..errors import WrongUse
from ..missing_files import check_file, near_files
from .settings import ReplaySettings


class OpenedLog(NamedTuple):
    """A log: as it was read, its jobs or some of them, the machine, and the site that it is of; None: without partitions."""

    trace: Trace
    workload: Workload
    platform: Platform
    site: Site | None = None


def open_log(path: str | Path, replay: ReplaySettings, first: int | None = None, site: Site | None = None) -> OpenedLog:
    """Read a log and prepare it for its machine.

    Parameters
    ----------
    path
        The file.
    replay
        Settings of a replay, of which those of logs count, and the offered load.
    first
        Number of jobs, the first by submit time; None: all.
    site
        The machine with its partitions. None: that of the settings or, if they have none, that of the nodes of the jobs.

    Raises
    ------
    WorkloadError, WrongUse
        The log or a setting has faults; the message says which.
    """
    if replay.batch is not None:
        trace = read_trace(path, "eurora")
        workload, platform = eurora_batch(trace, path, replay.batch)
        return OpenedLog(trace, workload if first is None else workload.first(first), platform)
    trace = read_log(path, replay)
    machine: dict[str, Any] = {
        "nodes": replay.nodes,
        "cores": replay.cores,
        "memory": replay.memory,
        "others": resources_per_node(replay.per_node),
    }
    shown = site is None and _is_without_machine(trace, replay)
    if shown:
        site = site_of_trace(trace)
    if site is not None:
        machine = _largest(site.platform())
        trace = with_partition_limits(trace, time_limits(site))
    workload, platform = open_trace(
        trace,
        **machine,
        window=replay.window,
        load=replay.load,
        first=first,
        busy=replay.busy,
        queue_from=replay.queue_from or QUEUE,
        partitions=partition_names(replay.partition),
        dependencies=bool(replay.dependencies),
        cancelled=bool(replay.cancelled),
        latest_start=None if replay.latest_start is None else latest_start_rule(replay.latest_start),
    )
    if site is not None:
        from ...simulation.features.site_fit import fitted  # numba: half of the start of the command line
        from ...simulation.features.site_limits import on_site

        if shown:
            workload = without_features(workload)
        workload = fitted(workload, site, replay.on_unknown or "keep")
        workload, platform = on_site(workload, site)
        workload = on_nodes_asked_for(workload).noted(*notes_on_times(trace, site))
        if shown:
            workload = workload.noted(*notes_on_shown(trace, site))
    return OpenedLog(trace, workload, platform, site)


def time_limits(site: Site) -> dict[str, float]:
    """Return the time limit in s of jobs that ask for none, by partition; without those that have no limit.

    >>> from schedlab.models.site import Partition
    >>> time_limits(Site("s", partitions=[Partition("a", max_time=60), Partition("b", max_time=60, default_time=9), Partition("c")]))
    {'a': 60.0, 'b': 9.0}
    """
    usual = {p.name: p.max_time if p.default_time is None else p.default_time for p in site.partitions}
    return {name: float(limit) for name, limit in usual.items() if limit is not None}


def _is_without_machine(trace: Trace, replay: ReplaySettings) -> bool:
    """Return whether nothing but the nodes of the jobs describes the machine of a log."""
    given = (replay.nodes, replay.cores, replay.memory, replay.per_node)
    return not any(given) and trace.platform is None and not trace.sizes and shows_nodes(trace)


def without_features(workload: Workload) -> Workload:
    """Return the jobs without the features that they ask for, which a site that the nodes of jobs show does not have."""
    site = workload.site
    if site is None or not any(request.features for request in site.requests):
        return workload
    asked = np.array([bool(request.features) for request in site.requests], np.bool_)[site.request]
    plain = tuple(replace(request, features="") for request in site.requests)
    note = f"the log does not tell which nodes have the features that {how_many(int(asked.sum()), 'job', ',')} asked for: ignored"
    return replace(workload, site=replace(site, requests=plain)).noted(note)


def notes_on_shown(trace: Trace, site: Site) -> Iterator[str]:
    """Yield notes on a site that the nodes of jobs show: what is taken from them, and what they do not tell."""
    of_partitions = f" in {how_many(len(site.partitions), 'partition')}" if site.partitions else ""
    yield (
        f"the site is that of the log: {how_many(len(site.nodes), 'node', ',')}{of_partitions}, on which its jobs ran; nodes that no "
        "job used, sizes above the largest use, and jobs from before the log are not known"
    )
    without = without_nodes(trace)
    if without:
        yield f"the log does not name the nodes of {how_many(without, 'job', ',')} that ran"


def notes_on_times(trace: Trace, site: Site) -> Iterator[str]:
    """Yield a note if all reservations and outages of a site are outside of the time of a log."""
    from ...simulation.features.site_fit import outside_of_log

    times = np.concatenate([trace.submit, trace.start, trace.start + trace.runtime])
    times = times[np.isfinite(times)]
    if trace.unix_start is not None and times.size:
        begin, end = (trace.unix_start + float(each) for each in (times.min(), times.max()))
        note = outside_of_log(begin, end, site, trace.zone)
        if note is not None:
            yield note


def on_nodes_asked_for(workload: Workload) -> Workload:
    """Return jobs on a site, whose report counts as not obeyed only those that the log does not keep on several nodes."""
    counted = workload.report.not_obeyed.get(SEVERAL_NODES, 0)
    if not counted:
        return workload
    may_share = np.array([term.per_node is None and not term.whole_nodes for term in workload.node_terms], np.bool_)
    rest = int((may_share[workload.node_term] & (workload.units > 1)).sum())
    others = {what: n for what, n in workload.report.not_obeyed.items() if what != SEVERAL_NODES}
    report = replace(workload.report, not_obeyed=others)
    return replace(workload, report=report.and_also(not_obeyed={SEVERAL_NODES_UNTOLD: min(counted, rest)}))


def log_on_site(path: str | Path, replay: ReplaySettings, site: Site) -> Workload:
    """Return the jobs of a log that can be put on the nodes of a site as recorded, with those that were cancelled waiting.

    Raises WorkloadError, WrongUse.
    """
    from ...simulation.features.site_fit import fitted

    trace = read_log(path, replay)
    workload = fitted(trace.with_cancelled().workload, site, replay.on_unknown or "keep", in_place=True)
    report = replace(
        workload.report, not_obeyed={w: n for w, n in workload.report.not_obeyed.items() if w != SEVERAL_NODES}
    )
    return replace(workload, report=report).noted(*notes_on_times(trace, site))


def read_log(path: str | Path, replay: ReplaySettings) -> Trace:
    """Read a log as the settings of a replay say, before any of its jobs are chosen. Raises WorkloadError, WrongUse."""
    return read_trace(
        path,
        replay.format,
        cores=replay.cores,
        memory=replay.memory,
        zone=time_zone(replay.zone),
        columns=column_names(replay.columns),
    )


def _largest(platform: Platform) -> dict[str, Any]:
    """Return as many equal nodes, with the most of each resource, as ``open_trace`` takes them: no job is too large for them."""
    most = [max(amounts) for amounts in zip(*platform.classes, strict=True)]
    others = dict(zip(platform.resources, most, strict=True))
    return {
        "nodes": len(platform.nodes),
        "cores": others.pop("cores"),
        "memory": others.pop("memory", None),
        "others": others,
    }


def eurora_batch(trace: Trace, file: str | Path, number: int) -> tuple[Workload, Platform]:
    """Return the jobs of a batch of [Bridi2018, 3.4], with the running jobs on their recorded nodes, and the machine.

    Parameters
    ----------
    trace
        The log of Eurora.
    file
        Its file, which has the recorded nodes.
    number
        1, 2 or 3.

    Returns
    -------
    Workload
        The jobs, in s of the log.
    Platform
        Eurora.
    """
    from ...heuristics.kernels.events.machine import on_nodes  # numba: half of the start of the command line

    batch = BATCHES[number]
    platform = eurora_platform()
    workload = batch_of(trace, number).on(platform)
    recorded = on_recorded_nodes(workload.running, recorded_nodes(file), platform)
    placed = on_nodes(recorded, platform, best=True)
    kept = sum(bool(r.nodes) for r in recorded)
    lost = len(workload.running) - len(placed)
    workload = replace(workload, running=tuple(placed)).noted(
        f"near to BATCH{number} of T. Bridi's thesis (3.4), not equal; jobs that are {batch.which}, window {batch.window}",
        f"the running jobs end as recorded; {kept} are on their recorded nodes, {len(placed) - kept} on others by best "
        f"fit, {lost} without room are left out",
    )
    return workload, platform


def time_zone(text: str | None) -> ZoneInfo | None:
    """Return the time zone of an option; None without a text. Raises WrongUse."""
    if text is None:
        return None
    try:
        return ZoneInfo(text)
    except (ValueError, LookupError, OSError) as e:
        raise WrongUse(f"--zone {text}: unknown time zone; expected a name such as Europe/Rome") from e


def resources_per_node(text: str | None) -> Mapping[str, int]:
    """Return the resources of a text such as ``gpus=2,mics=1``. Raises WrongUse.

    >>> resources_per_node("gpus=2,mics=1")
    {'gpus': 2, 'mics': 1}
    """
    amounts = {}
    for pair in filter(None, (part.strip() for part in (text or "").split(","))):
        name, _, amount = (part.strip() for part in pair.partition("="))
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or not re.fullmatch(r"\d{1,9}", amount, re.ASCII):
            raise WrongUse(f"--per-node {text}: expected names and whole numbers such as gpus=2,mics=1")
        if name in ("cores", "memory"):
            raise WrongUse(f"--per-node {text}: use the option --{name} for {name}")
        amounts[name] = int(amount)
    return amounts


def column_names(text: str | None) -> tuple[str, ...]:
    """Return the names of columns in a list with commas, as ``sacct --format`` takes them; widths are left out.

    >>> column_names("JobID,Submit%20, Start")
    ('JobID', 'Submit', 'Start')
    """
    return tuple(name.strip().partition("%")[0] for name in (text or "").split(",") if name.strip())


def check_there(path: str) -> None:
    """Raise WrongUse or UnknownInstance if there is neither a file, nor a folder, nor a shipped instance of this name."""
    named = Path(path)
    if path in names():
        return
    unknown = UnknownInstance(path)
    if named.suffix or len(named.parts) > 1 or (near_files(named) and not unknown.near):
        check_file(named)
    elif not named.exists():
        raise unknown
