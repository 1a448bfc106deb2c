"""Random worlds with two or three features of a replay, drawn from all; each replay is checked by all independent checkers.

``python -m simulation.random_worlds --count 2000`` in the folder ``tests`` replays worlds under each dispatcher (``--each 5``:
under five, in turns) and prints the first seed that fails, and how to repeat it.
"""

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
import schedlab as sl
from schedlab import WrongValue
from schedlab.instances import Workload, WorkloadError
from schedlab.models import Checkpointing, Cooling, Dispatch, Job, NodeEvent, Queue, Running, StepFunction
from schedlab.models.profiles import Wish, profile_of
from schedlab.models.step_function import Tariff
from schedlab.simulation import (
    Feature,
    OnDemandJob,
    Preemption,
    Rank,
    SimulationError,
    Switching,
    dispatcher_names,
    parse_dispatcher,
    violations,
)
from schedlab.simulation import energy as accounts
from simulation.production_worlds import ProductionWorld
from simulation.small_worlds import SmallJob, SmallRunning, random_world

from simulation import production_worlds, second_by_second, second_by_second_evictions

WATTS = 40  # of a unit, at least
MOST = 160  # watts of a power cap: no job takes more
ALWAYS = StepFunction([-1000], [10.0], 10 * second_by_second.DAY)
CENTRE = accounts.Centre(
    Cooling("flat", (-20, 45), (0, 10_000), ((0, 3000), (0, 6000))), ALWAYS, Tariff(ALWAYS, ALWAYS), 0.1
)


@dataclass
class Draw:
    """A world, the names of its features, and the keywords of ``simulate`` beside its jobs, its outages and its requests."""

    seed: int
    features: tuple
    world: ProductionWorld
    options: dict = field(default_factory=dict)

    def has(self, *names):
        """Whether it has one of these features."""
        return not set(names).isdisjoint(self.features)

    @property
    def whole_nodes(self):
        """Whether each unit needs a node of its own, all of which are equal."""
        return self.has("on-demand jobs", "failures")

    def workload(self):
        """The jobs as the simulator takes them."""
        world = self.world
        queues = [Queue(name, 60, tuple(w), name == "whole") for name, w in world.daily.items()]
        jobs = [self._job(j) for j in world.jobs]
        found = Workload.of(Dispatch(world.platform(), jobs, queues, durations="runtime"))
        row = {name: k for k, name in enumerate(found.ids)}
        found = replace(found, after={row[j]: (row[before], think) for j, (before, think) in world.after.items()})
        if world.begin is None:
            return found
        return found.beginning(world.begin, [Running(self._job(r.job), r.start, r.nodes, r.end) for r in world.running])

    @property
    def jobs(self):
        """The jobs by id, also those that run at the begin, and the on-demand jobs."""
        found = {j.id: self._job(j) for j in [*self.world.jobs, *(r.job for r in self.world.running)]}
        preemption = self.options.get("preemption")
        for j in () if preemption is None else preemption.jobs:
            found[j.id] = Job(j.id, j.submit, j.duration, j.nodes, {"cores": 1}, "on-demand", power=j.power)
        return found

    @property
    def watts(self):
        """The power of each job."""
        return {name: job.power for name, job in self.jobs.items()}

    def _job(self, j):
        cores = sum(request["cores"] for _, request in ((j.units, j.request), *j.further))
        watts = WATTS * (j.units + len(j.further)) if cores else 0  # the price of energy is one of cores
        return Job.of_chunks(
            j.id, j.submit, j.walltime, [(j.units, j.request), *j.further], j.queue, windows=j.windows, runtime=j.runtime,
            user=self.world.users.get(j.id, "u"), name=f"job{j.units}",
            power=float(min(MOST, watts)),
        )  # fmt: skip


class Inspection(Feature):
    """A feature of a third party: a node is inspected for some seconds, in which it takes and runs no job."""

    follows_nodes = True

    def __init__(self, node, begin, end):
        self._node, self._begin, self._end = node, begin, end

    def begin(self, engine):
        """Put the begin and the end of the inspection on the agenda."""
        self._engine = engine
        for at, closed in ((self._begin, True), (self._end, False)):
            engine.agenda.add(at, Rank.NODE_STATE, lambda c=closed: self._close(c), waits_for_jobs=True)

    def _close(self, closed):
        engine = self._engine
        for j in engine.running if closed else ():
            if self._node in engine.ledger.places_of(j):
                engine.fail(j, "inspection")
        mask = [n == self._node and closed for n in range(len(engine.platform.nodes))]
        engine.timeline.close("inspection", np.array(mask), ["inspected"] * len(mask))

    def stops(self, replay):
        """The node, and the begin of its inspection; one that begins before the replay stops jobs at its begin."""
        first = replay.workload.begin
        yield replay.platform.nodes[self._node], self._begin if first is None else max(self._begin, first)


