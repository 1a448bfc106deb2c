"""A site as the machine of a replay: its platform, the nodes of its partitions, and the limits of its associations and QOS.

It knows no dispatcher. ``on_site`` gives each job the nodes of its partition, and leaves out those that the site never lets
start; ``site_limits`` gives the limits on running jobs.

Which limit holds is decided as in Slurm: for each kind of limit, the QOS of the partition before that of the job (the other
way round with the flag OverPartQOS), and either before those of the associations; of the associations, those of the user, its
account and all accounts above hold together. A job counts in all of them, also where another limit takes the place of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ...errors import WrongValue
from ...instances.files.reading import WorkloadError
from ...instances.formats.slurm_values import hosts_of
from ...instances.logged import IN_QUEUE, note_of_queue
from ...instances.site_columns import SiteColumns
from ...instances.sites.of_log import runs_on, with_draining
from ...instances.workload import NodeTerms, Workload
from ...models import NodeEvent, Platform, Queue
from ...models.array_types import Bools, Floats, Ints
from ...models.dispatch.arrays import NodeSets, alternative_features, read_features
from ...models.dispatch.jobs import SiteRequest
from ...models.platform import ProblemError
from ...models.site import (
    GPUS,
    ROOT,
    Association,
    Limits,
    NamedLimit,
    Partition,
    PBSSettings,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteReservation,
)
from ...models.words import excerpt, hint, how_many
from ..metrics import cpus_asked
from ..slurm.jobs import may_be_divided, memory_of_cpu
from .limits import LimitsOf, Minutes, RunningLimit

# --- The jobs of a log on the nodes of a site.


class NoJobStarts(WorkloadError):
    """The site lets no job of a log start."""


class SiteReplay(NamedTuple):
    """What a site makes of a log: its machine, and the jobs that it lets start, on the nodes of their partitions."""

    workload: Workload
    platform: Platform


def on_site(workload: Workload, site: Site) -> SiteReplay:
    """Return the machine of a site, and the jobs on the nodes that their partitions have.

    Jobs ask for features, whole nodes, distinct nodes, excluded nodes and licences as their log says (``Workload.site``),
    unless they have such terms already. Jobs in partitions that the site does not have, and jobs beyond a limit of one job
    (MaxTime, MaxNodes, MaxWall, MaxTRESPerJob, a list of those who may use a partition), are left out; the report has them.

    Parameters
    ----------
    workload : Workload
        The jobs.
    site : Site
        The site.

    Raises
    ------
    WorkloadError
        If no job is left.
    """
    platform = site.platform()
    jobs, gone = _in_partitions(with_one_set_of_features(workload, site), site, platform)
    jobs = _as_wide_as_needed(jobs, site)
    jobs = _with_gpu_types(jobs, site, platform)
    jobs = _with_terms(jobs, site, platform)
    jobs = jobs.on(platform)
    gone_by_limit = never_started(jobs, site, platform)
    if gone_by_limit:
        gone = {**gone, **gone_by_limit}
        jobs = _without(jobs, gone_by_limit)
    return SiteReplay(jobs.noted(*not_obeyed(site)), platform)


def node_events_of(site: Site, workload: Workload, platform: Platform) -> tuple[NodeEvent, ...]:
    """Return the changes of the states of nodes in the description of a site, on the nodes that its machine has.

    Nodes that were drained take no jobs from the time on at which they took none in the log (``with_draining``).
    """
    events = []
    for event in site.events:
        names = tuple(name for name in event.nodes if name == "*" or name in platform.capacity)
        if names:
            events.append(replace(event, nodes=names))
    return with_draining(events, lambda node: runs_on(workload, node))


def with_one_set_of_features(workload: Workload, site: Site) -> Workload:
    """Return jobs of which those that ask for nodes from one of several sets of features (``[a|b]``) ask for one of the sets.

    Slurm chooses the set when the job starts. Here a job has the set on which it was recorded, one that was not has those of
    which some nodes of its partitions are in turn. A job on a single node may use the nodes of all sets.

    Parameters
    ----------
    workload : Workload
        The jobs.
    site : Site
        The site.
    """
    w = workload
    if w.site is None or not any("[" in request.features for request in w.site.requests):
        return w
    choices = [alternative_features(request.features) for request in w.site.requests]
    several = np.array([len(each) > 1 for each in choices], np.bool_)[w.site.request]
    requests = dict.fromkeys(w.site.requests)
    number = {request: k for k, request in enumerate(requests)}
    index = w.site.request.copy()
    turn: Counter[int] = Counter()
    features = {node.name: node.features for node in site.nodes}
    partitions = partitions_of_jobs(w, site)
    given = 0
    for row in np.flatnonzero(several).tolist():
        kind = int(w.site.request[row])
        names = choices[kind]
        if int(w.units[row]) > 1 or row in w.chunks:
            there = [n for p in _partitions(site, partitions[row]) for n in p.nodes] or list(features)
            names = _sets_of(names, hosts_in(w.site.recorded(row).nodes), there, features)
            names = (names[turn[kind] % len(names)],)
            turn[kind] += 1
            given += 1
        made = replace(
            w.site.requests[kind], features="|".join(f"({name})" for name in names) if len(names) > 1 else names[0]
        )
        index[row] = number.setdefault(made, len(number))
    notes = (
        f"{how_many(given, 'job', ',', verb='ask')} for several nodes with the same one of some features ([a|b]), which Slurm chooses at the "
        "start: each has those of its recorded nodes, else they are given in turn",
    )
    columns = replace(w.site, requests=tuple(number), request=index)
    return replace(w, site=columns.keep(np.arange(len(w)))).noted(*notes[: bool(given)])


def _sets_of(
    choices: Sequence[str], ran_on: Sequence[str], there: Sequence[str], features: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return the sets of features that all recorded nodes of a job have; else those of some nodes of its partitions; else all."""
    ran = [features[name] for name in ran_on if name in features]
    known = [(choice, read_features(choice)) for choice in choices if _is_read(choice)]
    recorded = [choice for choice, expression in known if ran and all(expression.holds(has) for has in ran)]
    if recorded:
        return (recorded[0],)
    may = [choice for choice, expression in known if any(expression.holds(features.get(name, ())) for name in there)]
    return tuple(may or choices)


def hosts_in(text: str) -> Sequence[str]:
    """Return the nodes of a list in Slurm's notation; none for texts that are none."""
    try:
        if text:
            return hosts_of(text)
        return ()
    except WrongValue:
        return ()


def _is_read(features: str) -> bool:
    """Return whether an expression of features is one that is understood."""
    try:
        read_features(features)
    except ProblemError:
        return False
    return True


def _without(workload: Workload, why: Mapping[int, str]) -> Workload:
    """Return a workload without some rows, each of which is listed in its report with the reason."""
    kept = np.ones(len(workload), np.bool_)
    kept[list(why)] = False
    dropped = [(workload.ids[row], f"never starts: {text}") for row, text in sorted(why.items())]
    if not kept.any():
        raise NoJobStarts(f"{workload.name}: the site lets no job start; the first one {dropped[0][1]}")
    report = workload.report.and_also({"never started by the site, left out": len(dropped)}, dropped)
    if workload.site is not None:
        waited = int((workload.site.of_queue & (workload.recorded_start < 0) & kept).sum())
        notes = (note_of_queue(waited) if note.endswith(IN_QUEUE) else note for note in report.notes)
        report = replace(report, notes=tuple(notes))
    return workload.keep(kept, report)


