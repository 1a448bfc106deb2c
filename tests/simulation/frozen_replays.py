"""Replays whose results are frozen, so that a change of the simulator's structure shows each difference it makes.

``python -m simulation.frozen_replays`` in the folder ``tests`` prints the differences from ``frozen_replays.json``;
``--write`` writes the file again. A replay is named ``world/dispatcher/feature+feature``.
"""

import hashlib
import json
import random
import sys
from functools import cache
from itertools import combinations
from pathlib import Path

import schedlab as sl
from schedlab import SchedlabError
from schedlab.models import DesiredProfile, NodeEvent
from schedlab.models.profiles import daily
from schedlab.models.reservations import Repeat, Reservation
from schedlab.models.server_events import ServerEvent
from schedlab.simulation import OnDemandJob, Preemption, Switching, parse_dispatcher
from shared_data import DATA

FILE = Path(__file__).with_suffix(".json")
NODES, CORES = 6, 4
PLATFORM = sl.Platform([sl.NodeGroup("n", NODES, {"cores": CORES})])
QUEUES = [sl.Queue("q", 60), sl.Queue("r", 90), sl.Queue("private", 60), sl.Queue("night", 60, ((0, 40), (150, 400)))]
USERS = ["u", "v", "w"]

# Features of a small world, as keywords of ``simulate``; those in WORLD change the world itself.
FEATURES = {
    "running": {},
    "dependencies": {},
    "chunks": {},
    "calendars": {},
    "kill": {"kill_at_walltime": True},
    "period": {"period": 7},
    "first-fit": {"allocator": "first-fit"},
    "last-two": {"predictor": "last-two"},
    "data-driven": {"predictor": "data-driven"},
    "real": {"predictor": "real"},
    "users": {"users": "cf"},
    "outage": {"events": [(30, "node-down", "n-1"), (55, "node-drain", "n-3"), (90, "node-up", "n-1"), (160, "node-up", "n-3")]},
    "outage-kept": {"events": [(35, "node-down", "n-2"), (100, "node-up", "n-2")], "requeue": "checkpoint:10"},
    "outage-dropped": {"events": [(35, "node-down", "n-2"), (100, "node-up", "n-2")], "requeue": "drop"},
    "reservations": {
        "reservations": [
            Reservation("course", "private", start=110, duration=50, units=2, request={"cores": 4}, submitted=20),
            Reservation("later", "private", start=190, duration=30, units=3, request={"cores": 2}, users=("u", "v")),
            Reservation("each", "private", start=260, duration=20, units=1, request={"cores": 4}, repeat=Repeat("hour", 2)),
        ]
    },
    "server": {
        "server": [
            (20, "stop-queue", "q", None),
            (30, "delete", "j3", None),
            (80, "walltime", "j12", 300),
            (82, "move", "j13", "r"),
            (150, "start-queue", "q", None),
        ]
    },
    "evict-dp": {"evictor": "dp"},
    "evict-kill": {"evictor": "kill"},
    "reserve": {"evictor": "reserve:1"},
    "failures": {"evictor": "none", "failures": [(40, "node-down", "n-5"), (75, "node-up", "n-5")]},
    "idle-off": {"node_policy": "idle:20", "switching": Switching(boot=5, shut_down=3, min_off=4)},
    "power-cap": {"power_cap": 900.0},
    "desired": {"desired": "wished"},
}  # fmt: skip
WORLD = {"running", "dependencies", "chunks", "calendars"}
ON_DEMAND = {"evict-dp", "evict-kill", "reserve", "failures"}
OF_EVENTS = {"events", "server"}
POLICIES = [
    "fcfs", "sjf", "rule:wt", "rule:slowdown-strict", "easy", "easy:wt", "easy++", "conservative", "pbs-fifo", "plan:submit",
    "plan:weighted", "plan:submit@lns", "psp", "psp-conservative", "easy+multifactor", "easy+fairshare", "conservative+aging",
    "easy-profile", "fcfs-profile", "conservative-profile",
]  # fmt: skip
SOLVING = [
    "pcp@cpsat",
    "pcp3@cpsat",
    "hcp1@cpsat",
    "hcp3@cpsat",
    "mks@cpsat",
    "cpmodel@cpsat",
    "portfolio@cpsat",
    "hcp3-profile@cpsat",
]
DISTRIBUTED = ["dardis:throughput", "dardis:uniform/random", "dardis:exponential/max-prob", "hybrid:70", "hybrid:100"]
PAIRED = ("easy", "conservative", "hcp3@cpsat", "dardis:throughput")
LOGS = ("kth", "eurora", "curie")
LOG_FEATURES = ("", "kill", "last-two", "outage", "evict-dp", "idle-off", "desired")


