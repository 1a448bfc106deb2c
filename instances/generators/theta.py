"""Generator of eviction instances: snapshots of the supercomputer Theta as in [Maurya2020, IV].

Taken from [Maurya2020]: 4,352 nodes are used by 12, 16 or 24 jobs, each of which has run for at least half an hour; an
application-level checkpoint every hour; the memory in use is 40 to 90 % of the 192 GB of a node, of which the
application writes 20 to 60 %, both uniform per job; the file system has 250 GB/s, the SSD of a node 700 MB/s; 512,
1,024 or 2,048 nodes are to be freed within 15 minutes, in steps of one minute.

Own assumptions: the bandwidth of a node to the file system, which the paper does not give, is that of its SSD, 700
MB/s; 1 GB is 1,024 MB. Three of four jobs have multiples of 128 nodes, as most jobs on Theta have: blocks of 128 nodes
are given one after another to a job drawn with probability proportional to its size. The other jobs have 1 to 256
nodes, and the first of them also gets the remaining nodes (for many jobs on few nodes the block is halved until the
jobs fit). Start times are uniform over the five and a half hours that end half an hour before now. All random numbers
come from ``random.Random(seed).random()``.
"""

from __future__ import annotations

from random import Random

from ...errors import WrongValue
from ...models.eviction.jobs import BatchJob, Checkpointing
from ...models.eviction.problem import Eviction
from ...models.words import how_many
from ..instance import Instance

VERSION = 1
SOURCE = "A. Maurya, B. Nicolae, I. Guliani, M. M. Rafique: CoSim, DS-RT 2020, sections IV.A, IV.B and IV.D"
NODES = 4352
BLOCK = 128
NOW = 6 * 3600
SHORTEST = 1800
NEEDED = (512, 1024, 2048)
SCENARIOS = {12: 512, 16: 1024, 24: 2048}
DEADLINE = 900
STEP = 60


def generate(jobs: int, seed: int, nodes: int = NODES) -> Instance:
    """Generate a snapshot of ``jobs`` jobs on ``nodes`` nodes, reproducible by ``seed``. Raises ValueError.

    >>> generate(jobs=24, seed=1).eviction.nodes_in_use
    4352
    """
    if not 1 <= jobs <= nodes // 2:
        raise WrongValue(f"jobs is {jobs}; expected 1 to {how_many(nodes // 2, 'job')} on {how_many(nodes, 'node')}")
    random = Random(seed)
    how = Checkpointing(seed=seed)
    running = []
    for k, size in enumerate(_sizes(jobs, nodes, random)):
        start = _below(NOW - SHORTEST + 1, random)
        name = f"j{k + 1:0{len(str(jobs))}d}"
        running.append(BatchJob(name, size, start, *how.around(start, NOW), *how.draw(random)))
    needed = min(SCENARIOS.get(jobs, nodes // 4), nodes)
    problem = Eviction(running, needed, DEADLINE, STEP, NOW, how.file_system_mb_s, how.node_mb_s)
    return Instance(
        name=f"theta_{jobs}",
        kind="eviction",
        problem=problem,
        description=f"A generated moment of the Theta supercomputer: {how_many(jobs, 'job')} on {how_many(nodes, 'node')}, {needed} to be freed",
        source=SOURCE,
        generator={"name": "theta", "version": VERSION, "seed": seed, "jobs": jobs, "nodes": nodes},
        nodes_compared=tuple(n for n in NEEDED if n != needed and n <= nodes),
    )


def _below(n: int, random: Random) -> int:
    """Draw a whole number uniformly from 0..n-1."""
    return int(random.random() * n)


def _sizes(jobs: int, nodes: int, random: Random) -> list[int]:
    """Return sizes of jobs that add up to ``nodes``, in random order."""
    odd = jobs // 4
    even = jobs - odd
    block = BLOCK
    while block > 1 and block * (even + 2 * odd) > nodes:
        block //= 2
    sizes = [1 + _below(2 * block, random) for _ in range(odd)]
    blocks = [1] * even
    left = nodes - sum(sizes) - block * even
    for _ in range(left // block):
        ticket = _below(sum(blocks), random)
        k = 0
        while ticket >= blocks[k]:
            ticket = ticket - blocks[k]
            k = k + 1
        blocks[k] += 1
    sizes = [left % block + size if k == 0 else size for k, size in enumerate([*sizes, *(block * b for b in blocks)])]
    for i in range(jobs - 1, 0, -1):  # Fisher-Yates; random.shuffle may change between versions
        k = _below(i + 1, random)
        sizes[i], sizes[k] = sizes[k], sizes[i]
    return sizes
