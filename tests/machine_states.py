"""Small states of a machine, as the JSON files of ``bench decide`` have them."""

from random import Random
from typing import Any

NOW = 1_700_000_000  # 2023-11-14, 22:13:20 UTC


def small_state(**changes: Any) -> dict[str, Any]:
    """Return four nodes of 8 cores: n1 and n2 run a job for another 100 s, n3 is free, n4 drains."""
    nodes = [{"name": f"n{k}", "state": "draining" if k == 4 else "up", "capacity": {"cores": 8}} for k in range(1, 5)]
    state = {
        "schema": "schedlab-state",
        "version": 1,
        "now": NOW,
        "queues": [{"name": "batch", "ewt": 3600}],
        "nodes": nodes,
        "running": [
            {"id": "r", "start": NOW - 100, "walltime": 200, "nodes": {"n1": {"cores": 8}, "n2": {"cores": 6}}}
        ],
        "waiting": [
            waiting("wide", NOW - 60, 3, 8, 500),
            waiting("long", NOW - 50, 1, 8, 600),
            waiting("short", NOW - 40, 1, 8, 90),
        ],
    }
    return state | changes


def waiting(name: str, submit: int, units: int, cores: int, walltime: int, **more: Any) -> dict[str, Any]:
    """Return a waiting job."""
    job = {"id": name, "submit": submit, "walltime": walltime, "units": units, "request": {"cores": cores}}
    return job | {"queue": "batch"} | more


def random_state(seed: int, nodes: int = 12, jobs: int = 15) -> dict[str, Any]:
    """Return a state with shared nodes, late jobs, held amounts, down nodes, and a queue that is closed now."""
    r = Random(seed)
    free = {f"n{k}": {"cores": 8, "memory": 100} for k in range(nodes)}
    running = []
    for k in range(nodes):
        uses = {}
        for node in r.sample(sorted(free), r.randint(1, 3)):
            amounts = {"cores": r.randint(0, 4), "memory": r.randint(0, 50)}
            if all(free[node][name] >= n for name, n in amounts.items()):
                free[node] = {name: free[node][name] - n for name, n in amounts.items()}
                uses[node] = amounts
        walltime = r.randint(10, 5000)
        start = NOW - r.randint(0, walltime + 100)  # some run longer than their walltimes
        running += [{"id": f"r{k}", "start": start, "walltime": walltime, "nodes": uses}] if uses else []
    listed = [
        {"name": name, "state": r.choice(["up"] * 6 + ["down", "draining"]), "capacity": {"cores": 8, "memory": 100}}
        for name in free
    ]
    for node in listed[:2]:
        node["free"] = {"cores": r.randint(0, free[str(node["name"])]["cores"])}
    queued = [
        waiting(f"w{k}", NOW - r.randint(0, 9000), r.randint(1, 6), r.randint(0, 8), r.randint(1, 4000))
        | {"queue": r.choice(["batch", "batch", "night"])}
        for k in range(jobs)
    ]
    for job in queued:
        job["request"] |= {"memory": r.randint(0, 60)}
    queues = [{"name": "batch"}, {"name": "night", "start_between": [["23:00", "05:00"]]}]
    return small_state(nodes=listed, running=running, waiting=queued, queues=queues)


def reservation(name: str, start: int, end: int, nodes: dict[str, int], **more: Any) -> dict[str, Any]:
    """Return a reservation from and to seconds after now; ``nodes``: the cores on each."""
    held = {node: {"cores": cores} for node, cores in nodes.items()}
    return {"name": name, "start": NOW + start, "end": NOW + end, "nodes": held} | more


def with_reservations(state: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return a random state with reservations: some have begun, some overlap each other or running jobs."""
    r = Random(seed)
    queues = [*state["queues"], {"name": "private"}]
    names = [node["name"] for node in state["nodes"]]
    listed = []
    for k in range(r.randint(1, 5)):
        begin = r.choice([-600, -50, 0, 1, r.randint(1, 3000)])
        nodes = {
            name: {"cores": r.choice([8, 8, r.randint(0, 8)]), "memory": r.randint(0, 100)}
            for name in r.sample(names, r.randint(1, len(names)))
        }
        nodes[names[-1]] = {"cores": 1}
        queue = {"queue": "private"} if k % 2 else {}
        listed.append({"name": f"m{k}", "start": NOW + begin, "end": NOW + r.randint(1, 6000), "nodes": nodes} | queue)
        listed[-1]["end"] = max(listed[-1]["end"], listed[-1]["start"] + 1)
    running = [job | {"queue": r.choice(["batch", "private"])} for job in state["running"]]
    waiting = [job | {"queue": r.choice([job["queue"]] * 9 + ["private"])} for job in state["waiting"]]
    return state | {"queues": queues, "reservations": listed, "running": running, "waiting": waiting}


def with_chunks(state: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return a random state in which about every second waiting job has two or three chunks."""
    r = Random(seed)
    jobs = []
    for job in state["waiting"]:
        further = [
            {"units": r.randint(1, 3), "request": {"cores": r.randint(1, 8), "memory": r.randint(0, 60)}}
            for _ in range(r.randint(-1, 2))
        ]
        one = {"units": job["units"], "request": job["request"]}
        rest = {key: value for key, value in job.items() if key not in one}
        jobs.append(rest | {"chunks": [one, *further]} if further else job)
    return state | {"waiting": jobs}
