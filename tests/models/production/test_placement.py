"""Feasibility of reservations and jobs: known cases, and a CP model and enumeration of random small machines."""

import random
from itertools import combinations_with_replacement

import numpy as np
import schedlab as sl
from schedlab.models import Job, NodeGroup, Platform
from schedlab.models.reservations import Refusal, Repeat, Reservation, Usage, job_refusal, overuse, place

MACHINE = Platform([NodeGroup("a", 2, {"cores": 4, "gpus": 1}), NodeGroup("b", 1, {"cores": 8})])


def ask(units, start, duration, request, uses=(), allowed=None, platform=MACHINE):
    asked = Reservation("r", "q", start, duration, units, request).occurrences()[0]
    return place(platform, Usage.of(platform, uses), asked, allowed)


def test_best_fit_takes_the_fullest_nodes_first():
    assert ask(1, 0, 9, {"cores": 2}) == {"b-1": 1}  # free / capacity: 2 on a node with cores and gpus, 1 on b-1
    running = [({"a-2": 1}, {"cores": 2, "gpus": 1}, -5, 5)]
    assert ask(2, 0, 9, {"cores": 2}, running) == {"a-2": 1, "b-1": 1}
    assert ask(2, 5, 9, {"cores": 2}, running) == {"b-1": 2}  # the job has ended


def test_a_refusal_names_the_resource_the_time_and_what_lacks():
    running = [({"b-1": 1}, {"cores": 5}, 0, 20), ({"a-1": 1}, {"gpus": 1}, 30, 40)]
    assert ask(5, 0, 9, {"cores": 2}, running) == {"a-1": 2, "a-2": 2, "b-1": 1}
    assert ask(6, 10, 15, {"cores": 2}, running) == Refusal("reservation 'r'", "cores", 10, 6, 5, 2)
    late = ask(2, 10, 25, {"cores": 1, "gpus": 1}, running)
    assert late == Refusal("reservation 'r'", "gpus", 30, 2, 1, 1)
    assert "at 30 1 gpus lack; 1 of 2 units fit" in str(late)
    # each of the resources is there at each time, but not on one node for the whole time
    shifted = [({"a-1": 1}, {"cores": 4}, 0, 10), ({"a-2": 1}, {"gpus": 1}, 0, 20), ({"b-1": 1}, {"cores": 8}, 0, 20)]
    found = ask(1, 0, 20, {"cores": 4, "gpus": 1}, shifted)
    assert found.together and found.fit == 0 and "for the whole time" in str(found)


def test_nodes_that_are_not_allowed_are_not_used():
    assert ask(3, 0, 9, {"cores": 4}, allowed=np.array([True, True, False])).fit == 2
    assert ask(2, 0, 9, {"cores": 4}, allowed=np.array([False, True, True])) == {"b-1": 2}


def test_each_repetition_is_checked_by_itself():
    standing = Reservation("r", "q", 0, 10, 3, {"cores": 4}, repeat=Repeat("hour", 3))
    running = Usage.of(MACHINE, [({"b-1": 2}, {"cores": 4}, 0, 3605)])
    answers = [place(MACHINE, running, o) for o in standing.occurrences()]
    assert [isinstance(a, Refusal) for a in answers] == [True, True, False]
    assert str(answers[1]).startswith("reservation 'r#2' is refused: at 3600 4 cores lack")


def feasible(platform, uses, units, request, start, end):
    """The model 4.5: each unit has an alternative over the nodes; every node and resource is a cumulative."""
    m = sl.Model("reservation")
    size, shift = end - start, max(0, -min([0, *(begin for *_, begin, _ in uses)]))
    lies = {"size": size, "start": start + shift}
    options = {}
    for unit in range(units):
        each = {node: m.interval(f"{unit} on {node}", optional=True, **lies) for node in platform.nodes}
        m.add(sl.alternative(m.interval(f"unit {unit}", **lies), list(each.values())))
        for node, interval in each.items():
            options.setdefault(node, []).append(interval)
    for node, vector in platform.capacity.items():
        for resource, capacity in zip(platform.resources, vector, strict=True):
            taken = [
                (m.interval(f"{k} on {node} {resource}", size=to - begin, start=begin + shift), n[node] * q[resource])
                for k, (n, q, begin, to) in enumerate(uses)
                if node in n and q.get(resource)
            ]
            rows = [(i, request.get(resource, 0)) for i in options[node]] + taken
            m.add(sl.cumulative([i for i, _ in rows], [d for _, d in rows], capacity))
    return sl.solve(m, backend="cpsat", time_limit=20).status in ("optimal", "feasible")