def small_world(seed: int, features: frozenset[str]) -> sl.Workload:
    """Return sixteen random jobs; beside on-demand jobs, each unit needs a node of its own."""
    dice = random.Random(seed)
    jobs = []
    for k in range(16):
        runtime = dice.randrange(8, 60)
        cores = CORES if features & ON_DEMAND or "power-cap" in features else dice.randrange(1, CORES + 1)
        walltime = max(10, runtime + dice.choice([-8, 0, 20, 90]))
        queue = dice.choice(["q", "q", "r", "private" if "reservations" in features else "q"])
        queue = dice.choice([queue, "night"]) if "calendars" in features and queue != "private" else queue
        if queue == "private":
            walltime, runtime = 12, min(runtime, 12)
        parts = [(dice.randrange(1, 4), {"cores": cores})]
        if "chunks" in features and dice.random() < 0.3:
            parts.append((1, {"cores": dice.randrange(1, CORES + 1)}))
        jobs.append(
            sl.Job.of_chunks(
                f"j{k}", 6 * k, walltime, parts, queue, runtime=runtime, user=dice.choice(USERS), name=dice.choice("ab"),
                power=40.0 * parts[0][0] * cores,
            )
        )  # fmt: skip
    found = sl.Workload.of(sl.Dispatch(PLATFORM, jobs, QUEUES, durations="runtime"))
    if "dependencies" in features:
        row = {name: k for k, name in enumerate(found.ids)}
        found.after.update({row["j6"]: (row["j1"], 5), row["j9"]: (row["j6"], 0), row["j15"]: (row["j2"], 30)})
    if "running" in features:
        held = [
            sl.Running(
                sl.Job("before", 0, 80, 2, {"cores": CORES}, "q", runtime=50, power=100.0), 0, {"n-1": 1, "n-2": 1}, 80
            ),
            sl.Running(sl.Job("other", 0, 70, 1, {"cores": CORES}, "r", runtime=64, power=50.0), 4, {"n-6": 1}, 74),
        ]
        found = found.beginning(12, held)
    return found


