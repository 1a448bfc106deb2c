"""Random small sites with overlapping partitions, features, distinct and whole nodes, licences, limits and reservations.

``python -m simulation.random_sites --count 1000`` in the folder ``tests`` replays sites under each dispatcher (``--each 3``:
under three, in turns), checks each replay second by second with code of its own, and prints the first seed that fails.
"""

import argparse
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace

import schedlab as sl
from schedlab.instances import WorkloadError
from schedlab.models import (
    QOS,
    Association,
    Dispatch,
    Job,
    Licence,
    Limits,
    NodeEvent,
    Partition,
    Queue,
    SchedulerSettings,
    Site,
    SiteNode,
    SiteRequest,
    SiteReservation,
)
from schedlab.models.profiles import flat
from schedlab.simulation import Switching, parse_dispatcher
from simulation.random_worlds import CENTRE
from simulation.random_worlds import names as all_names
from simulation.second_by_second import records

FEATURES = ("ib", "ssd")
EXPRESSIONS = ("", "", "", "ib", "ssd", "ib&ssd", "ib|ssd")


@dataclass
class Drawn:
    """A site with its jobs, and its rules as plain data for the checker.

    ``nodes``: name -> (cores, gpus, features); ``partitions``: name -> (nodes, whole); ``limits``: (name, greatest sum, function
    of a job that gives what it holds, whether it is for the job, or only counts it); ``reservations``: name -> (start, end, nodes, flags).
    """

    seed: int
    nodes: dict
    partitions: dict
    licences: dict
    site: Site
    jobs: list
    limits: list = field(default_factory=list)
    outages: list = field(default_factory=list)
    reservations: dict = field(default_factory=dict)

    def replayed(self, name):
        """The replay under a dispatcher."""
        named = parse_dispatcher(name)
        solves = named.backend is not None and "lns" not in name
        dispatcher, options = named.make(deterministic=0.02) if solves else name, {}
        if named.needs_profile or name == "dardis:profile":
            options["desired"] = flat(self.site.platform(), 1.0)
        if name.startswith(("hybrid", "planned")):
            dispatcher = named.make()
            dispatcher.centre = CENTRE
            if name.startswith("hybrid") and name != "hybrid:100":
                options["switching"] = Switching(1, 1, 5)
        queues = [Queue(p, 60) for p in self.partitions]
        problem = Dispatch(self.site.platform(), self.jobs, queues, durations="runtime")
        events = [NodeEvent(at, kind, [node]) for at, kind, node in self.outages]
        return sl.simulate(
            problem,
            dispatcher=dispatcher,
            site=self.site,
            events=events,
            seed=self.seed,
            **options,
        )


