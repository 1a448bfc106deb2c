"""Code as a user writes it: ``mypy --strict`` passes on it (``.ci/run``), and ``test_user_code`` runs it."""

from __future__ import annotations

from collections.abc import Sequence

import schedlab as sl
from schedlab import methods
from schedlab.simulation import Decision, Moment, Start


def noon() -> sl.Dispatch:
    """Return a small dispatch problem."""
    platform = sl.Platform([sl.NodeGroup("cpu", 4, {"cores": 16}), sl.NodeGroup("gpu", 1, {"cores": 16, "gpus": 2})])
    jobs = [sl.Job(f"j{k}", k, 30 + 7 * k % 40, 1 + k % 2, {"cores": 5 + 2 * (k % 4)}, "q") for k in range(8)]
    return sl.Dispatch(platform, jobs, [sl.Queue("q", ewt=60)], "weighted-wait")


class FirstOnly:
    """A dispatcher: one job after another, each on the nodes that its units need."""

    name = "first-only"

    def begin(self, platform: sl.Platform, queues: Sequence[sl.Queue], seed: int) -> None:
        """Keep the platform."""
        self.platform = platform

    def decide(self, moment: Moment) -> Decision:
        """Start the first waiting job as soon as the machine is empty."""
        ready = [job for job, may in zip(moment.waiting, moment.may_start, strict=True) if may]
        if moment.running or not ready:
            return Decision([])
        job, nodes = ready[0], dict[str, int]()
        for n, name in enumerate(self.platform.nodes):
            amounts = zip(moment.free[n].tolist(), self.platform.resources, strict=True)
            room = min(free // job.request[r] for free, r in amounts if job.request.get(r, 0))
            if took := min(room, job.units - sum(nodes.values())):
                nodes[name] = took
        return Decision([Start(job.id, nodes)])


def compare(problem: sl.Problem) -> dict[str, sl.Result]:
    """Solve a problem by typed methods."""
    chosen: list[methods.Method] = [
        methods.MultiSearch(),
        methods.FirstSolution("-area"),
        methods.Lns(rounds=4),
        methods.DelaySearch(delay=10),
        methods.CpSat("pool", warm_start=methods.Start(methods.MultiSearch(), 1), parameters={"num_workers": 1}),
        methods.CpOptimizer("pool"),
        methods.Highs("pool", warm_start="usual", lowering="pairwise"),
        methods.Highs("pool", grid=(1, 10), side="relax", integral=False),
        methods.parse_method("cpsat:counts+warm=first-solution/est"),
    ]
    return {m.text: sl.solve(problem, m, time_limit=3, threads=1, seed=2) for m in chosen}


def follow(problem: sl.Problem, start: sl.Schedule) -> list[tuple[float, sl.Value | None]]:
    """Return the trace of a search that stops at its third incumbent."""
    seen: list[tuple[float, sl.Value | None]] = []

    def on_incumbent(news: sl.Incumbent) -> bool:
        schedule: sl.Schedule | None = news.schedule()
        assert schedule is not None and problem.verify(schedule) == []
        seen.append((news.seconds, news.objective))
        return len(seen) < 3

    found = sl.solve(problem, "lns", warm_start=start, time_limit=2, on_incumbent=on_incumbent)
    assert found.warm_start.fate == "accepted" and found.schedule is not None
    return seen


def read(result: sl.Result) -> str:
    """Return a line about a result; nothing that is unknown is a number."""
    gap = "no gap" if not isinstance(result.gap, float) else f"{result.gap:.1%}"
    bound: float | tuple[float | None, ...] | None = result.bound
    starts: dict[str, int] = {} if result.schedule is None else result.schedule.start
    return f"{result.status}: {result.objective} (bound {bound}, {gap}), {len(starts)} jobs, {result.seconds:.1f} s"


def two_jobs() -> int:
    """Declare a model with setup times and solve it; return the start of one interval."""
    m = sl.Model("two jobs")
    a, b = m.interval("a", size=3), m.interval("b", size=4)
    x: sl.Integer = m.integer("x", 0, 5)
    options = [m.interval(f"a on {n}", size=3, optional=True) for n in range(2)]
    m.add(sl.alternative(a, options), "a on one machine")
    m.add(sl.no_overlap([options[0], b], transitions=[[0, 1], [2, 0]]))
    m.add(sl.forbid_extent(b, [(0, 2)]))
    m.add(sl.end_before_start(a, b, delay=1, at_most=6))
    m.add(a.end + x <= b.start)
    m.minimize([sl.max([a.end, b.end]), x])
    copied = sl.Model.from_json(m.to_json())
    assert str(copied) == str(m)
    result = sl.solve(m, backend="cpsat", time_limit=5)
    start: int | None = result[b].start
    count: int = result[x]
    assert start is not None and count == 0
    return start


def main() -> list[str]:
    """Use all of it."""
    problem = noon()
    results = compare(problem)
    best = results["multi-search"].schedule
    assert best is not None
    trace = follow(problem, best)
    table = results["multi-search"].to_pandas()
    native = sl.compile(problem.formulations["pool"]().model, "cpsat").native
    try:
        sl.solve(problem, "lns", gap_limit=0.1)
    except sl.SchedlabError as e:
        refused = str(e)
    replay = sl.simulate("eurora_99", dispatcher=FirstOnly)  # the class stands for an object of it
    plan = sl.trade_off(sl.Eviction([sl.EvictionCandidate("a", 2, 10, 1, 2)], 1, 60)).plan()
    why: sl.Explanation = sl.explain(problem, time_limit=10)
    made = {
        type(native).__name__: len(table),
        refused: len(trace),
        why.status: two_jobs(),
        plan.status: len(replay.start),
    }
    return [*map(read, results.values()), *(f"{name} {value}" for name, value in made.items())]


if __name__ == "__main__":
    print("\n".join(main()))
