"""Replays of small worlds with reservations and server events, checked second by second."""

import pytest
import schedlab as sl
from schedlab.models.reservations import Reservation
from schedlab.simulation import CPDispatcher, CPModel, Decision, Portfolio, SimulationError, Start
from simulation.production_worlds import faults, production_world
from simulation.second_by_second import records


class BesideReservations:
    """A dispatcher in Python: first fit of the jobs that end before all reservations, on nodes that are up."""

    name = "beside"
    needs = frozenset({"one-chunk"})

    def begin(self, platform, queues, seed):
        """Nothing to prepare."""

    def decide(self, moment):
        """Start what fits and ends in time."""
        free, starts = moment.free.copy(), []
        for job, may_start in zip(moment.waiting, moment.may_start, strict=True):
            request = [job.request.get(r, 0) for r in moment.platform.resources]
            later = {n for r in moment.reserved if moment.now < r.start < moment.now + job.walltime for n in r.nodes}
            nodes, left = {}, job.units if may_start else 0
            for n, name in enumerate(moment.platform.nodes):
                if left and moment.states[n] == "up" and name not in later:
                    fits = min([left, *(int(f) // q for f, q in zip(free[n], request, strict=True) if q)])
                    if fits:
                        nodes[name], left = fits, left - fits
            if nodes and not left:
                for name, units in nodes.items():
                    free[moment.platform.nodes.index(name)] -= [units * q for q in request]
                starts.append(Start(job.id, nodes))
        return Decision(starts)


DISPATCHERS = {
    "fcfs": "fcfs", "rule:wt": "rule:wt", "easy": "easy", "conservative": "conservative", "pbs-fifo": "pbs-fifo",
    "beside": BesideReservations,
}  # fmt: skip


def replay(world, dispatcher, **options):
    """The simulation, of a failed replay as far as it went."""
    try:
        run = sl.simulate(
            world.problem(), dispatcher=dispatcher, events=world.events(), reservations=world.reservations,
            requeue=world.requeue, kill_at_walltime=world.kill, **options,
        )  # fmt: skip
    except SimulationError as e:
        assert e.waiting, e
        return e.partial, e.waiting
    assert run.violations == []
    return run, {}


EVENTS = ("accepted", "refused", "inside", "left", "killed", "refused events", "waiting")


def check(seeds, dispatcher, outages=True, chunks=True, **options):
    """Replay and check worlds; return how often things happened."""
    seen = dict.fromkeys((*EVENTS, *(("heterogeneous", "heterogeneous inside") if chunks else ())), 0)
    for seed in seeds:
        world = production_world(seed, outages=outages, chunks=chunks)
        run, waiting = replay(world, dispatcher, **options)
        record = run.production
        if record is None:
            continue
        assert faults(world, records(run), record) == [], f"seed {seed}"
        outcomes = [b.outcome for b in record.bookings]
        assert set(outcomes) <= {"over", "refused", "cancelled"}, f"seed {seed}"
        seen["accepted"] += sum(b.accepted is not None for b in record.bookings)
        seen["refused"] += outcomes.count("refused")
        seen["inside"] += len(record.private)
        seen["left"] += len(record.left)
        seen["killed"] += sum(
            why.startswith("reservation: ") for why in (run.history.dropped if run.history else {}).values()
        )
        seen["refused events"] += len(record.refused)
        seen["waiting"] += bool(waiting)
        if chunks:
            inside = {p.row for p in record.private}
            seen["heterogeneous"] += sum(k not in inside and run.start[k] >= 0 for k in run.workload.chunks)
            seen["heterogeneous inside"] += sum(k in inside for k in run.workload.chunks)
    return seen


@pytest.mark.parametrize("name", DISPATCHERS)
def test_replays_of_small_worlds_have_no_fault(name):
    seen = check(range(30), DISPATCHERS[name], chunks=name != "beside")
    assert min(seen.values()) > 0 and seen["inside"] > 5 and seen["refused"] > 10, seen


CP_DISPATCHERS = {
    "hcp3@cpsat": "hcp3@cpsat", "pcp3@cpsat": "pcp3@cpsat", "hcp@cpsat": "hcp@cpsat", "hcp3-d@cpsat": "hcp3-d@cpsat",
    "hcp3@highs": lambda: CPDispatcher("hcp", 3, "highs", deterministic=1), "mks+wt+nl@cpsat": "mks+wt+nl@cpsat",
    "adaptive": lambda: CPDispatcher("hcp", 3, deterministic=0.1, adaptive=True), "wt@cpsat": "wt@cpsat",
    "cpmodel@cpsat": lambda: CPModel("cpsat", deterministic=0.1),
    "cpmodel:units": lambda: CPModel("cpsat", "units", deterministic=0.1),
    "cpmodel:makespan": lambda: CPModel("cpsat", objective="makespan", deterministic=0.1),
    "portfolio@cpsat": lambda: Portfolio("cpsat", threshold=15, deterministic=0.1),
}  # fmt: skip


@pytest.mark.parametrize("name", CP_DISPATCHERS)
def test_cp_dispatchers_keep_reservations_and_start_chunks_together(name):
    seen = check(range(10), CP_DISPATCHERS[name])
    assert seen["inside"] > 0 and seen["accepted"] > 10 and seen["heterogeneous"] > 0, seen


@pytest.mark.parametrize("name", ["fcfs", "rule:wt", "rule:wt-strict", "easy", "conservative", "pbs-fifo"])
def test_policies_beside_a_reservation_that_concerns_no_job_decide_as_without(name):
    """The kernel for reservations gives the starts and nodes of the plain kernels."""
    for seed in range(12):
        world = production_world(seed, reservations=False, server=False)
        plain, left = replay(world, name)
        world.reservations = [Reservation("late", "private", 900_000, 5, 1, {"cores": 1})]
        beside, same = replay(world, name)
        assert records(plain) == records(beside) and left == same, f"seed {seed}"
