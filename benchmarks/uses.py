"""First uses of methods and dispatchers, as Python code: together they need all kernels that a user's first runs need.

``benchmarks.wheel`` compiles what they need into a wheel; ``benchmarks.compiling`` measures each of them.
"""

from __future__ import annotations

METHODS = {
    "rule:est": "eurora_99",
    "multi-search": "eurora_99",
    "delay-search": "eurora_99",
    "lns": "eurora_99",
    "lagrangian": "eurora_99",
    "cpsat:counts+warm": "eurora_99",
    "multi-search, profit": "profit_small",
    "dp, evictions": "theta_12",
    "lns, project": "project_small",
    "bounds": "project_small",
}
DISPATCHERS = ("fcfs", "easy", "conservative", "easy++", "easy-d", "dardis:profile", "dardis:balance")
SOLVE = "import schedlab as sl; sl.solve(sl.load({instance!r}).problem, method={method!r}, time_limit=1, threads=1)"
REPLAY = "import schedlab as sl; sl.simulate('eurora_99', dispatcher={name!r})"
OTHERS = {
    "lns, shop": """
import schedlab as sl
saws = [sl.models.Resource("saw 1", 1), sl.models.Resource("saw 2", 1)]
modes = (sl.models.Mode("1", 2, {"saw 1": 1}), sl.models.Mode("2", 3, {"saw 2": 1}))
sl.solve(sl.models.Project([sl.models.Task(name, modes) for name in "abcde"], saws), method="lns:rounds=3", threads=1)
""",
    "lns, blocking": """
import schedlab as sl
machines = [sl.models.Resource("m", 1), sl.models.Resource("n", 1)]
tasks = [sl.models.Task.single(m + job, 2, {m: 1}, job=job) for job in "123" for m in "mn"]
pairs = [("m" + job, "n" + job) for job in "123"]
project = sl.models.Project(tasks, machines, pairs, blocking=pairs, permutation=["m", "n"])
sl.solve(project, method="lns:rounds=3", threads=1)
""",
    "cpsat:modes, large project": """
import schedlab as sl
tasks = [sl.models.Task.single(str(k), 1, {"crew": 2}) for k in range(250)]
sl.models.Project(tasks, [sl.models.Resource("crew", 3)]).formulations["modes"]()
""",
    "branch-and-bound": """
import schedlab as sl
sl.solve(sl.load("eurora_99").problem.at(43200, first=8), method="branch-and-bound", time_limit=1, threads=1)
""",
    "replay, pcp3@cpsat": """
import schedlab as sl
sl.simulate(sl.load("eurora_99").problem.at(43200, first=6), dispatcher="pcp3@cpsat")
""",
    "replay, charge": """
import schedlab as sl
sl.simulate("eurora_99", dispatcher="fcfs", charge_decisions=True)
""",
    "replay, counted nodes": """
import schedlab as sl
from schedlab.instances import lublin_workload
machine = sl.Platform([sl.NodeGroup("n", 64, {"cores": 1})])
for name in ("fcfs", "easy", "conservative"):
    sl.simulate(lublin_workload(50, seed=1, nodes=64), machine, name)
""",
    "replay, shared nodes": """
import schedlab as sl
from schedlab.instances import lublin_workload
machine = sl.Platform([sl.NodeGroup("n", 16, {"cores": 4})])
for name in ("conservative", "plan"):
    sl.simulate(lublin_workload(50, seed=1, nodes=64), machine, name)
""",
    "replay, profile": """
import schedlab as sl
from schedlab.models.profiles import flat
day = sl.load("eurora_99").problem
sl.simulate(day, dispatcher="easy-profile", desired=flat(day.platform, 1.0))
""",
    "replay, reservations": """
import schedlab as sl
sl.simulate("eurora_production", dispatcher="easy")
""",
    "replay, on-demand jobs": """
import schedlab as sl
from schedlab.simulation.preemption import OnDemandJob
from schedlab.simulation.preemption import Preemption
machine = sl.Platform([sl.NodeGroup("n", 4, {"cores": 1})])
jobs = [sl.Job(name, 0, 9000, 2, {"cores": 1}, "q", runtime=7200) for name in "abc"]
workload = sl.instances.Workload.of(sl.Dispatch(machine, jobs, [sl.Queue("q", 3600)]))
urgent = Preemption([OnDemandJob("urgent", submit=5000, nodes=2, start_within=900, duration=1800)], "dp")
sl.simulate(workload, machine, "easy", preemption=urgent)
""",
    "replay, slurm": """
import schedlab as sl
site = sl.models.Site("s", [sl.models.SiteNode("n1", 4)], [sl.models.Partition("p", ("n1",))])
jobs = [sl.Job(f"j{k}", k, 90, 3, {"cores": 1}, "p", runtime=60) for k in range(3)]
problem = sl.Dispatch(site.platform(), jobs, [sl.Queue("p", 60)], durations="runtime")
sl.simulate(problem, "slurm", site=site)
""",
}
USES = {
    **{name: SOLVE.format(instance=instance, method=name.split(",")[0]) for name, instance in METHODS.items()},
    **{f"replay, {name}": REPLAY.format(name=name) for name in DISPATCHERS},
    **OTHERS,
}
"""Python code by label. Each runs in a process of its own, or all of them in one."""