def draw(seed, plain=False):
    """The site of a seed; a ``plain`` one gives all jobs all nodes, for dispatchers that place units anywhere."""
    rng = random.Random(f"site {seed}")
    even = plain or rng.random() < 0.4  # all nodes are equal, and each unit needs one: the nodes are counted
    nodes = {
        f"n{k}": (
            4 if even else rng.choice((2, 4)),
            0 if even else rng.choice((0, 0, 1)),
            tuple(f for f in FEATURES if rng.random() < 0.5),
        )
        for k in range(rng.randint(2, 6))
    }
    partitions = {}
    for p in ("p", "q", "r")[: rng.randint(1, 3)]:
        some = tuple(n for n in nodes if rng.random() < 0.6) or tuple(nodes)[:1]
        whole = rng.random() < 0.2
        partitions[p] = (tuple(nodes), False) if plain else (some, whole)
    others = random.Random(f"reservations {seed}")
    reservations = _reservations(others, nodes)
    licences = {"tool": rng.randint(1, 3)} if rng.random() < 0.5 else {}
    licences = {} if plain else licences
    users, accounts, qualities = ("ana", "bob", "eva"), ("chem", "phys"), ("normal", "high")
    account_of = {user: rng.choice(accounts) for user in users}
    per_user = rng.choice((None, 1, 2))
    grp_cpu = rng.choice((None, 4, 6))
    per_account = rng.choice((None, None, 2))
    grp_jobs = rng.choice((None, 2, 3))
    more = random.Random(f"limits {seed}")
    high_jobs, chem_cpu, per_association = more.choice((None, None, 3)), more.choice((None, None, 5)), None
    if more.random() < 0.3:
        per_association = more.choice((1, 2))
    of_high = Limits(
        max_jobs_per_user=per_user, grp_tres={} if grp_cpu is None else {"cpu": grp_cpu}, grp_jobs=high_jobs
    )
    of_chem = Limits(
        grp_jobs=grp_jobs, grp_tres={} if chem_cpu is None else {"cpu": chem_cpu}, max_jobs=per_association
    )
    limited = QOS("high", limits=of_high)
    normal = QOS("normal", limits=Limits(max_jobs_per_account=per_account))
    associations = [
        Association("root"),
        *(Association(a, parent="root", limits=of_chem if a == "chem" else Limits()) for a in accounts),
        *(Association(account_of[user], user) for user in users),
    ]
    site = Site(
        "s",
        [SiteNode(n, cores, gpus={"": gpus} if gpus else {}, features=features) for n, (cores, gpus, features) in nodes.items()],
        [Partition(p, some, oversubscribe="exclusive" if whole else "no") for p, (some, whole) in partitions.items()],
        [normal, limited],
        associations,
        [Licence(name, total) for name, total in licences.items()],
        [SiteReservation(r, at, end - at, some, flags=flags) for r, (at, end, some, flags) in reservations.items()],
        scheduler=SchedulerSettings(accounting_enforce=("limits", "qos")),
    )  # fmt: skip
    jobs = []
    for k in range(rng.randint(3, 14)):
        user, quality = rng.choice(users), rng.choice(qualities)
        runtime = rng.choice((0, *range(1, 25)))
        cores = rng.choice((3, 4)) if even else rng.choice((1, 1, 2, 3))
        inside = others.choice(("", "", *reservations)) if reservations else ""
        asked = SiteRequest(account=account_of[user], qos=quality, reservation=inside)
        jobs.append(
            Job(
                f"j{k}", rng.randint(0, 30), max(1, runtime + rng.choice((-2, 0, 5))), rng.choice((1, 1, 2, 3)),
                {"cores": cores, **({"gpus": 1} if not even and rng.random() < 0.15 else {})}, rng.choice(list(partitions)),
                runtime=runtime, user=user, features=rng.choice(EXPRESSIONS), per_node=rng.choice((None, None, 1, 2)),
                whole_nodes=rng.random() < 0.2,
                nodes=tuple(n for n in nodes if rng.random() < 0.7) if rng.random() < 0.15 else (),
                licences={"tool": rng.randint(1, 2)} if licences and rng.random() < 0.4 else {}, asked=asked,
            )
        )  # fmt: skip
    if plain:
        jobs = [replace(j, features="", nodes=(), per_node=None, whole_nodes=False, power=10.0) for j in jobs]
    limits = []

    def limit(name, most, held, free=False):
        """Add a limit that is set; of the jobs that it counts, those with a QOS that sets the same one may be ``free`` of it."""
        if most is not None:
            limits.append((name, most, held, lambda j: not (free and j.asked.qos == "high")))

    def cpus(job):
        return cpus_at_least(made, job)

    for u in users:
        limit(f"jobs of {u} with high", per_user, lambda j, u=u: int((j.user, j.asked.qos) == (u, "high")))
        own = per_association if account_of[u] == "chem" else None
        limits += [
            (
                f"jobs of {u} in chem", own, lambda j, u=u: int(j.user == u),
                lambda j: (per_user if j.asked.qos == "high" else per_account) is None,
            )
        ] * (own is not None)  # fmt: skip
    limit("cores with high", grp_cpu, lambda j: cpus(j) if j.asked.qos == "high" else 0)
    limit("jobs with high", high_jobs, lambda j: int(j.asked.qos == "high"))
    for a in accounts:
        limit(
            f"jobs of {a} with normal", per_account, lambda j, a=a: int((j.asked.account, j.asked.qos) == (a, "normal"))
        )
    limit("jobs of chem", grp_jobs, lambda j: int(j.asked.account == "chem"), high_jobs is not None)
    limit("cores of chem", chem_cpu, lambda j: cpus(j) if j.asked.account == "chem" else 0, grp_cpu is not None)
    outages = []
    if rng.random() < 0.25:
        node, at = rng.choice(list(nodes)), rng.randint(1, 30)
        outages = [(at, "node-down", node), (at + rng.randint(5, 40), "node-up", node)]
    made = Drawn(
        seed, nodes, partitions, licences, site, _startable(jobs, nodes, licences), limits, outages, reservations
    )
    return made