def options_of(features: frozenset[str], platform: sl.Platform, span: tuple[int, int]) -> dict:
    """Return the keywords of ``simulate``; the times of features are shifted and stretched to ``span``."""
    first, last = span
    scale = max(1, (last - first) // 150)
    at = lambda t: first + t * scale  # noqa: E731
    node = lambda name: platform.nodes[int(name.partition("-")[2]) % len(platform.nodes)]  # noqa: E731
    found: dict = {}
    for name in sorted(features):
        for key, value in FEATURES[name].items():
            if key == "events":
                found.setdefault("events", []).extend(NodeEvent(at(t), kind, [node(n)]) for t, kind, n in value)
            elif key == "server":
                found.setdefault("events", []).extend(
                    ServerEvent(t, kind, subject, to) for t, kind, subject, to in value
                )
            elif key == "evictor":
                failures = [NodeEvent(at(t), kind, [node(n)]) for t, kind, n in FEATURES[name].get("failures", ())]
                urgent = [
                    OnDemandJob("x", at(40), 2, 10 * scale, 25 * scale, notice=20 * scale),
                    OnDemandJob("y", at(95), 1, 5 * scale, 40 * scale),
                ]
                found["preemption"] = Preemption(
                    urgent, value, f"fixed:{12 * scale}", restart=3 * scale, step=scale, failures=tuple(failures)
                )
            elif key == "desired":
                found["desired"] = wished(platform, first, last)
            elif key != "failures":
                found[key] = value
    if scale > 1 and "node_policy" in found:
        found |= {"node_policy": f"idle:{20 * scale}", "switching": Switching(boot=300, shut_down=120, min_off=60)}
    return found


def wished(platform: sl.Platform, first: int, last: int) -> DesiredProfile:
    """Return a profile with less than the machine for two minutes, in a log from 8 to 20 o'clock."""
    if last - first < 3600:
        return daily(platform, {"00:00": 1.0, "00:01": 0.5, "00:02": 0.75, "00:03": 1.0})
    return daily(platform, {"08:00": 0.4, "20:00": 1.0})


@cache
def log(name: str) -> tuple[sl.Workload, sl.Platform]:
    """Return the first 2,000 jobs of a log, and its machine."""
    if name == "kth":
        trace = sl.read_trace(DATA / "kth_sp2_1996" / "KTH-SP2-1996-2.1-cln.swf")
        return trace.workload.first(2000), sl.Platform([sl.NodeGroup("n", 100, {"cores": 1})])
    if name == "curie":
        trace = sl.read_trace(DATA / "cea_curie_2011" / "curie_part4_fat_30d_2012-04-20.swf.gz")
        return trace.workload.first(2000), sl.Platform([sl.NodeGroup("n", 90, {"cores": 128})])
    p = sl.load("eurora_700").dispatch
    return sl.Workload.of(p), p.platform


def names() -> list[str]:
    """Return the names of all replays."""
    single = [f"small/{d}/{f}" for d in (*POLICIES, *SOLVING, *DISTRIBUTED) for f in ("", *FEATURES)]
    pairs = [f"small/{d}/{a}+{b}" for d in PAIRED for a, b in combinations(FEATURES, 2) if not {a, b} <= ON_DEMAND]
    logs = [
        f"{w}/{d}/{f}"
        for w in LOGS
        for d in ("fcfs", "easy", "conservative", "easy++", "plan:submit")
        for f in LOG_FEATURES
    ]
    return [*single, *pairs, *logs]


def replay(name: str):
    """Return the simulation of a name. Raises SchedlabError if the features cannot be combined today."""
    world, dispatcher, listed = name.split("/", 1)[0], name.split("/", 1)[1].rpartition("/")[0], name.rpartition("/")[2]
    features = frozenset(filter(None, listed.split("+")))
    if world == "small":
        workload, platform, span = small_world(len(listed), features), PLATFORM, (0, 150)
    else:
        workload, platform = log(world)
        span = int(workload.submit.min()), int(workload.submit.max())
    options = options_of(features, platform, span)
    if "desired" not in options and "profile" in dispatcher:
        options["desired"] = wished(platform, *span)
    named = parse_dispatcher(dispatcher)
    made = named.make(deterministic=0.02) if named.backend is not None else dispatcher
    return sl.simulate(workload, platform, made, seed=len(name), **options)


def digest(*parts) -> str:
    """Return eight hexadecimal digits of what is given."""
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:8]


def fingerprint(name: str) -> str:
    """Return hashes of starts and ends, of nodes, of attempts and of the metrics of a replay; or why there is none."""
    try:
        run = replay(name)
    except SchedlabError as e:
        return f"refused: {type(e).__name__}"
    if run.violations:
        return f"violations: {run.violations[0].message}"
    schedule, attempts = run.schedule(), run.attempts
    starts = digest(list(run.workload.ids), run.start.tolist(), run.end.tolist(), run.killed.tolist())
    nodes = digest({job: sorted(on.items()) for job, on in sorted(schedule.nodes.items())})
    listed = digest([[str(v) for v in row] for row in attempts.itertuples(index=False)])
    return f"{starts} {nodes} {listed} {digest(sorted(figures(run).items()))}"


def figures(run) -> dict[str, str]:
    """Return the metrics of a replay that do not depend on how fast the machine is."""
    return {
        name: f"{value:.9g}" if isinstance(value, float) else str(value)
        for name, value in run.metrics.as_dict().items()
        if not set(name.split("_")) & {"seconds", "ms", "decisions"} and name not in ("AO", "MO", "%O")
    }


def differences(chosen: list[str] | None = None) -> list[str]:
    """Return the replays whose fingerprint is not the frozen one."""
    frozen = json.loads(FILE.read_text())
    found = []
    for name in names() if chosen is None else chosen:
        now = fingerprint(name)
        if now != frozen.get(name):
            found.append(f"{name}: {now}; frozen: {frozen.get(name)}")
    return found


def main() -> None:
    """Print the differences, or write the file."""
    if "--write" in sys.argv:
        found = {}
        for k, name in enumerate(names()):
            found[name] = fingerprint(name)
            print(f"\r{k + 1} of {len(names())}", end="", file=sys.stderr)
        FILE.write_text(json.dumps(found, indent=0) + "\n")
    else:
        print("\n".join(differences()) or "no differences")


if __name__ == "__main__":
    main()