def _in_partitions(workload: Workload, site: Site, platform: Platform) -> tuple[Workload, Mapping[int, str]]:
    """Return the jobs with a queue for each partition, which has its nodes; those in unknown partitions are left out."""
    w = workload
    known = {p.name: p for p in site.partitions}
    names = partitions_of_jobs(w, site)
    gone = {
        row: f"the site has no partition {next(n for n in each if n not in known)!r}"
        for row, each in enumerate(names)
        if any(n not in known for n in each)
    }
    if gone:
        w = _without(w, gone)
        names = [each for row, each in enumerate(names) if row not in gone]
    keys = list(dict.fromkeys(zip(w.queue.tolist(), names, strict=True)))
    of_queue = Counter(queue for queue, _ in keys)
    queues: list[Queue] = []
    for queue, each in keys:
        old = w.queues[queue]
        nodes = dict.fromkeys(n for name in each for n in known[name].nodes if n in platform.capacity)
        if of_queue[queue] == 1:
            label = old.name
        else:
            label = f"{old.name} in {','.join(each)}"
        queues.append(replace(old, name=label, nodes=() if len(nodes) == len(platform.nodes) else tuple(nodes)))
    number = {key: k for k, key in enumerate(keys)}
    index = np.array([number[key] for key in zip(w.queue.tolist(), names, strict=True)], np.int64)
    return replace(w, queue=index, queues=tuple(queues)), gone