# --- The features: each changes a draw.


def _pick(key, *values):
    def add(draw, rng):
        draw.options[key] = rng.choice(values)

    return add


def _requeue(draw, rng):
    draw.world.requeue = rng.choice(["drop", "checkpoint:1", "checkpoint:4"])


def _kill(draw, rng):
    draw.world.kill = True


def _private(draw, rng):
    for job in draw.world.jobs:
        if rng.random() < 0.45:
            job.queue = rng.choice(["private", "private", "guests"])
            job.walltime, job.units = rng.randint(1, 12), min(job.units, 2)
    production_worlds._add_reservations(draw.world, rng)


def _server(draw, rng):
    production_worlds._add_events(draw.world, rng)


def _on_demand(draw, rng):
    nodes = len(draw.world.capacity)
    jobs = [
        OnDemandJob(
            f"u{k}", rng.randint(5, 80), rng.randint(1, nodes), rng.choice((0, 5, 20)), rng.randint(1, 30),
            rng.choice((0, 0, 15)), power=float(rng.randint(10, MOST)),
        )
        for k in range(rng.randint(1, 3))
    ]  # fmt: skip
    evictor = rng.choice(["dp", "greedy", "kill", "dp-knee", "none", "reserve:1"])
    _preemption(draw, rng, jobs=jobs, evictor="dp" if nodes == 1 else evictor)


def _failures(draw, rng):
    events = []
    for node in rng.sample(list(draw.world.capacity), rng.randint(1, len(draw.world.capacity))):
        at = rng.randint(5, 60)
        events += [NodeEvent(at, "node-down", [node]), NodeEvent(at + rng.randint(1, 30), "node-up", [node])]
    _preemption(draw, rng, failures=tuple(events))


def _preemption(draw, rng, **fields):
    known = draw.options.get("preemption")
    if known is not None:
        draw.options["preemption"] = replace(known, **fields)
        return
    fields.setdefault("evictor", "none")
    draw.options["preemption"] = Preemption(
        checkpoints=rng.choice(("none", "fixed:7", "fixed:15")), restart=rng.choice((0, 3)), step=rng.choice((1, 4)),
        storage=Checkpointing(memory=100, file_system_mb_s=50, node_mb_s=20, seed=draw.seed), **fields,
    )  # fmt: skip


def _switching(rng):
    return Switching(boot=rng.randint(0, 5), shut_down=rng.randint(0, 3), min_off=rng.randint(0, 5))


def _node_policy(draw, rng):
    kind = rng.choice(["idle:1", "idle:10", "idle:0", "always-on", "profile"])
    draw.options |= {"node_policy": kind, "switching": _switching(rng)}
    if kind == "profile":
        _desired(draw, rng)


def _power_cap(draw, rng):
    steps = [Wish(at, "power", amount=float(rng.randint(MOST, 3 * MOST))) for at in (0, rng.randint(5, 60))]
    platform = draw.world.platform()
    draw.options["power_cap"] = rng.choice([float(MOST), 2.0 * MOST, profile_of(platform, steps)])


def _desired(draw, rng):
    times = [-100, *sorted(rng.sample(range(1, 100), 2))]
    steps = [Wish(at, "cores", rng.choice([0.5, 0.75, 1.0, 1.0])) for at in times]
    draw.options["desired"] = profile_of(draw.world.platform(), [*steps[:2], Wish(times[2], "cores", 1.0)])


def _third_party(draw, rng):
    at = rng.randint(5, 60)
    node = rng.randrange(len(draw.world.capacity))
    draw.options["features"] = [Inspection(node, at, at + rng.randint(1, 20))]


FEATURES = {
    "running jobs": None,
    "outages": None,
    "calendars": None,
    "dependencies": None,
    "chunks": None,
    "requeue": _requeue,
    "kill": _kill,
    "reservations": _private,
    "server events": _server,
    "on-demand jobs": _on_demand,
    "failures": _failures,
    "node policy": _node_policy,
    "power cap": _power_cap,
    "desired use": _desired,
    "users": _pick("users", "cf", "di:seed=3", "hdi", "ge", "impatient"),
    "predictor": _pick("predictor", "data-driven", "last-two", "real"),
    "energy account": lambda draw, rng: None,
    "charge": _pick("charge_decisions", True),
    "period": _pick("period", 3, 7, 20),
    "allocator": _pick("allocator", "first-fit"),
    "third party": _third_party,
}  # fmt: skip
"""Each feature, and what adds it to a draw; None: the world itself is drawn with it."""
RANKERS = ("fairshare", "multifactor", "aging")