def _reservations(rng, nodes):
    """None, one or two reservations, which may overlap."""
    found = {}
    for name in ("maintenance", "course")[: rng.choice((0, 1, 2))]:
        at = rng.randint(0, 40)
        some = tuple(n for n in nodes if rng.random() < 0.5) or tuple(nodes)[-1:]
        flags = tuple(flag for flag in ("maint", "flex") if rng.random() < 0.25)
        found[name] = (at, at + rng.randint(1, 40), some, flags)
    return found


def _startable(jobs, nodes, licences):
    """The jobs without requests that the machine as a whole does not have: a problem refuses them."""
    features = {f for _, _, own in nodes.values() for f in own}
    gpus = sum(gpus for _, gpus, _ in nodes.values())
    kept = []
    for job in jobs:
        named = job.features.replace("&", "|").split("|") if job.features else []
        room = sum(room_on(nodes[n], job) for n in nodes if may_use(job, n, nodes))
        licensed = all(n <= licences[name] for name, n in job.licences.items())
        if licensed and all(f in features for f in named) and job.request.get("gpus", 0) <= gpus and room >= job.units:
            kept.append(job)
    return kept or [Job("j0", 0, 5, 1, {"cores": 1}, jobs[0].queue, runtime=5, user="ana", asked=jobs[0].asked)]


def may_use(job, node, nodes):
    """Whether the job names the node, or none, and the node has its features."""
    has = nodes[node][2]
    expression = job.features.replace("&", " and ").replace("|", " or ")
    return (not job.nodes or node in job.nodes) and (
        not expression or eval(expression, {f: f in has for f in FEATURES})
    )