def _as_wide_as_needed(workload: Workload, site: Site) -> Workload:
    """Return jobs of which those that never ran are on as many nodes as they need, where a site of Slurm would choose the number.

    The log does not tell on how many nodes such a job would have been. Where a unit of it has more CPUs, with their memory,
    than any node of its partitions, it is divided into as few equal units as these nodes hold.
    """
    w = workload
    settings = site.scheduler
    if w.site is None or "cores" not in w.resources or not isinstance(settings, SchedulerSettings):
        return w
    nodes = {n.name: n for n in site.nodes}
    cores = w.resources.index("cores")
    memory = -1
    if "memory" in w.resources:
        memory = w.resources.index("memory")
    units, request = w.units.copy(), w.request.copy()
    known: dict[tuple[int, int], tuple[int, int, int]] = {}
    for row in np.flatnonzero(w.site.of_queue).tolist():
        key = (int(w.site.request[row]), int(w.queue[row]))
        if key not in known:
            there = [nodes[name] for name in w.queues[key[1]].nodes] or list(nodes.values())
            known[key] = _widest(w.site.requests[key[0]], there, site, settings)
        cpus, most, of_cpu = known[key]
        if most and request[row, cores] > most and row not in w.chunks:
            units[row] = -(-cpus // most)
            request[row, cores] = -(-cpus // units[row])
            if memory >= 0:
                request[row, memory] = request[row, cores] * of_cpu
    return replace(w, units=units, request=request)


def _widest(
    asked: SiteRequest, nodes: Iterable[SiteNode], site: Site, settings: SchedulerSettings
) -> tuple[int, int, int]:
    """Return the CPUs of a job that Slurm may divide, the most of them on a node, and the MB of each; 0 if it may not."""
    of_cpu = memory_of_cpu(asked, site, settings)
    cpus = cpus_asked(asked)
    if of_cpu is None or asked.max_nodes is not None or not cpus or not may_be_divided(asked):
        return cpus, 0, 0
    task = asked.cpus_per_task or 1
    room = [n.cpus if not of_cpu or n.memory is None else min(n.cpus, n.memory // of_cpu) for n in nodes]
    return cpus, max(room, default=0) // task * task, of_cpu


TYPED = f"{GPUS} "  # begin of the name of the GPUs of a type


def _with_gpu_types(workload: Workload, site: Site, platform: Platform) -> Workload:
    """Return jobs that ask for the GPUs of a type, where they asked for it or their partition has no others.

    A log counts the GPUs of jobs of all types together. Of a job that asked for no type, on nodes with several, nobody knows it.
    """
    w = workload
    types = tuple(name for name in platform.resources if name.startswith(TYPED))
    told = [k for k, name in enumerate(w.resources) if name in types]
    if w.site is None or GPUS not in w.resources or not types or w.request[:, told].any():
        return w
    gpus = w.request[:, w.resources.index(GPUS)]
    nodes = {n.name: n for n in site.nodes}
    only = []
    for queue in w.queues:
        there = [nodes[name].gpus for name in queue.nodes or platform.nodes]
        kinds = {kind for each in there for kind, number in each.items() if number}
        only.append(kinds.pop() if len(kinds) == 1 else "")
    columns = np.zeros((len(w), len(types)), np.int64)
    for row in np.flatnonzero(gpus > 0).tolist():
        request = w.site.requests[int(w.site.request[row])]
        number_of = _gpus_of_unit(request, int(w.units[row]), int(gpus[row])) or {
            only[int(w.queue[row])]: int(gpus[row])
        }
        for kind, number in number_of.items():
            if TYPED + kind in types and row not in w.chunks:
                columns[row, types.index(TYPED + kind)] = number
    others = [k for k in range(len(w.resources)) if k not in told]
    names = (*(w.resources[k] for k in others), *types)
    return replace(w, resources=names, request=np.column_stack([w.request[:, others], columns]))


def _gpus_of_unit(request: SiteRequest, units: int, gpus: int) -> dict[str, int]:
    """Return the GPUs of a unit by the types that a job asked for; empty if it asked for none. ``gpus``: of all types."""
    times = {"node": units, "socket": units, "task": request.tasks or units, "job": 1}
    asked: dict[str, int] = {}
    for each in request.gres:
        if each.name == "gpu" and each.type:
            asked[each.type] = asked.get(each.type, 0) + each.number * times[each.per]
    if len(asked) == 1:
        return dict.fromkeys(asked, gpus)
    return {kind: -(-number // units) for kind, number in asked.items()}


def partitions_of_jobs(workload: Workload, site: Site) -> list[tuple[str, ...]]:
    """Return the partitions of each job: those that it asked for, that of the log, its queue, or that of the site."""
    w = workload
    default = site.default_partition or (site.partitions[0] if len(site.partitions) == 1 else None)
    known = {p.name for p in site.partitions}
    usual = () if default is None else (default.name,)
    of_queue = [(q.name,) if q.name in known else usual for q in w.queues]
    names = [of_queue[q] for q in w.queue.tolist()]
    if w.partitions:
        names = [(w.partitions[p],) if w.partitions[p] else usual for p in w.partition.tolist()]
    if w.site is not None:
        asked = [r.partitions for r in w.site.requests]
        names = [asked[r] or name for r, name in zip(w.site.request.tolist(), names, strict=True)]
    return names


def _with_terms(workload: Workload, site: Site, platform: Platform) -> Workload:
    """Return the jobs with what they asked of their nodes, and what whole nodes of partitions and select/linear ask of all jobs."""
    w = workload
    linear = isinstance(site.scheduler, SchedulerSettings) and site.scheduler.select_type == "linear"
    exclusive = [linear or all(p.exclusive for p in _partitions(site, q)) for q in _names_of_queues(w, site)]
    if w.site is not None:
        asked = w.site.request
        requests = w.site.requests
    else:
        asked = np.zeros(len(w), np.int64)
        requests = (SiteRequest(),)
    columns = np.column_stack([w.node_term, w.queue, asked, w.units])
    distinct, which = np.unique(columns, axis=0, return_inverse=True)
    licences = {x.name for x in site.licences}
    strange: Counter[str] = Counter()
    terms: dict[NodeTerms, int] = {NodeTerms(): 0}
    number = []
    for term, queue, request, units in distinct.tolist():
        made = w.node_terms[term]
        if made == NodeTerms():
            made = _terms_of(requests[request], units, w.queues[queue], platform, licences, strange)
        if exclusive[queue] and not made.whole_nodes:
            made = made._replace(whole_nodes=True)
        number.append(terms.setdefault(made, len(terms)))
    index = np.array(number, np.int64)[which.ravel()]
    for row in w.chunks:  # distinct and whole nodes are for jobs of equal units
        plain = list(terms)[index[row]]._replace(per_node=None, whole_nodes=False)
        index[row] = terms.setdefault(plain, len(terms))
    notes = [f"{what}: {how_many(n, 'kind')} of jobs" for what, n in strange.items()]
    return replace(w, node_term=index, node_terms=tuple(terms)).noted(*notes)


def _terms_of(
    asked: SiteRequest, units: int, queue: Queue, platform: Platform, licences: Iterable[str], strange: Counter[str]
) -> NodeTerms:
    """Return what a request of a log asks of its nodes; what is not understood is counted in ``strange``."""
    features = asked.features
    if features:
        try:
            read_features(features)
        except ProblemError:
            strange[f"features {features!r} are not understood, and left out"] += 1
            features = ""
    nodes: tuple[str, ...] = ()
    if asked.excluded_nodes:
        barred = set(hosts_of(asked.excluded_nodes))
        nodes = tuple(n for n in queue.nodes or platform.nodes if n not in barred)
    if asked.nodes:
        wanted = [n for n in hosts_of(asked.nodes) if n in platform.capacity]
        if asked.max_nodes is not None and len(wanted) >= asked.max_nodes:
            nodes = tuple(wanted)
        else:
            strange[f"nodes {asked.nodes!r} that must be among those of a job are left out"] += 1
    per_node = None
    if asked.min_nodes:
        per_node = -(-units // min(units, asked.min_nodes))
        if per_node >= units:
            per_node = None
    known = set(licences)
    held = {name: n for name, n in licences_in(asked.licences).items() if name in known and n > 0}
    return NodeTerms(nodes, features, per_node, asked.exclusive == "node", tuple(sorted(held.items())))


def licences_in(text: str) -> dict[str, int]:
    """Return the licences of a text of Slurm.

    >>> licences_in("matlab:2,ansys@server")
    {'matlab': 2, 'ansys': 1}
    """
    held: dict[str, int] = {}
    for part in filter(None, text.replace(";", ",").split(",")):
        name, _, number = part.replace("=", ":").partition(":")
        if number.isdigit():
            held[name.partition("@")[0].strip()] = int(number)
        else:
            held[name.partition("@")[0].strip()] = 1
    return held


# --- Who a job belongs to, and what it holds.


class Owner(NamedTuple):
    """What decides which limits are for a job."""

    account: str
    user: str
    qos: str
    partitions: tuple[str, ...]


def owners_of(workload: Workload, site: Site) -> tuple[list[Owner], Ints]:
    """Return the distinct owners of jobs, and the index of that of each job.

    A user whose account is not known has that of its only association, if it has one.
    """
    w = workload
    partitions = _names_of_queues(w, site)
    if w.site is not None:
        asked = w.site.request
        requests = w.site.requests
    else:
        asked = np.zeros(len(w), np.int64)
        requests = (SiteRequest(),)
    columns = np.column_stack([w.user, w.queue, asked])
    distinct, which = np.unique(columns, axis=0, return_inverse=True)
    accounts: dict[str, list[str]] = {}
    for a in site.associations:
        if a.user:
            accounts.setdefault(a.user, []).append(a.account)
    owners: dict[Owner, int] = {}
    number = []
    for user, queue, request in distinct.tolist():
        name = w.users[user]
        account = requests[request].account
        if not account and len(set(accounts.get(name, ()))) == 1:
            account = accounts[name][0]
        qos = requests[request].qos
        if not qos and account:
            given = (one.default_qos for one in site.ancestors(account, name))
            qos = next((one for one in given if one is not None), "")
        owner = Owner(account, name, qos, partitions[queue])
        number.append(owners.setdefault(owner, len(owners)))
    return list(owners), np.array(number, np.int64)[which.ravel()]


def _names_of_queues(workload: Workload, site: Site) -> list[tuple[str, ...]]:
    """Return the partitions of each queue, as its first job has them."""
    names: dict[int, tuple[str, ...]] = {}
    known = {p.name for p in site.partitions}
    each = partitions_of_jobs(workload, site)
    for row, queue in enumerate(workload.queue.tolist()):
        if queue not in names:
            names[queue] = tuple(n for n in each[row] if n in known)
    return [names.get(queue, ()) for queue in range(len(workload.queues))]


def _partitions(site: Site, names: Iterable[str]) -> list[Partition]:
    return [site.partition(name) for name in names]


def tres_of(workload: Workload, platform: Platform) -> dict[str, Ints]:
    """Return what each job holds of each trackable resource, with Slurm's names; shape (jobs,) each.

    The number of nodes is the least on which the job fits. A job with whole nodes holds all that so many nodes have.
    """
    w = workload
    nodes, everything = _least_nodes(w, platform)
    amounts = np.zeros((len(w), len(platform.resources)), np.int64)
    for k, name in enumerate(platform.resources):
        if name in w.resources:
            amounts[:, k] = w.job_arrays.amounts[:, w.resources.index(name)]
    amounts += nodes[:, None] * w.on_each_node(platform.resources)
    whole = np.array([t.whole_nodes for t in w.node_terms], np.bool_)[w.node_term]
    amounts[whole] = np.maximum(amounts[whole], everything[whole])
    column = dict(zip(platform.resources, amounts.T, strict=True))
    if w.site is not None and "cores" in column:
        column["cores"] = _without_rounding(w, w.site, column["cores"], whole)
    held = {"node": nodes, "job": np.ones(len(w), np.int64)}
    held |= {tres: column[name] for tres, name in (("cpu", "cores"), ("mem", "memory")) if name in column}
    held |= {f"gres/{name}": column[name] for name in platform.resources if name not in ("cores", "memory", "gpus")}
    for name, values in column.items():
        if name == "gpus" or name.startswith("gpus "):
            held[f"gres/{name.replace('gpus', 'gpu', 1).replace(' ', ':', 1)}"] = values
    for name in platform.licences:
        per_term = np.array([dict(t.licences).get(name, 0) for t in w.node_terms], np.int64)
        held[f"license/{name}"] = per_term[w.node_term]
    return held


def _without_rounding(workload: Workload, site: SiteColumns, cores: Ints, whole: Bools) -> Ints:
    """Return the CPUs that jobs asked for, where they have more only as their units are equal: 32 CPUs on 3 nodes are 3 x 11."""
    asked = np.array([request.cpus or 0 for request in site.requests], np.int64)[site.request]
    rounded = ~whole & (asked > 0) & (asked < cores) & (cores - asked < workload.units)
    return np.where(rounded, asked, cores)


def _least_nodes(workload: Workload, platform: Platform) -> tuple[Ints, Ints]:
    """Return the least number of nodes of each job, and what these nodes have: those with the most room, the last one as small as can be."""
    w = workload
    arrays = w.job_arrays
    columns = np.column_stack([w.queue, w.node_term, arrays.kind])
    distinct, sample, which = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    sets = NodeSets.of(platform, w.queues, [w.job(k) for k in sample.tolist()])
    vectors = np.array(list(platform.classes), np.int64).reshape(len(platform.classes), -1)
    of_node = {name: c for c, names in enumerate(platform.classes.values()) for name in names}
    class_of = np.array([of_node[name] for name in platform.nodes], np.int64)
    in_class = np.stack([np.bincount(class_of[mask], minlength=len(vectors)) for mask in sets.sets])
    nodes = np.zeros(len(w), np.int64)
    held = np.zeros((len(w), vectors.shape[1]), np.int64)
    order = [w.resources.index(r) if r in w.resources else -1 for r in platform.resources]
    jobs_of = np.split(np.argsort(which.ravel(), kind="stable"), np.cumsum(np.bincount(which.ravel()))[:-1])
    for k, (_, term, kind) in enumerate(distinct.tolist()):
        request = [0 if at < 0 else int(arrays.requests[kind, at]) for at in order]
        each = [dict(w.node_terms[term].each_node).get(name, 0) for name in platform.resources]
        most = w.node_terms[term].per_node
        fits = np.array([platform.units_on(v, request) for v in (vectors - each).tolist()], np.int64)
        if most is not None:
            fits = np.minimum(fits, most)
        numbers = in_class[sets.number[k]]
        rows = jobs_of[k]
        nodes[rows], held[rows] = _filled(arrays.units[rows], fits, numbers, vectors)
    if arrays.further is not None:
        nodes = np.maximum(nodes, 1)
    return nodes, held


def _filled(units: Ints, fits: Ints, numbers: Ints, vectors: Ints) -> tuple[Ints, Ints]:
    """Return on how many nodes jobs of so many units are at least, and what these have, shapes (jobs,) and (jobs, resources).

    ``fits``: units on a node of each class; ``numbers``, ``vectors``: how many nodes of the class there are, and what one has.
    Jobs that need more nodes than there are need more of the last class.

    >>> _filled(np.array([1, 3, 5]), np.array([1, 2]), np.array([9, 1]), np.array([[4], [8]]))[0].tolist()
    [1, 2, 4]
    """
    usable = np.flatnonzero((fits > 0) & (numbers > 0))
    if not usable.size:
        return units.copy(), units[:, None] * vectors[:1]
    order = usable[np.lexsort((vectors[usable].sum(axis=1), -fits[usable]))]
    room = np.cumsum(fits[order] * numbers[order])
    last = np.minimum(np.searchsorted(room, units), order.size - 1)
    before = np.concatenate([[0], room[:-1]])[last]
    whole = np.concatenate([[0], np.cumsum(numbers[order])[:-1]])[last]
    had = np.vstack([np.zeros_like(vectors[:1]), np.cumsum(vectors[order] * numbers[order, None], axis=0)[:-1]])[last]
    further = -(-(units - before) // fits[order][last])
    left = units - before - (further - 1) * fits[order][last]
    held = had + (further - 1)[:, None] * vectors[order[last]]
    smallest = order[last]  # of the nodes that hold what is left
    for place, each in enumerate(order.tolist()):
        smaller = (place >= last) & (fits[each] >= left) & (vectors[each].sum() < vectors[smallest].sum(axis=1))
        smallest = np.where(smaller, each, smallest)
    return whole + further, held + vectors[smallest]


# --- The limits of a site.

JOBS, TRES = "job", ""  # what a limit counts: jobs, or the resource that it names
SERVER = "the server"
TRES_OF_PBS = {"ncpus": "cpu", "mem": "mem", "ngpus": "gres/gpu", "nodect": "node"}
OBEYED = frozenset({
    "grp_tres", "grp_jobs", "max_jobs", "max_tres_per_job", "max_wall", "max_jobs_per_user", "max_tres_per_user",
    "max_jobs_per_account", "max_tres_per_account", "grp_tres_mins", "grp_tres_run_mins", "grp_wall", "max_tres_mins",
    "min_tres",
})  # fmt: skip
OF_QOS_AT_SUBMIT: tuple[str, ...] = ("grp_submit", "max_submit_per_user", "max_submit_per_account")
OF_ACCOUNTS_AT_SUBMIT: tuple[str, ...] = ("grp_submit", "max_submit")
SPELLED = {
    "grp_submit": "GrpSubmitJobs", "max_submit": "MaxSubmitJobs", "max_submit_per_user": "MaxSubmitJobsPerUser",
    "max_submit_per_account": "MaxSubmitJobsPerAccount", "max_tres_per_node": "MaxTRESPerNode",
}  # fmt: skip
AT_SUBMIT = "beyond single arrays: the jobs of a log were accepted"
GRP_MINUTES = ("grp_tres_mins", "grp_tres_run_mins", "grp_wall")
OF_USAGE = ("grp_tres_mins", "grp_wall")  # of past jobs, too
OF_GROUPS = ("grp_jobs", "grp_tres", *GRP_MINUTES)


@dataclass
class _Table:
    """The limits that were found: for each, its greatest amount, what it counts, and the owners whose jobs it counts.

    ``checked``: whether each of these owners' jobs must have room to start; those of the others have another limit instead.
    """

    most: dict[tuple[str, ...], int] = field(default_factory=dict)
    counts: dict[tuple[str, ...], str] = field(default_factory=dict)
    owners: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    checked: dict[tuple[str, ...], list[bool]] = field(default_factory=dict)
    minutes: dict[tuple[str, ...], _MinuteRule] = field(default_factory=dict)

    def add(
        self,
        owner: int,
        name: tuple[str, ...],
        most: int,
        counts: str,
        minutes: _MinuteRule | None = None,
        checked: bool = True,
    ) -> None:
        """Note that a limit counts the jobs of an owner, and whether it is for them (``checked``)."""
        self.most[name], self.counts[name] = most, counts
        self.owners.setdefault(name, []).append(owner)
        self.checked.setdefault(name, []).append(checked)
        if minutes is not None:
            self.minutes[name] = minutes


class _MinuteRule(NamedTuple):
    """A limit in minutes: its kind, and whether its usage decays."""

    kind: str
    decays: bool


def enforces_limits(site: Site) -> bool:
    """Return whether the limits of associations and QOS are obeyed: of Slurm, as AccountingStorageEnforce says."""
    return isinstance(site.scheduler, PBSSettings) or site.scheduler.enforces_limits


def limits_of_site(site: Site) -> LimitsOf:
    """Return the function that gives the limits of a site on the running jobs of a workload.

    Parameters
    ----------
    site : Site
        The site. Limits of running jobs, TRES and minutes are those of groups, of users and of accounts, of QOS and
        associations.

    Examples
    --------
    >>> from schedlab.models.site import QOS, Limits, Partition, SchedulerSettings, SiteNode
    >>> site = Site("s", [SiteNode("n1", 4)], [Partition("p", ("n1",), qos="two")], [QOS("two", limits=Limits(max_jobs_per_user=2))],
    ...             scheduler=SchedulerSettings(accounting_enforce=("limits",)))
    >>> from schedlab.models import Dispatch, Job
    >>> jobs = [Job(f"j{k}", 0, 60, 1, {"cores": 1}, "p", runtime=60, user="ana") for k in range(3)]
    >>> made = on_site(Workload.of(Dispatch(site.platform(), jobs, [Queue("p", 60)])), site)
    >>> [(x.name, x.most, x.rows.tolist()) for x in limits_of_site(site)(*made)]
    [('max_jobs_per_user of QOS two, user ana', 2, [0, 1, 2])]
    """

    def limits_of(workload: Workload, platform: Platform) -> Sequence[RunningLimit]:
        if not enforces_limits(site):
            return ()
        owners, which = owners_of(workload, site)
        table = _Table()
        rules = _Rules(site)
        for k, owner in enumerate(owners):
            _add_limits(table, k, owner, rules)
        held = tres_of(workload, platform)
        order = np.argsort(which, kind="stable")
        first = np.searchsorted(which[order], np.arange(len(owners) + 1))
        limits = []
        for name, most in table.most.items():
            counted = table.counts[name]
            if counted not in held or not any(table.checked[name]):
                continue
            rows = np.concatenate([order[first[k] : first[k + 1]] for k in table.owners[name]])
            count = [first[k + 1] - first[k] for k in table.owners[name]]
            in_order = np.argsort(rows)
            checked = np.repeat(table.checked[name], count)[in_order]
            rows = rows[in_order]
            amounts = held[counted][rows]
            some = amounts > 0
            label = ", ".join(name)
            if name not in table.minutes:
                limits.append(RunningLimit(label, most, rows[some], amounts[some], checked=checked[some]))
                continue
            factors = np.array([rules.factor(owner) for owner in owners])[which[rows[some]]]
            walltime = workload.walltime[rows[some]]
            made = _in_minutes(label, most, rows[some], amounts[some], factors, walltime, table.minutes[name], site)
            limits.append(replace(made, checked=checked[some]))
        return limits

    return limits_of


def _in_minutes(
    name: str, most: int, rows: Ints, amounts: Ints, factors: Floats, walltime: Ints, rule: _MinuteRule, site: Site
) -> RunningLimit:
    """Return a limit in minutes for some jobs; ``amounts``: what each has, ``factors``: the usage factors of their QOS."""
    settings = site.scheduler
    assert isinstance(settings, SchedulerSettings)
    safe = rule.kind == "grp_tres_mins" and "safe" in settings.accounting_enforce
    counts: Floats = amounts * (np.ones_like(factors) if rule.kind == "grp_wall" else factors)
    minutes = Minutes(
        rates=counts,
        used=counts if rule.kind in OF_USAGE else np.zeros_like(counts),
        plans=safe or rule.kind == "grp_tres_run_mins",
        half_life=settings.decay_half_life if rule.decays else 0,
        period=max(1, settings.calc_period),
    )
    if minutes.plans:
        taken = np.ceil(counts * walltime).astype(np.int64)
    else:
        taken = np.ones(len(rows), np.int64)
    return RunningLimit(f"{name}, in seconds", most, rows, taken, minutes)


def _add_limits(table: _Table, k: int, owner: Owner, rules: _Rules) -> None:
    """Add the limits on running jobs that count the jobs of an owner; those that others take the place of check none of them."""
    taken: set[tuple[str, str]] = set()
    _add_named(table, k, owner, rules)
    for label, limits in rules.of_qos(owner):
        fresh: set[tuple[str, str]] = set()
        if rules.named is not None:  # of PBS, those of the queue and of the server hold together
            taken = {(kind, counted) for queue, kind, counted in _named_of(owner, rules) if _label(queue) == label}
        for kind, counted, most in rules.running(label, limits):
            key = "max_jobs_per_user"
            if kind != "max_jobs":
                key = kind
            replaced = (key, counted) in taken
            if replaced and rules.named is not None:
                continue
            fresh.add((key, counted))
            whose = []
            if key.endswith("per_user"):
                whose = [f"user {owner.user}"]
            if key.endswith("per_account"):
                whose += [f"account {owner.account}"]
            name = (f"{_shown(kind, counted)} of {label}", *whose)
            rule = None
            if kind in GRP_MINUTES:
                rule = _MinuteRule(kind, label not in rules.without_decay)
            table.add(k, name, most, counted, rule, not replaced)
        taken |= fresh
    for one in rules.line(owner):
        for kind, counted, most in rules.running(one.label, one.limits):
            if kind in OF_USAGE and one.account == ROOT and not one.user:  # Slurm does not enforce them there
                continue
            if kind in OF_GROUPS:
                rule = None
                if kind in GRP_MINUTES:
                    rule = _MinuteRule(kind, True)
                name = (f"{_shown(kind, counted)} of {one.label}",)
                table.add(k, name, most, counted, rule, (kind, counted) not in taken)
    per_user = next((one.limits.max_jobs for one in rules.line(owner) if one.limits.max_jobs is not None), None)
    if per_user is not None:
        free = taken.isdisjoint({("max_jobs_per_user", JOBS), ("max_jobs_per_account", JOBS)})
        table.add(k, (f"max_jobs of account {owner.account}", f"user {owner.user}"), per_user, JOBS, checked=free)


def _label(queue: str) -> str:
    if queue:
        return f"QOS {queue}"
    return SERVER


def _named_of(owner: Owner, rules: _Rules) -> dict[tuple[str, str, str], NamedLimit]:
    """Return the limits of PBS that name the user or the project of an owner, by queue, kind and what they count."""
    found: dict[tuple[str, str, str], NamedLimit] = {}
    whose = {"u": owner.user, "p": owner.account}
    for limit in rules.named or ():
        if limit.name == whose[limit.kind] and (not limit.queue or limit.queue in owner.partitions):
            per = "per_account"
            if limit.kind == "u":
                per = "per_user"
            what = "tres"
            if not limit.counts:
                what = "jobs"
            if limit.counts:
                counted = TRES_OF_PBS.get(limit.counts, f"gres/{limit.counts}")
            else:
                counted = JOBS
            found[limit.queue, f"max_{what}_{per}", counted] = limit
    return found


def _add_named(table: _Table, k: int, owner: Owner, rules: _Rules) -> None:
    """Add the limits of PBS that name the user or the project of an owner."""
    for (queue, _, counted), limit in _named_of(owner, rules).items():
        what = "max_run"
        if limit.counts:
            what = f"max_run_res.{limit.counts}"
        of = "the server"
        if queue:
            of = f"queue {queue}"
        whose = f"{'user' if limit.kind == 'u' else 'project'} {limit.name}"
        table.add(k, (f"{what} of {of}", whose), limit.most, counted)


def _shown(kind: str, counted: str) -> str:
    if counted == JOBS:
        return kind
    return f"{kind} {counted}"


class _Rules:
    """The QOS and associations of a site, of which each is read once.

    Parameters
    ----------
    site : Site
        The site.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self._qos = {q.name: q for q in site.qos}
        self._of_partitions = any(a.partition for a in site.associations)
        self._lines: dict[tuple[str, str, str], tuple[Association, ...]] = {}
        self._running: dict[str, list[tuple[str, str, int]]] = {}
        self.without_decay = {f"QOS {q.name}" for q in site.qos if "nodecay" in q.flags}
        if not isinstance(site.scheduler, PBSSettings):
            self.named = None
        else:
            self.named = site.scheduler.named
        self._counts_usage = isinstance(site.scheduler, SchedulerSettings) and counts_usage(site.scheduler)

    def running(self, label: str, limits: Limits) -> list[tuple[str, str, int]]:
        """Return the kind of each limit on running jobs, what it counts, and its amount; ``label``: whose they are."""
        if label not in self._running:
            every = _running(limits)
            self._running[label] = [x for x in every if self._counts_usage or x[0] not in OF_USAGE]
        return self._running[label]

    def factor(self, owner: Owner) -> float:
        """Return the usage factor of the QOS of an owner."""
        if owner.qos in self._qos:
            return self._qos[owner.qos].usage_factor
        return 1.0

    def line(self, owner: Owner) -> tuple[Association, ...]:
        """Return the associations of an owner, from the user to the root."""
        if not owner.account:
            return ()
        partition = ""
        if self._of_partitions and len(owner.partitions) == 1:
            partition = owner.partitions[0]
        key = (owner.account, owner.user, partition)
        if key not in self._lines:
            self._lines[key] = self.site.ancestors(*key)
        return self._lines[key]

    def of_qos(self, owner: Owner) -> list[tuple[str, Limits]]:
        """Return the limits of the QOS of an owner, those that go first first; of PBS, those of the server."""
        scheduler = self.site.scheduler
        server = []
        if isinstance(scheduler, PBSSettings):
            server = [(SERVER, scheduler.limits)]
        names = [self.site.partition(name).qos or "" for name in owner.partitions]
        own = self._qos.get(owner.qos)
        listed = [*names, owner.qos]
        if own is not None and "overpartqos" in own.flags:
            listed.reverse()
        known = (name for name in dict.fromkeys(listed) if name in self._qos)
        return [*((f"QOS {name}", self._qos[name].limits) for name in known), *server]


def counts_usage(settings: SchedulerSettings) -> bool:
    """Return whether limits of past usage are enforced: Slurm has usage in its multifactor plug-in alone."""
    return settings.priority_type == "multifactor"


def _running(limits: Limits) -> Iterator[tuple[str, str, int]]:
    """Yield the kind of each limit on running jobs, what it counts, and its amount; minutes in s."""
    for name, value in limits.given():
        if name in ("grp_jobs", "max_jobs", "max_jobs_per_user", "max_jobs_per_account") and isinstance(value, int):
            yield name, JOBS, value
        elif name in ("grp_tres", "max_tres_per_user", "max_tres_per_account") and isinstance(value, Mapping):
            for tres, most in value.items():
                yield name, tres, most
        elif name == "grp_wall" and isinstance(value, int):
            yield name, JOBS, value
        elif name in GRP_MINUTES and isinstance(value, Mapping):
            for tres, most in value.items():
                yield name, tres, most * 60


# --- Jobs that the site never lets start.


def never_started(workload: Workload, site: Site, platform: Platform) -> Mapping[int, str]:
    """Return the rows of the jobs that a limit of one job keeps from every start, each with the reason."""
    w = workload
    owners, which = owners_of(w, site)
    rules = _Rules(site)
    held = tres_of(w, platform)
    at_once = submitted_together(w)
    why = {**dict(_without_gpus(w, site)), **dict(_refused_by_reservations(w, site, owners, which))}

    def note(rows: Ints, text: str) -> None:
        for row in rows.tolist():
            why.setdefault(row, text)

    order = np.argsort(which, kind="stable")
    first = np.searchsorted(which[order], np.arange(len(owners) + 1))
    for k, owner in enumerate(owners):
        rows = order[first[k] : first[k + 1]]
        refused = [p.allows(owner.account, owner.qos) for p in _partitions(site, owner.partitions)]
        if refused and all(refused):
            note(rows, f"{refused[0]} in partition {owner.partitions[0]!r}")
        for label, most, amounts in _of_one_job(owner, rules, w, held):
            note(rows[amounts[rows] > most], f"{label} is {most:,}, and it asks for more")
        for label, most, amounts in _of_submission(owner, rules, at_once):
            note(rows[amounts[rows] > most], f"{label} is {most:,}, and it asks for more")
        for label, least, amounts in _too_small(owner, rules, held):
            note(rows[amounts[rows] < least], f"{label} is {least:,}, and it asks for less")
    if enforces_limits(site):
        for limit in limits_of_site(site)(w, platform):
            note(limit.never(), f"the limit {limit.name} is {limit.most:,}, and it asks for more")
    return why


def _without_gpus(workload: Workload, site: Site) -> Iterator[tuple[int, str]]:
    """Yield the row of each job that asks for GPUs of a type that no node of the site has, and the reason.

    Where some nodes have GPUs of an untold type, they may be of any.
    """
    types = dict.fromkeys(kind for node in site.nodes for kind, number in node.gpus.items() if number)
    if workload.site is None or not types or "" in types:
        return
    lacking = {
        k: each.type
        for k, request in enumerate(workload.site.requests)
        for each in request.gres
        if each.name == "gpu" and each.type and each.type not in types
    }
    for row in np.flatnonzero(np.isin(workload.site.request, list(lacking))).tolist():
        kind = lacking[int(workload.site.request[row])]
        yield row, f"it asks for GPUs of type {excerpt(kind)}; {hint(kind, list(types), 'the nodes have', both=True)}"


NONE_OF_SITE = "the site has no reservation"
SHOWN_JOBS = 3  # in a note


def names_of_reservations(request: SiteRequest) -> list[str]:
    """Return the reservations that a job asks for, one of which it is to run in.

    >>> names_of_reservations(SiteRequest(reservation="maint1, course"))
    ['maint1', 'course']
    """
    return [name for part in request.reservation.split(",") if (name := part.strip())]


def _refused_by_reservations(
    workload: Workload, site: Site, owners: Sequence[Owner], which: Ints
) -> Iterator[tuple[int, str]]:
    """Yield the row of each job that Slurm refuses for the reservation that it asks for, and the reason."""
    if workload.site is None:
        return
    known = {r.name: r for r in site.reservations}
    asked = {k: names for k, request in enumerate(workload.site.requests) if (names := names_of_reservations(request))}
    for row in np.flatnonzero(np.isin(workload.site.request, list(asked))).tolist():
        for name in asked[int(workload.site.request[row])]:
            reason = f"{NONE_OF_SITE} {name!r}"
            if name in known:
                reason = no_access(known[name], owners[int(which[row])], site)
            if reason:
                yield row, reason
                break


def without_refused(workload: Workload, site: Site) -> Workload:
    """Return a log without jobs that Slurm refuses for their reservations or their GPUs and that never started.

    Those that did start are noted: the site is not that of their time.

    Parameters
    ----------
    workload : Workload
        The log, with the jobs that were cancelled in the queue.
    site : Site
        The site.

    Raises
    ------
    WorkloadError
        If no job is left.
    """
    columns = workload.site
    if columns is None:
        return workload
    started = {row for row, attempts in columns.attempts.items() if any(each.start >= 0 for each in attempts)}
    if workload.recorded_start is not None:
        started |= {*np.flatnonzero(workload.recorded_start >= 0).tolist()}
    owners, which = owners_of(workload, site)
    refusals = (
        ("they start as jobs that may use it", _refused_by_reservations(workload, site, owners, which)),
        ("they start on GPUs of any type", _without_gpus(workload, site)),
    )
    never: dict[int, str] = {}
    allowed: dict[tuple[str, str], list[str]] = {}
    for instead, refused in refusals:
        for row, reason in refused:
            if row not in started:
                never.setdefault(row, reason)
            else:
                allowed.setdefault((reason, instead), []).append(workload.ids[row])
    notes = [
        f"{reason} ({how_many(len(jobs), 'job', ',')}: {', '.join(jobs[:SHOWN_JOBS])}{', ...' * (len(jobs) > SHOWN_JOBS)}), and the log "
        f"has a start of each: {instead}"
        for (reason, instead), jobs in allowed.items()
        if not reason.startswith(NONE_OF_SITE)
    ]
    return (_without(workload, never) if never else workload).noted(*notes)


def no_access(reservation: SiteReservation, owner: Owner, site: Site) -> str:
    """Return why jobs of an owner may not use a reservation; empty if they may.

    As in Slurm, a job must be of one of its users, and in one of its accounts or of those below, where it has users and
    accounts; of those with a ``-`` it must not be. Its groups, whose members a site does not know, are not looked at.

    Examples
    --------
    >>> course = SiteReservation("course", 0, 60, ("n1",), users=("eva", "ben"), accounts=("-guests",))
    >>> no_access(course, Owner("chem", "ana", "", ()), Site("s"))
    "the reservation 'course' is not for user ana"
    >>> no_access(course, Owner("guests", "eva", "", ()), Site("s")), no_access(course, Owner("chem", "eva", "", ()), Site("s"))
    ("the reservation 'course' is not for account guests", '')
    """
    if owner.user == ROOT:
        return ""
    accounts = {owner.account, *(one.account for one in site.ancestors(owner.account, owner.user))}
    checks = (
        ("user", owner.user, {owner.user.lower()}, reservation.users),
        ("account", owner.account, {name.lower() for name in accounts}, reservation.accounts),
    )
    for what, own, names, listed in checks:
        denied = {name[1:].lower() for name in listed if name.startswith("-")}
        allowed = {name.lower() for name in listed if not name.startswith("-")}
        if own and (names & denied or (allowed and not names & allowed)):
            return f"the reservation {reservation.name!r} is not for {what} {own}"
    return ""


def _of_one_job(
    owner: Owner, rules: _Rules, workload: Workload, held: Mapping[str, Ints]
) -> Iterator[tuple[str, int, Ints]]:
    """Yield the limits of each job of an owner: the name, the greatest amount, and the amounts of all rows."""
    site = rules.site
    partitions = _partitions(site, owner.partitions)
    for name, values in (("max_time", workload.walltime), ("max_nodes", _nodes_asked_for(workload, held["node"]))):
        greatest = [getattr(p, name) for p in partitions]
        if greatest and None not in greatest:
            yield f"{name} of partition {owner.partitions[0]!r}", max(greatest), values
    if not enforces_limits(site):
        return
    taken: set[str] = set()
    every = [*rules.of_qos(owner), *((one.label, one.limits) for one in rules.line(owner))]
    for label, limits in every:
        fresh: set[str] = set()
        if limits.max_wall is not None and "max_wall" not in taken:
            fresh.add("max_wall")
            yield f"max_wall of {label}", limits.max_wall, workload.walltime
        for tres, most in limits.max_tres_per_job.items():
            if tres in held and tres not in taken:
                fresh.add(tres)
                yield f"max_tres_per_job {tres} of {label}", most, held[tres]
        for tres, most in limits.max_tres_mins.items():
            if tres in held and f"{tres} minutes" not in taken:
                fresh.add(f"{tres} minutes")
                yield f"max_tres_mins {tres} of {label}, in seconds", most * 60, held[tres] * workload.walltime
        taken |= fresh


def _nodes_asked_for(workload: Workload, fewest: Ints) -> Ints:
    """Return the least number of nodes that each job asks for, which Slurm compares with MaxNodes; else the fewest that it fits on."""
    if workload.site is None:
        return fewest
    asked = np.array([request.min_nodes or 0 for request in workload.site.requests], np.int64)[workload.site.request]
    return np.where(asked > 0, asked, fewest)


def _of_submission(owner: Owner, rules: _Rules, at_once: Ints) -> Iterator[tuple[str, int, Ints]]:
    """Yield the limits on the jobs that an owner may have at all: the name, the limit, and how many are submitted at once.

    A job that is submitted with more tasks than the limit is refused [SlurmDoc, resource_limits], and so is any where it is 0.
    """
    if not enforces_limits(rules.site):
        return
    taken: set[str] = set()
    listed = [(label, limits, OF_QOS_AT_SUBMIT) for label, limits in rules.of_qos(owner)]
    listed += [(one.label, one.limits, OF_ACCOUNTS_AT_SUBMIT) for one in rules.line(owner)]
    for label, limits, names in listed:
        for name in names:
            most = getattr(limits, name)
            key = "max_submit_per_user"
            if name != "max_submit":
                key = name
            if most is None or key in taken:
                continue
            yield f"{name} of {label} (jobs that are submitted together)", most, at_once
            if names is OF_QOS_AT_SUBMIT or name == "max_submit":
                taken.add(key)


def submitted_together(workload: Workload) -> Ints:
    """Return for each job how many jobs were submitted with it: the tasks of its array, else 1; shape (jobs,)."""
    together = np.ones(len(workload), np.int64)
    tasks = Counter(workload.arrays.values())
    for row, array in workload.arrays.items():
        together[row] = tasks[array]
    return together


def _too_small(owner: Owner, rules: _Rules, held: Mapping[str, Ints]) -> Iterator[tuple[str, int, Ints]]:
    """Yield the least amounts of a job of an owner: the name, the least amount, and the amounts of all rows."""
    if not enforces_limits(rules.site):
        return
    taken: set[str] = set()
    for label, limits in rules.of_qos(owner):
        fresh = [tres for tres in limits.min_tres if tres in held and tres not in taken]
        for tres in fresh:
            yield f"min_tres {tres} of {label}", limits.min_tres[tres], held[tres]
        taken.update(fresh)


# --- What a replay on a site does not obey.


def _of_minutes(site: Site, limits: Sequence[Limits]) -> Iterator[str]:
    """Yield what of limits of past usage is not obeyed."""
    settings = site.scheduler
    if not isinstance(settings, SchedulerSettings) or not any(
        x.grp_tres_mins or x.grp_wall is not None for x in limits
    ):
        return
    if not counts_usage(settings):
        yield "GrpTRESMins and GrpWall, which Slurm enforces with PriorityType=priority/multifactor alone"
        return
    yield "usage from before the log (GrpTRESMins, GrpWall)"
    if "safe" not in settings.accounting_enforce or any(x.grp_wall is not None for x in limits):
        yield "that jobs are killed when GrpTRESMins or GrpWall is used up"
    if settings.usage_reset_period != "none":
        yield "PriorityUsageResetPeriod"


def _of_reservation(r: SiteReservation) -> Iterator[str]:
    """Yield what of a reservation is not obeyed."""
    if not r.nodes and (r.node_count is not None or r.core_count is not None or r.features):
        yield f"the choice of nodes of the reservation {r.name}"
    elif r.core_count is not None:
        yield f"that the reservation {r.name} has {r.core_count} cores of its nodes (they are held whole)"
    if r.groups:
        yield f"which groups may use the reservation {r.name}"
    if r.licences:
        yield f"licences of the reservation {r.name}"
    if "magnetic" in r.flags:
        yield f"the flag MAGNETIC of the reservation {r.name}"


SELECTED = frozenset((
    "cr_cpu", "cr_cpu_memory", "cr_core", "cr_core_memory", "cr_lln", "none", "other_cons_res", "other_cons_tres",
))  # fmt: skip  # SelectTypeParameters that are obeyed
PRIORITY_FLAGS = frozenset((
    "accrue_always", "calculate_running", "depth_oblivious", "fair_tree", "max_tres", "no_fair_tree", "no_normal_all",
    "no_normal_assoc", "no_normal_part", "no_normal_qos", "no_normal_tres", "small_relative_to_time",
))  # fmt: skip


def not_obeyed_settings(settings: SchedulerSettings) -> Iterator[str]:
    """Yield, by Slurm's names, the settings that influence a schedule and that neither a replay nor a calibration obeys.

    >>> list(not_obeyed_settings(SchedulerSettings(bf_licenses=True, bf_max_time=60, priority_flags=("incr_only",))))
    ['bf_licenses', 'bf_max_time=60 (a pass takes no time)', 'PriorityFlags=incr_only']
    """
    for name in ("bf_licenses", "bf_ignore_newly_avail_nodes", "time_min_as_soft_limit"):
        if getattr(settings, name):
            yield name
    for name in ("max_sched_time", "bf_max_time"):
        if getattr(settings, name):
            yield f"{name}={getattr(settings, name)} (a pass takes no time)"
    if settings.complete_wait:
        yield f"CompleteWait={settings.complete_wait}"
    if settings.usage_reset_period != "none":
        yield f"PriorityUsageResetPeriod={settings.usage_reset_period}"
    if settings.select_type != "cons_tres":
        whole = "whole " * (settings.select_type == "linear")
        yield f"SelectType=select/{settings.select_type} ({whole}nodes are chosen as by cons_tres)"
    yield from (f"SelectTypeParameters={word}" for word in settings.select_parameters if word not in SELECTED)
    if settings.priority_type == "multifactor":
        yield from (f"PriorityFlags={flag}" for flag in settings.priority_flags if flag not in PRIORITY_FLAGS)
    if settings.preempt_type != "none":
        if settings.preempt_strict_order:
            yield "preempt_strict_order"
        if "calculate_running" in settings.priority_flags:
            yield "PriorityFlags=calculate_running"


def _of_slurm(settings: SchedulerSettings) -> Iterator[str]:
    """Yield the settings of Slurm that no dispatcher of a replay obeys."""
    yield from not_obeyed_settings(settings)
    if settings.preempt_type != "none":
        told = " (slurm and bench calibrate requeue and cancel jobs)"
        if settings.preempt_type == "job_prio":
            told = ""
        yield f"PreemptType={settings.preempt_type}, PreemptMode={','.join(settings.preempt_mode)}{told}"


BY_PBS = "by the dispatcher pbs alone"  # what obeys an order of PBS


def _of_pbs(site: Site, settings: PBSSettings) -> Iterator[str]:
    """Yield the settings of PBS that influence the order and the nodes of jobs; most dispatchers have those of their own."""
    if settings.job_sort_formula:
        unknown = " without job_priority, which logs do not have" * ("job_priority" in settings.job_sort_formula)
        yield f"job_sort_formula {settings.job_sort_formula} ({BY_PBS}{unknown})"
    if settings.job_sort_key:
        yield f"job_sort_key {'; '.join(settings.job_sort_key)} ({BY_PBS})"
    if len({p.tier for p in site.partitions}) > 1:
        yield f"priorities of queues ({BY_PBS})"
    if settings.strict_ordering:
        yield f"strict_ordering ({BY_PBS})"
    yield from (name for name in ("round_robin", "fair_share") if getattr(settings, name))
    if settings.help_starving_jobs:
        yield f"help_starving_jobs (max_starve {settings.max_starve} s)"
    if settings.backfill_depth != 1:
        yield f"backfill_depth {settings.backfill_depth} ({BY_PBS})"
    if settings.node_sort_key:
        yield f"node_sort_key ({'; '.join(settings.node_sort_key)})"
    if settings.node_groups:
        yield f"placement sets (node_group_key {','.join(settings.node_groups)})"
    given = Counter(name for name, _ in settings.limits.given() if name not in OBEYED)
    yield from (f"{name} of the server" for name in given)


def not_obeyed(site: Site) -> tuple[str, ...]:
    """Return notes on what of a site influences its schedule, and a replay does not obey."""
    names = not_modelled(site)
    notes = []
    if names:
        notes = [f"not modelled: {', '.join(names)}"]
    shared = [p.name for p in site.partitions if p.max_cpus_per_node]
    if shared:
        notes.append(f"MaxCPUsPerNode of {', '.join(shared)} is obeyed by the dispatcher slurm alone")
    if site.events:
        notes.append(
            f"the states of nodes change as the description of the site says ({how_many(len(site.events), 'change', ',')}), "
            "unless a replay is given other events (--events)"
        )
    groups = [*(q.limits for q in site.associations), *(q.limits for q in site.qos)]
    if not enforces_limits(site) and any(bool(limits) for limits in groups):
        notes.append("limits of associations and QOS are not enforced by the site (AccountingStorageEnforce)")
    return tuple(notes)


def not_modelled(site: Site) -> list[str]:
    """Return the name of each part of a site that influences its schedule and that a replay does not obey."""
    names = list(site.not_modelled)
    given: Counter[str] = Counter()
    groups = [*((q.label, q.limits) for q in site.associations), *((f"QOS {q.name}", q.limits) for q in site.qos)]
    for _, limits in groups if enforces_limits(site) else ():
        given.update(name for name, _ in limits.given() if name not in OBEYED)
    for name, n in given.items():
        more = ""
        if "submit" in name:
            more = f"; {AT_SUBMIT}"
        names.append(f"{SPELLED.get(name, name)} ({how_many(n, 'time')}{more})")
    tres = {counted for _, limits in groups for _, counted, _ in _running(limits)}
    names += [f"limits of {t}" for t in sorted(tres) if t == "billing" or t.startswith("energy")]
    if any(q.limit_factor not in (None, 1) for q in site.qos):
        names.append("LimitFactor of QOS")
    if any(p.state in ("down", "inactive") for p in site.partitions):
        names.append("the states of partitions")
    names += [
        f"OverSubscribe={p.oversubscribe} of partition {p.name}" for p in site.partitions if p.jobs_per_resource > 1
    ]
    names += [f"ExclusiveUser of partition {p.name}" for p in site.partitions if p.exclusive_user]
    names += [name for r in site.reservations for name in _of_reservation(r)]
    if isinstance(site.scheduler, SchedulerSettings):
        names += _of_slurm(site.scheduler)
    if isinstance(site.scheduler, PBSSettings):
        names += _of_pbs(site, site.scheduler)
    names += _of_minutes(site, [limits for _, limits in groups if enforces_limits(site)])
    return names
