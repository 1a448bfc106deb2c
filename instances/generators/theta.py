"""Moments of the supercomputer Theta for the eviction problem, generated as in Maurya et al. 2020, section IV.

What the paper gives: 4,352 nodes in use by 12, 16 or 24 jobs, none of which has run for less than half an hour; an
application-level checkpoint every hour; memory in use 40 to 90 % of a node's 192 GB, of which the application writes 20 to
60 %, both uniform per job; a file system of 250 GB/s and a node's SSD of 700 MB/s; 512, 1,024 and 2,048 nodes to free, within
15 minutes in steps of a minute.

What is ours: the bandwidth of a node towards the file system, which the paper does not tell, is that of its SSD, 700 MB/s;
GB are 1,024 MB. Three of four jobs have multiples of 128 nodes, as most on Theta have, made by giving one block after
another to a job drawn in proportion to its size; the others have 1 to 256 nodes, and the first of them what is left over
(for many jobs on few nodes the block is halved until they fit). Starts are uniform over the five and a half hours that end
half an hour ago. Random numbers come from ``random.Random(seed).random()`` alone.
"""

from __future__ import annotations

from random import Random

from ...models.eviction.problem import BatchJob, Checkpointing, Eviction
from ..instance import Instance

VERSION = 1
SOURCE = "A. Maurya, B. Nicolae, I. Guliani, M. M. Rafique: CoSim, DS-RT 2020, sections IV.A, IV.B and IV.D"
NODES, BLOCK = 4352, 128
NOW, SHORTEST = 6 * 3600, 1800
NEEDED = (512, 1024, 2048)
SCENARIOS = {12: 512, 16: 1024, 24: 2048}
DEADLINE, STEP = 900, 60


def generate(jobs: int, seed: int, nodes: int = NODES) -> Instance:
    """A moment at which ``jobs`` jobs use ``nodes`` nodes; the same arguments give the same instance. Raises ValueError.

    >>> generate(jobs=24, seed=1).eviction.nodes_in_use
    4352
    """
    if not 1 <= jobs <= nodes // 2:
        raise ValueError(f"{nodes} nodes hold 1 to {nodes // 2} jobs here, not {jobs}")
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
        description=f"A generated moment of the Theta supercomputer: {jobs} jobs on {nodes} nodes, {needed} to be freed",
        source=SOURCE,
        generator={"name": "theta", "version": VERSION, "seed": seed, "jobs": jobs, "nodes": nodes},
        nodes_compared=tuple(n for n in NEEDED if n != needed and n <= nodes),
    )


def _below(n: int, random: Random) -> int:
    """Uniform in 0..n-1."""
    return int(random.random() * n)


def _sizes(jobs: int, nodes: int, random: Random) -> list[int]:
    """Sizes that add up to ``nodes``, in random order."""
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
            ticket, k = ticket - blocks[k], k + 1
        blocks[k] += 1
    sizes = [left % block + size if k == 0 else size for k, size in enumerate([*sizes, *(block * b for b in blocks)])]
    for i in range(jobs - 1, 0, -1):  # Fisher-Yates; random.shuffle may change between versions
        k = _below(i + 1, random)
        sizes[i], sizes[k] = sizes[k], sizes[i]
    return sizes