def draw_of(seed):
    """The draw of a seed: it is the same for the same seed."""
    rng = random.Random(f"features {seed}")
    names = tuple(rng.sample(list(FEATURES), rng.choice((2, 3))))
    draw = Draw(seed, names, None)
    if draw.whole_nodes:  # see ``schedlab.simulation.errors``
        draw.features = names = tuple(name for name in names if name != "chunks")
    base = random_world(
        seed, calendars="calendars" in names, outages="outages" in names, busy="running jobs" in names and not draw.whole_nodes,
        dependencies="dependencies" in names, chunks="chunks" in names,
    )  # fmt: skip
    draw.world = world = ProductionWorld(
        base.capacity, base.jobs, {**base.daily, "whole": ((5, 30), (50, 80)), "private": (), "guests": ()}, base.outages,
        "restart", False, base.after, base.begin, base.running,
    )  # fmt: skip
    if draw.whole_nodes:
        _on_whole_nodes(draw, rng)
    world.users = {j.id: rng.choice("uvw") for j in [*world.jobs, *(r.job for r in world.running)]}
    for name in FEATURES:
        if name in names and FEATURES[name] is not None:
            FEATURES[name](draw, rng)
    return draw


def _on_whole_nodes(draw, rng):
    """Make all nodes equal and each unit need one of its own."""
    world = draw.world
    world.capacity = {node: {"cores": 1, "gpus": 0} for node in world.capacity}
    for job in world.jobs:
        job.request, job.units = {"cores": 1, "gpus": 0}, min(job.units, len(world.capacity))
    if not draw.has("running jobs"):
        return
    world.begin = rng.choice([0, rng.randint(1, 30)])
    for k, node in enumerate(world.capacity):
        if rng.random() < 0.6:
            start, more = world.begin - rng.randint(0, 20), rng.randint(1, 30)
            job = SmallJob(f"r{k}", start, world.begin - start + more, rng.randint(1, 50), 1, {"cores": 1, "gpus": 0})
            world.running.append(SmallRunning(job, start, {node: 1}, world.begin + rng.randint(1, 40)))


# --- The replay of a draw under a dispatcher, and its checks.


def names():
    """The names of all dispatchers that need no site and no log of the past, the solving ones with a solver, some with a ranker."""
    plain = [
        f"{name}@cpsat" if needs_solver(name) else name for name in dispatcher_names() if name not in ("slurm", "pbs")
    ]
    ranked = [f"{name}+{ranker}" for name, ranker in product(("easy", "conservative"), RANKERS)]
    return [*plain, *ranked, "plan@lns:rounds=3"]


def needs_solver(name):
    """Whether a name needs a solver after it."""
    try:
        return parse_dispatcher(name).backend is not None
    except sl.UnknownName:
        return True


def made(name, draw, rng):
    """The dispatcher, and the keywords that it needs beside those of the draw."""
    named, options = parse_dispatcher(name), dict(draw.options)
    if (named.needs_profile or name == "dardis:profile") and "desired" not in options:
        _desired(draw, rng)
        options["desired"] = draw.options.pop("desired")
    if name.startswith("hybrid") and name != "hybrid:100":  # which keeps all nodes on
        options.setdefault("switching", _switching(rng))
    if "predictor" in options and named.names_predictor:
        del options["predictor"]
    solves = named.backend is not None and "lns" not in name
    if name.startswith(("hybrid", "planned")):
        planning = named.make()
        planning.centre = CENTRE
        return planning, options
    return named.make(deterministic=0.02) if solves else name, options


def excluded(name, draw):
    """Whether the table of exclusions refuses the dispatcher beside the features of a draw."""
    return draw.has("chunks") and name.startswith(("dardis", "hybrid", "planned"))


def replayed(draw, name):
    """The simulation (of a failed replay: as far as it went), and id -> reason of the jobs that wait at its end."""
    world = draw.world
    dispatcher, options = made(name, draw, random.Random(f"{name} {draw.seed}"))
    events = world.events()
    try:
        run = sl.simulate(
            draw.workload(), world.platform(), dispatcher, events=events, reservations=world.reservations,
            requeue=world.requeue, kill_at_walltime=world.kill, seed=draw.seed, **options,
        )  # fmt: skip
    except SimulationError as e:
        if not e.waiting:
            raise
        return e.partial, e.waiting
    return run, {}