def random_case(seed):
    """A machine with uses that fit, and a reservation."""
    rng = random.Random(seed)
    platform = Platform([NodeGroup(name, 1, {"cores": rng.randint(1, 4), "gpus": rng.randint(0, 2)}) for name in "abc"])
    uses = []
    for _ in range(rng.randint(0, 6)):
        begin, node = rng.randint(-5, 12), rng.choice(platform.nodes)
        use = ({node: 1}, {"cores": rng.randint(0, 3), "gpus": rng.randint(0, 1)}, begin, begin + rng.randint(1, 9))
        if not list(overuse(platform, Usage.of(platform, [*uses, use]), -10, 40)):
            uses.append(use)
    request = {"cores": rng.randint(1, 2), "gpus": rng.randint(0, 1)}
    start = rng.randint(0, 12)
    return platform, uses, rng.randint(1, 4), request, start, start + rng.randint(1, 9)


def test_reservations_are_accepted_exactly_if_the_constraint_model_is_feasible():
    answers = []
    for seed in range(60):
        platform, uses, units, request, start, end = random_case(seed)
        answer = ask(units, start, end - start, request, uses, platform=platform)
        accepted = not isinstance(answer, Refusal)
        assert accepted == feasible(platform, uses, units, request, start, end), f"seed {seed}"
        answers.append(accepted)
        if accepted:  # and the placement itself fits
            placed = (answer, request, start, end)
            assert not list(overuse(platform, Usage.of(platform, [*uses, placed]), -10, 40))
            assert sum(answer.values()) == units
    assert 15 < sum(answers) < 45


def test_refusals_agree_with_enumeration():
    """``fit`` of a refusal by one resource: no multiset of nodes has more units by that resource at that time."""
    seen = 0
    for seed in range(200):
        platform, uses, units, request, start, end = random_case(seed)
        answer = ask(units, start, end - start, request, uses, platform=platform)
        if not isinstance(answer, Refusal) or answer.together:
            continue
        seen += 1
        used = Usage.of(platform, uses).at(answer.time, 3)
        r = platform.resources.index(answer.resource)
        free = [platform.capacity[n][r] - int(used[k, r]) for k, n in enumerate(platform.nodes)]
        most = max(
            count
            for count in range(units + 1)
            for chosen in combinations_with_replacement(range(3), count)
            if all(chosen.count(n) * answer.amount <= free[n] for n in range(3))
        )
        assert most == answer.fit < units and start <= answer.time < end
    assert seen > 20


def test_jobs_that_never_fit_and_jobs_that_do_not_fit_now():
    job = Job("j", 7, 60, 3, {"cores": 4, "gpus": 1}, "q")
    assert job_refusal(MACHINE, job) == Refusal("job 'j'", "gpus", 7, 3, 2, 1)
    job = Job("j", 7, 60, 2, {"cores": 4, "gpus": 1}, "q")
    assert job_refusal(MACHINE, job) is None
    assert job_refusal(MACHINE, job, np.array([False, True, True]), 50) == Refusal("job 'j'", "gpus", 50, 2, 1, 1)
    nothing = Job("j", 7, 60, 9, {}, "q")
    assert job_refusal(MACHINE, nothing) is None
    assert job_refusal(MACHINE, nothing, np.zeros(3, bool)).resource == "nodes"
    assert job_refusal(MACHINE, Job("j", 7, 60, 1, {"mics": 2}, "q")).resource == "mics"


def test_overuse_names_the_first_time():
    uses = [({"a-1": 1}, {"cores": 3}, 0, 50), ({"a-1": 1}, {"cores": 2}, 40, 60), ({"a-1": 1}, {"cores": 2}, 45, 60)]
    assert [(o.node, o.time, o.used) for o in overuse(MACHINE, Usage.of(MACHINE, uses), 0, 99)] == [("a-1", 40, 5)]
    assert not list(overuse(MACHINE, Usage.of(MACHINE, uses[1:]), 0, 99))


def test_a_heterogeneous_job_is_refused_by_the_chunk_that_lacks_room():
    machine = Platform([NodeGroup("n", 2, {"cores": 4})])

    def refusal(*chunks, allowed=None):
        return job_refusal(machine, Job.of_chunks("j", 7, 60, chunks, "q"), allowed)

    assert refusal((1, {"cores": 3}), (5, {"cores": 1})) is None
    assert refusal((1, {"cores": 3}), (1, {"cores": 5})) == Refusal("job 'j', chunk 1,", "cores", 7, 1, 0, 5)
    beside = "job 'j', chunk 1 beside its other chunks,"
    assert refusal((2, {"cores": 3}), (1, {"cores": 2})) == Refusal(beside, "cores", 7, 1, 0, 2)
    one = np.array([True, False])
    assert refusal((1, {"cores": 3}), (1, {"cores": 2}), allowed=one) == Refusal(beside, "cores", 7, 1, 0, 2)
    assert refusal((2, {"cores": 0}), (1, {"cores": 4}), allowed=one) is None
