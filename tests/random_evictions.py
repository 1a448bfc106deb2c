"""Random eviction problems, and their best plans by trying all of them; shared by the tests and ``make known``."""

import itertools
import random

from schedlab.models import BatchJob, Eviction, EvictionCandidate, EvictionPlan

STEPS = (1, 7, 60)


def random_eviction(rng: random.Random, jobs: int) -> Eviction:
    """Small numbers, so that losses, times and nodes are often equal; some checkpoints are not possible."""
    made = []
    for k in range(jobs):
        system = rng.choice([None, rng.randint(0, 400), rng.randint(0, 400) + 0.5])
        application = rng.choice([None, rng.randint(0, 300), system])
        nodes, loss = rng.choice([1, 2, 4, 8, 16]) * rng.choice([1, 1, 3]), rng.randint(0, 50) * rng.choice([1, 100])
        made.append(EvictionCandidate(f"j{k}", nodes, loss, system, application))
    needed = rng.randint(0, sum(j.nodes for j in made))
    return Eviction(made, needed, rng.randint(0, 900), rng.choice(STEPS))


def random_shared(rng: random.Random, jobs: int) -> Eviction:
    """Jobs that draw up to the whole bandwidth, most of them less than half of it."""
    made, now = [], 5000
    for k in range(jobs):
        start = rng.randint(0, now)
        last = rng.choice([None, rng.randint(start, now)])
        after = rng.choice([None, now + rng.randint(0, 300)])
        made.append(BatchJob(f"j{k}", rng.randint(1, 6), start, last, after, rng.randint(0, 90_000), rng.random()))
    needed = rng.randint(0, sum(j.nodes for j in made))
    return Eviction(made, needed, rng.randint(60, 400), 60, now, 1500, 350, shared_bandwidth=True)


def best_by_enumeration(p: Eviction) -> tuple[int, int, int]:
    """Loss, checkpoint time and minus the application-level checkpoints of the best plan, over all strategies."""
    ways = [["keep", "kill", *p.checkpoint_steps[c.id]] for c in p.candidates]
    plans = (EvictionPlan(dict(zip(p.by_id, chosen, strict=True))) for chosen in itertools.product(*ways))
    return min((*p.value(plan), -applications(plan)) for plan in plans if not p.verify(plan))


def applications(plan: EvictionPlan) -> int:
    return list(plan.strategy.values()).count("app")
