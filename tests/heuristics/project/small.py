"""Random small projects."""

import itertools
import random

from schedlab.models import Mode, Project, Resource, Task


def random_project(seed: int, tasks: int = 6, share: float = 0.3, budget: tuple[int, int] = (4, 12)) -> Project:
    """Make a project with up to three modes, two renewable and two non-renewable resources, delays of both signs."""
    rng = random.Random(seed)
    made = [
        Task(
            f"t{k}",
            tuple(
                Mode(
                    str(m),
                    rng.randint(0, 4),
                    {r: rng.randint(0, 3) for r in ("r", "s", "n", "o") if rng.random() < 0.8},
                )
                for m in range(rng.randint(1, 3))
            ),
        )
        for k in range(tasks)
    ]
    pairs = itertools.combinations(made, 2)
    links = [(a.name, b.name, rng.choice((0, 0, 0, 2, -2))) for a, b in pairs if rng.random() < share]
    limits = [Resource(r, rng.randint(3, 5)) for r in "rs"]
    return Project(made, [*limits, *(Resource(r, rng.randint(*budget), renewable=False) for r in "no")], links)


def job_shop(seed: int, jobs: int = 4, machines: int = 3) -> Project:
    """Make a job shop: each job visits all machines, in an order of its own."""
    rng = random.Random(seed)
    tasks, links = [], []
    for j in range(jobs):
        order = rng.sample(range(machines), machines)
        tasks += [Task.single(f"{j}.{k}", rng.randint(1, 9), {f"m{m}": 1}) for k, m in enumerate(order)]
        links += [(f"{j}.{k}", f"{j}.{k + 1}") for k in range(machines - 1)]
    return Project(tasks, [Resource(f"m{m}", 1) for m in range(machines)], links)


def random_shop(seed: int, tasks: int = 9) -> Project:
    """Make a shop with three machines, any precedences, delays, up to three modes, modes of duration 0 and without a machine."""
    rng = random.Random(seed)

    def mode(m: int) -> Mode:
        demands = {f"m{rng.randrange(3)}": 1} if rng.random() < 0.85 else {}
        return Mode(str(m), rng.choice((0, *range(1, 10))), demands)

    made = [Task(f"t{k}", tuple(mode(m) for m in range(rng.choice((1, 1, 2, 3))))) for k in range(tasks)]
    names = rng.sample([t.name for t in made], tasks)  # the order of the project is not a topological one
    pairs = itertools.combinations(names, 2)
    links = [(a, b, rng.choice((0, 0, 0, 2))) for a, b in pairs if rng.random() < 0.15]
    return Project(made, [Resource(f"m{m}", 1) for m in range(3)], links)
