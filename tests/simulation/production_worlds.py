"""Small worlds with reservations, stopped queues, changed, moved and deleted jobs, and their check second by second.

The checks use plain lists and no code of the engine, as those of ``second_by_second``, which it extends. What the engine
says of itself is used only where nothing else can tell it: which reservations were accepted, when, and on which nodes.
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field

from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.models.reservations import Repeat, Reservation
from schedlab.models.server_events import ServerEvent
from simulation.second_by_second import DAY, _calendars, _states, _units
from simulation.small_worlds import World, random_world

STANDING = 3600  # of hourly reservations


@dataclass
class ProductionWorld(World):
    """A world with ``reservations``, ``server`` events (time, kind, subject, value) and ``users`` (job -> user)."""

    reservations: list = field(default_factory=list)
    server: list = field(default_factory=list)
    users: dict = field(default_factory=dict)

    def problem(self):
        """The world as the simulator takes it."""
        groups = [NodeGroup(name.removesuffix("-1"), 1, amounts) for name, amounts in self.capacity.items()]
        jobs = [
            Job.of_chunks(
                j.id, j.submit, j.walltime, [(j.units, j.request), *j.further], j.queue, windows=j.windows,
                runtime=j.runtime, user=self.users[j.id],
            )
            for j in self.jobs
        ]  # fmt: skip
        queues = [Queue(name, 60, tuple(w), name == "whole") for name, w in self.daily.items()]
        return Dispatch(Platform(groups), jobs, queues)

    def events(self):
        """The outages and the server events as the simulator takes them."""
        return [*super().events(), *(ServerEvent(*event) for event in self.server)]


def production_world(seed, *, outages=True, reservations=True, server=True, chunks=True):
    """A small world that is the same for the same seed; ``chunks``: a third of them have heterogeneous jobs."""
    rng = random.Random(seed)
    base = random_world(seed, outages=outages, busy=False, dependencies=False, chunks=chunks and seed % 3 == 0)
    world = ProductionWorld(base.capacity, base.jobs, base.daily, base.outages, base.requeue, base.kill)
    if world.requeue.startswith("checkpoint"):
        world.requeue = "restart"
    world.daily = {**world.daily, "whole": ((5, 30), (50, 80)), "private": (), "guests": ()}
    for job in world.jobs:
        world.users[job.id] = rng.choice("uvw")
        if rng.random() < 0.15 and job.walltime <= 25:
            job.queue = "whole"
        elif reservations and rng.random() < 0.45:
            job.queue = rng.choice(["private", "private", "guests"])
            job.walltime, job.units = rng.randint(1, 12), min(job.units, 2)
    if reservations:
        _add_reservations(world, rng)
    if server:
        _add_events(world, rng)
    return world


def _add_reservations(world, rng):
    fits = [dict(a) for a in world.capacity.values()]
    at = {"private": rng.randint(0, 20), "guests": rng.randint(0, 20)}
    for k in range(rng.randint(1, 4)):
        queue = rng.choice(["private", "guests"])
        request = {"cores": rng.randint(1, 2), "gpus": rng.choice([0, 0, 0, 1])}
        most = sum(min((a[r] // q for r, q in request.items() if q)) for a in fits)
        if most < 1:
            continue
        start, duration = at[queue] + rng.randint(0, 15), rng.randint(3, 30)
        repeat = Repeat("hour", 2) if rng.random() < 0.15 and k == 0 else None
        at[queue] = start + duration + (STANDING if repeat else 0)
        users = tuple(sorted(rng.sample("uvw", rng.randint(1, 2)))) if queue == "guests" else ()
        users = tuple(u for u in users if u in world.users.values())
        world.reservations.append(
            Reservation(
                f"r{k}", queue, start, duration, rng.randint(1, most), request, users, rng.randint(-5, start), repeat
            )
        )


def _add_events(world, rng):
    jobs = [j.id for j in world.jobs]
    for _ in range(rng.randint(0, 6)):
        time = rng.randint(0, 90)
        kind = rng.choice(["stop-queue", "walltime", "walltime", "move", "delete", "requeue", "cancel-reservation"])
        if kind == "stop-queue":
            queue = rng.choice(["any", "any", "day", "private"])
            world.server.append((time, kind, queue))
            if rng.random() < 0.8:
                world.server.append((time + rng.randint(0, 40), "start-queue", queue))
        elif kind == "walltime":
            world.server.append((time, kind, rng.choice(jobs), rng.randint(1, 35)))
        elif kind == "move":
            queue = rng.choice(["any", "day", "private"] if world.reservations else ["any", "day"])
            world.server.append((time, kind, rng.choice(jobs), queue))
        elif kind in ("delete", "requeue"):
            world.server.append((time, kind, rng.choice(jobs)))
        elif world.reservations:
            world.server.append((time, kind, rng.choice(world.reservations).name))
    world.server.sort(key=lambda event: event[0])


class Story:
    """What happened in a replay: its records, the accepted reservations, and the jobs with all changes."""

    def __init__(self, world, found, production):
        self.world, self.found = world, found
        self.jobs = {j.id: j for j in world.jobs}
        self.bookings = [b for b in production.bookings if b.accepted is not None]
        self.refused = {(r.event.time, r.event.kind, r.event.subject) for r in production.refused}
        self.left = production.left
        self.private_queues = {r.queue for r in world.reservations}

    def value(self, kind, job, second, first):
        """The walltime or queue of a job in a second, after the events of this second."""
        for time, what, subject, *value in self.world.server:
            if what == kind and subject == job and time <= second and (time, what, subject) not in self.refused:
                first = value[0]
        return first

    def walltime(self, job, second):
        """The walltime of a job in a second."""
        return self.value("walltime", job, second, self.jobs[job].walltime)

    def queue(self, job, second):
        """The queue of a job in a second."""
        return self.value("move", job, second, self.jobs[job].queue)

    def inside(self, record):
        """The reservation inside of which a job ran; None for jobs of other queues."""
        if self.queue(record.job, record.start) not in self.private_queues:
            return None
        queue = self.queue(record.job, record.start)
        mine = [b for b in self.bookings if b.reservation.queue == queue and b.start <= record.start < _end(b)]
        return mine[0] if mine else "none"


def _end(booking):
    return booking.end if booking.ended is None else booking.ended


def _held(bookings, second, known=None):
    """Node, resource -> amounts that reservations hold in a second; ``known``: those accepted by then and not over."""
    held = defaultdict(int)
    for b in bookings:
        there = b.start <= second < (_end(b) if known is None or _end(b) <= known else b.end)
        if there and (known is None or (b.accepted <= known and _end(b) > known)):
            for node, units in b.nodes.items():
                for resource, amount in b.reservation.request.items():
                    held[node, resource] += units * amount
    return held


def _used(story, records):
    used = defaultdict(int)
    for r in records:
        requests = (story.jobs[r.job].request, *(request for _, request in story.jobs[r.job].further))
        for on, request in zip((r.nodes, *r.further), requests, strict=True):
            for node, units in on.items():
                for resource, amount in request.items():
                    used[node, resource] += units * amount
    return used


def _nodes(record):
    return {node for on in (record.nodes, *record.further) for node in on}


def _amounts(story):
    """In each second: jobs outside beside what is reserved, and jobs inside of a reservation in what it holds."""
    seconds = {t for r in story.found for t in range(r.start, r.end)}
    for second in sorted(seconds):
        here = [r for r in story.found if r.start <= second < r.end]
        outside = _used(story, [r for r in here if story.inside(r) is None])
        held = _held(story.bookings, second)
        for (node, resource), amount in outside.items():
            limit = story.world.capacity[node][resource] - held[node, resource]
            if amount > limit:
                yield f"second {second}: {amount} {resource} in use on {node}, {limit} are not reserved"
        for b in story.bookings:
            mine = _used(story, [r for r in here if story.inside(r) is b])
            for (node, resource), amount in mine.items():
                if amount > b.nodes.get(node, 0) * b.reservation.request.get(resource, 0):
                    yield f"second {second}: {amount} {resource} in use on {node} in reservation {b.label}"


def _walltimes(story):
    """At its start, no job could run by the walltimes of all jobs into a reservation that was accepted by then.

    A job that ends in the second of its start may have ended before others start in this second, so it is checked beside
    those that ran before.
    """
    for job in story.found:
        if story.inside(job) is not None:
            continue
        s = job.start
        last = s - (job.start == job.end)
        beside = [r for r in story.found if story.inside(r) is None and ((r.start <= last and s < r.end) or r is job)]
        for second in range(s, s + story.walltime(job.job, s)):
            there = [r for r in beside if r.start + story.walltime(r.job, s) > second]
            used, held = _used(story, there), _held(story.bookings, second, s)
            for node in _nodes(job):
                for resource, capacity in story.world.capacity[node].items():
                    if held[node, resource] and used[node, resource] + held[node, resource] > capacity:
                        yield f"{job.job} starts at {s} and could run into a reservation at {second} on {node}"


def _private(story):
    """Jobs of private queues run inside of a reservation of their queue, end in time by walltime, and are eligible."""
    for r in story.found:
        booking = story.inside(r)
        if booking == "none":
            yield f"{r.job} of a private queue starts at {r.start} outside of its reservations"
        elif booking is not None:
            users = booking.reservation.users
            if r.start + story.walltime(r.job, r.start) > booking.end or r.end > _end(booking):
                yield f"{r.job} starts at {r.start} in {booking.label} and may end after it"
            if users and story.world.users[r.job] not in users:
                yield f"{r.job} of user {story.world.users[r.job]} runs in {booking.label}"


def _stopped(story):
    """No job of a stopped queue starts."""
    for r in story.found:
        queue, stopped = story.queue(r.job, r.start), False
        for time, kind, subject, *_ in story.world.server:
            if subject == queue and time <= r.start and kind in ("stop-queue", "start-queue"):
                stopped = kind == "stop-queue"
        if stopped:
            yield f"{r.job} starts at {r.start} from the stopped queue {queue}"


def _hours(story):
    """Starts in the hours of the queue, and whole runs by walltime in them."""
    for r in story.found:
        daily = story.world.daily[story.queue(r.job, r.start)]
        rest = story.walltime(r.job, r.start) if story.queue(r.job, r.start) == "whole" else 0
        if daily and not any(lo <= r.start % DAY and r.start % DAY + rest <= hi for lo, hi in daily):
            yield f"{r.job} starts at {r.start}, outside of the hours of its queue"


def _ends(story):
    """Each last attempt does all work, or ends for the reason that it gives."""
    last = {r.job: r for r in sorted(story.found, key=lambda r: r.number)}
    for job, r in last.items():
        runtime = story.jobs[job].runtime
        limit = story.walltime(job, r.end)
        deleted = [t for t, kind, subject, *_ in story.world.server if kind == "delete" and subject == job]
        if r.why == "completed":
            good = r.end - r.start == runtime and not (story.world.kill and runtime > limit)
        elif r.why == "walltime":
            good = story.world.kill and r.end - r.start >= min(limit, runtime)
        elif r.why == "deleted":
            good = r.end in deleted
        elif r.why == "requeued":  # it does not start again
            good = (r.end, "requeue", job) in story.world.server
        elif r.why.startswith("reservation: "):  # it overran its walltime and ends when the reservation starts
            label = r.why.removeprefix("reservation: ")
            good = any(b.label == label and b.start == r.end and set(b.nodes) & _nodes(r) for b in story.bookings)
            good &= r.start + limit <= r.end
        elif r.why.startswith("reservation "):
            inside = story.inside(r)
            good = inside is not None and r.end == _end(inside)
        else:
            good = r.why.startswith("down: ")
        if not good:
            yield f"{job} ends at {r.end} as {r.why}"
        if any(r.start < t < r.end for t in deleted):
            yield f"{job} runs from {r.start} to {r.end}, but is deleted"


RULES = [_amounts, _walltimes, _private, _stopped, _hours, _ends]


def faults(world, found, production):
    """All faults of a replay, as texts."""
    story = Story(world, found, production)
    plain = [f for rule in (_states, _units) for f in rule(world, found, set())]
    moved = {s for _, kind, s, *_ in world.server if kind == "move"}
    plain += list(_calendars(world, [r for r in found if r.job not in moved], set()))
    return plain + [fault for rule in RULES for fault in rule(story)]
