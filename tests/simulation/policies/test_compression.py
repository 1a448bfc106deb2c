"""Conservative backfilling, start by start, against a plain reference of its steps that tries every reservation."""

import heapq
import math
from dataclasses import replace

import pytest
import schedlab as sl
from draws import some_now
from schedlab.instances import lublin_workload
from simulation.policies.test_plans import earliest, machine, workload, world


def free_over_time(blocks, processors, now):
    """{time: free processors} from now on beside the blocks (begin, end, processors)."""
    times = {now, *(t for begin, end, _ in blocks for t in (begin, end) if t >= now)}
    return {t: processors - sum(u for begin, end, u in blocks if begin <= t < end) for t in times}


def conservative(rows, processors):
    """Starts under conservative backfilling in the order of submission; steps of ``policies.conservative``."""
    starts, reserved, running, waiting, arrived = {}, {}, [], [], 0
    events, wake = sorted({s for s, *_ in rows}), math.inf  # submissions and ends; the next reservation
    while events or wake < math.inf:
        now = min([wake, *events[:1]])
        wake = math.inf if wake <= now else wake
        while events and events[0] == now:
            heapq.heappop(events)
        early = any(starts[k] + rows[k][1] <= now < starts[k] + rows[k][2] for k in running)
        running = [k for k in running if starts[k] + rows[k][1] > now]
        late = any(starts[k] + rows[k][2] <= now for k in running)
        while arrived < len(rows) and rows[arrived][0] <= now:
            waiting.append(arrived)
            arrived += 1
        taken = [(now, max(now + 1, starts[k] + rows[k][2]), rows[k][3]) for k in running]

        def others(taken=taken):
            return [*taken, *((s, s + rows[k][2], rows[k][3]) for k, s in reserved.items())]

        crowded = min(free_over_time(others(), processors, now).values()) < 0
        deleted = any(s < now for s in reserved.values()) or crowded
        if deleted:
            reserved.clear()
        for k in list(waiting):
            if early or deleted:
                reserved.pop(k, None)
            if k not in reserved:
                reserved[k] = earliest(free_over_time(others(), processors, now), rows[k][3], rows[k][2])
            if reserved[k] == now:
                starts[k] = now
                del reserved[k]
                running.append(k)
                waiting.remove(k)
                taken.append((now, now + rows[k][2], rows[k][3]))
                heapq.heappush(events, now + rows[k][1])
        wake = min([wake, *(s for s in reserved.values() if s > now + late)])
    return [starts[k] for k in range(len(rows))]


@pytest.mark.parametrize("seed", some_now(range(16), 4))
def test_starts_are_those_of_trying_every_reservation(seed):
    rows = world(seed, jobs=80)
    found = sl.simulate(workload(rows), machine(12), "conservative")
    assert found.violations == []
    assert found.start.tolist() == conservative(rows, 12)


@pytest.mark.parametrize("seed", range(3))
def test_a_long_queue_moves_as_if_every_reservation_were_tried(seed):
    jobs = lublin_workload(600, seed=seed, nodes=64, load=3.0, longest=7200)
    always = replace(jobs, queues=(sl.Queue("batch", 3600, ((0, 86_399),)),))  # jobs with calendars are always tried
    nodes = sl.Platform([sl.NodeGroup("n", 64, {"cores": 1})])
    found, tried = (sl.simulate(log, nodes, "conservative") for log in (jobs, always))
    assert found.metrics.queue_max > 50
    assert found.start.tolist() == tried.start.tolist()
    assert found.first_reserved.tolist() == tried.first_reserved.tolist()