def faults(draw, run, left):
    """All faults of a replay, as texts."""
    world = draw.world
    stops = [stop for feature in draw.options.get("features", ()) for stop in feature.stops(run)]
    yield from (v.message for v in (violations(run, partial=True, stops=stops) if left else run.violations))
    records = second_by_second.records(run)
    yield from _basic(draw, run, records)
    changed = draw.has("users", "reservations", "server events", "on-demand jobs", "failures", "third party")
    if not changed:
        yield from second_by_second.faults(world, records, left)
    others = draw.has("users", "running jobs", "dependencies", "on-demand jobs", "failures", "third party")
    if run.production is not None and not others and not world.requeue.startswith("checkpoint"):
        yield from production_worlds.faults(world, records, run.production)
    if run.preemption is not None and not left and not draw.has("outages", "users", "third party", "kill"):
        try:
            second_by_second_evictions.check(run)
        except AssertionError as e:
            where = traceback.extract_tb(e.__traceback__)[-1]
            yield f"evictions: {e}: {where.name}, line {where.lineno}: {where.line}"
    if draw.has("energy account") and not left and (run.start >= 0).any():  # else there is nothing to account for
        yield from _account(draw, run, records)


def _basic(draw, run, records) -> Iterator[str]:
    """In each second no node holds more than it has, none that is down runs a job, and no start exceeds a power cap."""
    world, used, watts = draw.world, Counter(), Counter()
    jobs = draw.jobs
    begun = {r.job.id for r in world.running}
    for r in records:
        job = jobs[r.job]
        if r.start < job.submit and not (r.number == 1 and r.job in begun):
            yield f"{r.job} starts at {r.start}, before its submission"
        for second in range(r.start, r.end):
            watts[second] += job.power
            for on, part in zip((r.nodes, *r.further), job.parts, strict=True):
                for node, units in on.items():
                    for resource, amount in part.request.items():
                        used[second, node, resource] += units * amount
    for (second, node, resource), amount in used.items():
        if amount > world.capacity[node][resource]:
            yield f"second {second}: {amount} {resource} in use on {node}"
    yield from second_by_second._states(world, records, ())
    cap = draw.options.get("power_cap")
    for r in records if cap is not None else ():
        first = r.number == 1 and r.job in begun
        most = cap if isinstance(cap, float) else cap.power.at(r.start)
        if not first and r.end > r.start and watts[r.start] > most:
            yield f"{r.job} starts at {r.start}: {watts[r.start]} W, at most {most} W"


def _account(draw, run, records):
    """The energy of a replay is at least that of its jobs from the begin on."""
    found = accounts.replay_energy(run, CENTRE, accounts.Machine(run.platform))
    first = draw.world.begin or 0
    joules = sum(draw.watts[r.job] * max(0, r.end - max(first, r.start)) for r in records)
    if found.end.it_kwh * 3.6e6 < joules * (1 - 1e-9):
        yield f"the energy is {found.end.it_kwh * 3.6e6} J, that of the jobs {joules} J"


def check(draw, name):
    """The faults of a draw under a dispatcher; a crash is one."""
    try:
        run, left = replayed(draw, name)
        return list(faults(draw, run, left))
    except (WorkloadError, WrongValue) as e:
        known = ("no job to replay", "beyond the horizon")  # beside a reserve; before a node could boot
        return [] if any(text in str(e) for text in known) else [str(e)]
    except Exception as e:
        return [f"{type(e).__name__}: {e}", traceback.format_exc()]


def main() -> None:
    """Replay worlds, and print the faults of the first that has some; ``--all``: of all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--each", type=int, default=0, help="dispatchers of each world, in turns; 0: all")
    parser.add_argument("--only", nargs="*", help="names of dispatchers")
    parser.add_argument("--all", action="store_true", help="go on after a fault")
    given = parser.parse_args()
    every, count, faulty, began = given.only or names(), 0, 0, time.perf_counter()
    for seed in range(given.first, given.first + given.count):
        draw = draw_of(seed)
        chosen = every if not given.each else [every[(seed * given.each + k) % len(every)] for k in range(given.each)]
        for name in chosen:
            if excluded(name, draw):
                continue
            count += 1
            listed = check(draw_of(seed), name)
            if listed:
                faulty += 1
                print(f"seed {seed}, {name}, {', '.join(draw.features)}:", *listed[:3], sep="\n  ", flush=True)
                print(
                    f"  repeat: python -m simulation.random_worlds --first {seed} --count 1 --only {name}", flush=True
                )
                if not given.all:
                    sys.exit(1)
    print(
        f"{given.count} worlds, {count} replays, {faulty} with faults, {time.perf_counter() - began:.0f} s", flush=True
    )
    sys.exit(bool(faulty))


if __name__ == "__main__":
    main()