def room_on(node, job):
    """The units of a job that an empty node holds."""
    cores, gpus, _ = node
    most = [
        job.units,
        cores // job.request["cores"],
        *([gpus // job.request["gpus"]] if job.request.get("gpus") else []),
    ]
    return min(most if job.per_node is None else [*most, job.per_node])


def is_whole(drawn, job):
    """Whether the job has whole nodes."""
    return job.whole_nodes or drawn.partitions[job.queue][1]


def cpus_at_least(drawn, job):
    """The cores that a job surely counts: those of its units."""
    return job.units * job.request["cores"]


# --- The check, second by second.


def faults(drawn, run):
    """All faults of a replay, as texts."""
    yield from (v.message for v in run.violations)
    jobs = {j.id: j for j in drawn.jobs}
    left = {name for name, _ in run.workload.report.dropped}
    ran = {r.job for r in records(run)}
    yield from (f"{name} never ran" for name in jobs if name not in ran and name not in left)
    yield from (
        f"{name} was left out: {why}" for name, why in run.workload.report.dropped if not impossible(drawn, jobs[name])
    )
    at, since = {}, {}
    for r in records(run):
        job = jobs[r.job]
        some, _ = drawn.partitions[job.queue]
        if r.start < job.submit:
            yield f"{r.job} starts before its submission"
        if sum(r.nodes.values()) != job.units:
            yield f"{r.job} has {r.nodes}"
        for node, units in r.nodes.items():
            if node not in some or not may_use(job, node, drawn.nodes):
                yield f"{r.job} may not use {node}"
            if job.per_node is not None and units > job.per_node:
                yield f"{r.job} has {units} units on {node}"
        yield from _into_reservations(drawn, job, r.start, r.nodes)
        for second in range(r.start, r.end):
            at.setdefault(second, []).append((job, r.nodes))
            since.setdefault(second, []).append(r.start)
    for second, running in at.items():
        yield from _second(
            drawn, second, running, {job.id: began for (job, _), began in zip(running, since[second], strict=True)}
        )


def _into_reservations(drawn, job, start, nodes):
    """Faults of a start beside the reservations: the job may run to the end of its walltime."""
    own = job.asked.reservation
    if own and start < drawn.reservations[own][1]:
        begin, _, some, flags = drawn.reservations[own]
        if "flex" not in flags and (start < begin or any(node not in some for node in nodes)):
            yield f"{job.id} starts at {start} on {nodes} outside of its reservation {own}"
        if "maint" in flags:
            return
    else:
        own = ""
    for name, (begin, end, some, _) in drawn.reservations.items():
        meets = start < end and begin < start + job.walltime and any(node in some for node in nodes)
        if name != own and meets:
            yield f"{job.id}, which may run from {start} to {start + job.walltime}, runs into {name} ({begin} to {end})"


def _second(drawn, second, running, begins):
    used, number = Counter(), Counter()
    for job, nodes in running:
        for node, units in nodes.items():
            number[node] += 1
            for resource, amount in job.request.items():
                used[node, resource] += units * amount
    for node, (cores, gpus, _) in drawn.nodes.items():
        if used[node, "cores"] > cores or used[node, "gpus"] > gpus:
            yield f"second {second}: {node} is too full"
    for job, nodes in running:
        if is_whole(drawn, job) and any(number[node] > 1 for node in nodes):
            yield f"second {second}: {job.id} is not alone"
    for name, most, held, is_for in drawn.limits:
        began = [job for job, _ in running if begins[job.id] == second and held(job)]
        if any(is_for(job) for job in began):  # of jobs that start together, those that only count may be the last ones
            total = sum(held(job) for job, _ in running if job not in began or is_for(job))
            if total > most:
                yield f"second {second}: {name}: {total}, at most {most}"
    for name, most in drawn.licences.items():
        total = sum(job.licences.get(name, 0) for job, _ in running)
        if total > most:
            yield f"second {second}: licences {name}: {total}, at most {most}"


def impossible(drawn, job):
    """Whether a job can never run on the site."""
    some = [n for n in drawn.partitions[job.queue][0] if may_use(job, n, drawn.nodes)]
    room = sum(room_on(drawn.nodes[n], job) for n in some)
    cpus = cpus_at_least(drawn, job)
    if is_whole(drawn, job):
        cpus = max([cpus, *(drawn.nodes[n][0] * -(-job.units // max(1, room_on(drawn.nodes[n], job))) for n in some)])
    beyond = any(
        is_for(job) and (cpus if name.startswith("cores") and held(job) else held(job)) > most
        for name, most, held, is_for in drawn.limits
    )
    return room < job.units or beyond or any(n > drawn.licences[name] for name, n in job.licences.items())


def places_anywhere(name):
    """Whether a dispatcher places units on any nodes, or its models know no sets of nodes beside a desired use."""
    return name.startswith(("dardis", "hybrid", "planned")) or "profile" in name


def names():
    """All dispatchers."""
    return [*all_names(), "slurm", "slurm:bf_interval=1:sched_interval=1:batch_sched_delay=0"]


def check(seed, name):
    """The faults of the replay of a seed under a dispatcher."""
    drawn = draw(seed, places_anywhere(name))
    try:
        return list(faults(drawn, drawn.replayed(name)))
    except WorkloadError as e:
        every = all(impossible(drawn, job) for job in drawn.jobs)
        return [] if every else [str(e)]


def main() -> None:
    """Replay sites, and print the first seed that fails."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--each", type=int, default=0, help="dispatchers of each site, in turns; 0: all")
    parser.add_argument("--only", nargs="*", help="names of dispatchers")
    given = parser.parse_args()
    every, count, began = given.only or names(), 0, time.perf_counter()
    for seed in range(given.first, given.first + given.count):
        chosen = every if not given.each else [every[(seed * given.each + k) % len(every)] for k in range(given.each)]
        for name in chosen:
            count += 1
            listed = check(seed, name)
            if listed:
                print(f"seed {seed}, {name}:", *listed[:5], sep="\n  ", flush=True)
                print(f"  repeat: python -m simulation.random_sites --first {seed} --count 1 --only {name}")
                sys.exit(1)
    print(f"{given.count} sites, {count} replays, no fault, {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
