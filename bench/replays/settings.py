"""The settings of a replay: machine of a trace, offered load, limits of a decision. They are part of the key of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ..errors import WrongUse

DECISION_TIME = 0.2  # seconds of a solver for one decision
OFF = "off"
USUAL_FLOOR = 10.0  # seconds, the least duration in the bounded slowdown
BEST_FIT = "best-fit"
BUSY = ("reset", "kept")
LIMITS = ("desired", "desired_content", "power_cap", "watts_per_core", "most_power")
PREEMPTION = (
    "on_demand",
    "on_demand_content",
    "evictor",
    "checkpoints",
    "checkpoints_content",
    "failures",
    "failures_content",
    "restart",
    "shared_bandwidth",
)
ENERGY = (
    "node_policy", "boot", "shut_down", "min_off", "idle_watts", "boot_watts", "prices", "prices_content", "carbon",
    "carbon_content", "scenario",
)  # fmt: skip
ADDED = (  # fields that older records lack
    "busy",
    "queue_from",
    "partition",
    "dependencies",
    "latest_start",
    "zone",
    "per_node",
    "columns",
    "batch",
    "users",
    "users_source",
    *LIMITS,
    *PREEMPTION,
    "network",
    *ENERGY,
)
RESTART = "restart"


@dataclass(frozen=True)
class ReplaySettings:
    """The settings of a replay, apart from its jobs and its dispatcher.

    Parameters
    ----------
    trace
        Whether a trace (a log such as an SWF file) is replayed, not an instance.
    format
        Format of the trace; None: recognised by its content. Only for traces.
    nodes
        Number of nodes of the machine. Only for traces.
    cores
        Cores of a node. Only for traces.
    memory
        Memory of a node in MB. Only for traces.
    queue_from
        Column of the trace from which the queues are taken: "queue" or "partition"; None: "queue". Only for traces.
    partition
        Names or numbers of the partitions whose jobs are replayed, separated by commas. Only for traces.
    dependencies
        Whether jobs wait for their preceding jobs; None: no. Only for traces.
    latest_start
        Latest starts of the jobs: "mean-wait", or seconds after the submit time; None: none. Only for traces.
    window
        Time in which the replayed jobs are submitted, such as ``2012-07-13:23d``. Only for traces.
    load
        Offered load to which the submit times are rescaled; None: not rescaled.
    decision_time
        Time limit of a decision in seconds. None for dispatchers without a solver, and with ``deterministic``.
    deterministic
        Limit of a decision in the solver's own reproducible unit; None: ``decision_time`` is the limit.
    objective
        Name of the objective of the dispatchers with a solver; None: that of their version or name.
    max_stretch
        Slowdown above which a job goes first, or "off"; None: the default of the dispatcher.
    allocator
        Name of the rule that chooses nodes.
    kill
        Whether jobs are killed at their walltime.
    charge
        Whether decisions take time on the simulated clock.
    period
        Seconds between additional calls of the dispatcher; None: it is called at events only.
    bsld_floor
        Least duration in the bounded slowdown, in seconds; None: the usual one, 10 s.
    busy
        Whether jobs run and wait at the begin of the window: "reset" or "kept" (submit times of the waiting jobs);
        None: the machine is empty. Only with a window.
    events
        File with the changes of the states of nodes; None: those of the instance.
    events_content
        Hash of this file.
    batch
        Number of a batch of the Eurora log [Bridi2018, 3.4]; None: no batch. Only for traces.
    requeue
        What happens to jobs whose node goes down: ``restart``, ``checkpoint:SECONDS`` or ``drop``.
    users
        Name of the users who choose the walltimes; None: those of the log or instance.
    users_source
        Hash of the source of a third party's users.
    desired
        File with the desired use; None: none.
    desired_content
        Hash of this file.
    power_cap
        Greatest power of the running jobs in watts; None: no limit.
    watts_per_core
        Power per core, in watts, of jobs without a power of their own; None: it is unknown.
    most_power
        The least power cap of all replays in watts: jobs that take more alone are left out. None: no cap.
    on_demand, on_demand_content
        On-demand jobs: a file, and its hash, or ``stream:OPTION=VALUE...``; None: there are none.
    evictor
        Who leaves for on-demand jobs, by name.
    checkpoints, checkpoints_content
        Application-level checkpoints of the jobs: the name of a model; the hash of its file.
    failures, failures_content
        Failures of nodes: ``RATE:OPTION=VALUE...``, or a file and its hash; None: there are none.
    restart
        Seconds without progress at the begin of each later attempt of a job.
    shared_bandwidth
        Whether checkpoints may be written in parallel. None, as for the five before: no on-demand jobs and no failures.
    network
        The network of DARDIS as text, such as ``mpi:processes=4``; None: all node managers are in one process.
    node_policy, boot, shut_down, min_off
        Which nodes are switched off, by name; the times of nodes in seconds. None: nodes are always on; the usual times.
    idle_watts, boot_watts
        Watts of a core that runs nothing, and of a node that boots or shuts down; None: the usual power.
    prices, prices_content, carbon, carbon_content, scenario
        Files of energy prices and carbon intensities, with their hashes; the cooling, weather and prices of an instance.

    Examples
    --------
    >>> ReplaySettings(load=1.2, nodes=100, trace=True).label
    '100 nodes, load 1.2, 0.2 s a decision'
    """

    trace: bool = False
    format: str | None = None
    nodes: int | None = None
    cores: int | None = None
    memory: int | None = None
    window: str | None = None
    load: float | None = None
    decision_time: float | None = DECISION_TIME
    deterministic: float | None = None
    objective: str | None = None
    max_stretch: float | str | None = None
    allocator: str = BEST_FIT
    kill: bool = False
    charge: bool = False
    period: int | None = None
    bsld_floor: float | None = None
    busy: str | None = None
    queue_from: str | None = None
    partition: str | None = None
    dependencies: bool | None = None
    latest_start: str | None = None
    zone: str | None = None
    per_node: str | None = None
    columns: str | None = None
    events: str | None = None
    events_content: str | None = None
    requeue: str = RESTART
    batch: int | None = None
    users: str | None = None
    users_source: str | None = None
    desired: str | None = None
    desired_content: str | None = None
    power_cap: float | None = None
    watts_per_core: float | None = None
    most_power: float | None = None
    on_demand: str | None = None
    on_demand_content: str | None = None
    evictor: str | None = None
    checkpoints: str | None = None
    checkpoints_content: str | None = None
    failures: str | None = None
    failures_content: str | None = None
    restart: int | None = None
    shared_bandwidth: bool | None = None
    network: str | None = None
    node_policy: str | None = None
    boot: int | None = None
    shut_down: int | None = None
    min_off: int | None = None
    idle_watts: float | None = None
    boot_watts: float | None = None
    prices: str | None = None
    prices_content: str | None = None
    carbon: str | None = None
    carbon_content: str | None = None
    scenario: str | None = None

    def __post_init__(self) -> None:
        of_traces = {
            "--format": self.format,
            "--nodes": self.nodes,
            "--cores": self.cores,
            "--memory": self.memory,
            "--window": self.window,
            "--busy": self.busy,
            "--queue-from": self.queue_from,
            "--partition": self.partition,
            "--dependencies": self.dependencies,
            "--latest-start": self.latest_start,
            "--zone": self.zone,
            "--per-node": self.per_node,
            "--columns": self.columns,
            "--batch": self.batch,
        }
        given = [name for name, value in of_traces.items() if value is not None]
        if given and not self.trace:
            raise WrongUse(f"{', '.join(given)}: for logs only; an instance has its own machine and jobs")
        others = [name for name, value in of_traces.items() if value is not None and name != "--batch"]
        if self.batch is not None and (others or self.load is not None):
            raise WrongUse(
                f"--batch {self.batch}: a batch has its own window and machine; leave out {', '.join(others) or '--load'}"
            )
        if self.busy is not None and (self.busy not in BUSY or self.window is None):
            raise WrongUse(f"--busy {self.busy}: expected {' or '.join(BUSY)}, together with --window")

    @property
    def fields(self) -> dict[str, Any]:
        """The fields as in records and keys: those added after the first release are left out if they are None."""
        return {name: v for name, v in asdict(self).items() if v is not None or name not in ADDED}

    @property
    def for_policies(self) -> ReplaySettings:
        """The settings for a dispatcher without a solver: options that it ignores are None and not part of the key."""
        return replace(self, decision_time=None, deterministic=None, objective=None, max_stretch=None)

    @property
    def workload(self) -> ReplaySettings:
        """The settings that determine the jobs and the machine; the others have their default values."""
        return ReplaySettings(
            self.trace, self.format, self.nodes, self.cores, self.memory, self.window, self.load, kill=self.kill,
            busy=self.busy,
            queue_from=self.queue_from, partition=self.partition, dependencies=self.dependencies,
            latest_start=self.latest_start, zone=self.zone, per_node=self.per_node, columns=self.columns,
            batch=self.batch,
            events=self.events, events_content=self.events_content,
            users=self.users, users_source=self.users_source,
            desired=self.desired, desired_content=self.desired_content, watts_per_core=self.watts_per_core,
            most_power=self.most_power, **{name: getattr(self, name) for name in (*PREEMPTION, *ENERGY)},
        )  # fmt: skip

    @property
    def label(self) -> str:
        """The settings as text, for the title of a table."""
        parts = [
            f"{self.nodes} nodes" if self.nodes is not None else "",
            f"{self.cores} cores each" if self.cores is not None else "",
            f"{self.memory} MB each" if self.memory is not None else "",
            f"{self.per_node} each" if self.per_node is not None else "",
            f"times of {self.zone}" if self.zone is not None else "",
            "with given columns" if self.columns is not None else "",
            self.window or "",
            f"batch {self.batch} of [Bridi2018]" if self.batch is not None else "",
            f"busy at the begin, submit times {self.busy}" if self.busy is not None else "",
            "queues from partitions" if self.queue_from == "partition" else "",
            f"partition {self.partition}" if self.partition is not None else "",
            "with dependencies" if self.dependencies else "",
            f"latest start {self.latest_start}" if self.latest_start is not None else "",
            f"load {self.load:g}" if self.load is not None else "",
            f"{self.decision_time:g} s a decision" if self.decision_time is not None else "",
            f"{self.deterministic:g} deterministic units a decision" if self.deterministic else "",
            f"objective {self.objective}" if self.objective else "",
            f"max stretch {self.max_stretch}" if self.max_stretch is not None else "",
            self.allocator if self.allocator != BEST_FIT else "",
            "killed at the walltime" if self.kill else "",
            "decisions take time" if self.charge else "",
            f"called every {self.period} s" if self.period is not None else "",
            f"bounded slowdown from {self.bsld_floor:g} s" if self.bsld_floor is not None else "",
            f"events of {self.events}" if self.events is not None else "",
            f"failed jobs: {self.requeue}" if self.requeue != RESTART else "",
            f"users {self.users}" if self.users is not None else "",
            f"desired use of {self.desired}" if self.desired is not None else "",
            f"{self.watts_per_core:g} W a core" if self.watts_per_core is not None else "",
            f"at most {self.power_cap / 1000:g} kW" if self.power_cap is not None else "",
            f"network {self.network}" if self.network is not None else "",
            f"jobs up to {self.most_power / 1000:g} kW" if self.most_power not in (None, self.power_cap) else "",
            f"on-demand jobs of {self.on_demand}, evictor {self.evictor}" if self.on_demand is not None else "",
            f"failures {self.failures}" if self.failures is not None else "",
            f"checkpoints {self.checkpoints}" if self.checkpoints is not None else "",
            f"restart {self.restart} s" if self.restart else "",
            "shared bandwidth" if self.shared_bandwidth else "",
            *(
                f"{n.replace('_', ' ')} {getattr(self, n)}"
                for n in ENERGY
                if getattr(self, n) is not None and "content" not in n
            ),
        ]
        return ", ".join(p for p in parts if p)


def decision_limit(seconds: float | None, units: float | None) -> dict[str, float | None]:
    """Return the fields ``decision_time`` and ``deterministic`` of --decision-time and --deterministic. Raises WrongUse.

    Examples
    --------
    >>> decision_limit(None, None), decision_limit(None, 0.5)
    ({'decision_time': 0.2, 'deterministic': None}, {'decision_time': None, 'deterministic': 0.5})
    """
    if seconds is not None and units is not None:
        raise WrongUse(
            f"--decision-time {seconds:g} and --deterministic {units:g} both limit a decision, in seconds and in units of "
            "the solver; give one of them"
        )
    for option, value in (("--decision-time", seconds), ("--deterministic", units)):
        if value is not None and not 0 < value < float("inf"):
            raise WrongUse(f"{option} {value}: expected a number above 0, such as {DECISION_TIME}")
    return {"decision_time": DECISION_TIME if seconds is None and units is None else seconds, "deterministic": units}


def parse_stretch(text: str | None) -> float | str | None:
    """Return the value of --max-stretch: a number above 1, or "off". Raises WrongUse.

    Examples
    --------
    >>> parse_stretch("50"), parse_stretch("off")
    (50.0, 'off')
    """
    if text is None or text == OFF:
        return text
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 < value < float("inf"):
        raise WrongUse(f"--max-stretch {text}: expected a slowdown above 1, such as 50, or off")
    return value


def parse_floor(seconds: float) -> float | None:
    """Return the value of --bsld-floor, None for the usual 10 s. Raises WrongUse.

    Examples
    --------
    >>> parse_floor(60.0), parse_floor(10.0)
    (60.0, None)
    """
    if not 0 < seconds < float("inf"):
        raise WrongUse(f"--bsld-floor {seconds:g}: expected a number of seconds above 0, such as 10 or 60")
    return None if seconds == USUAL_FLOOR else seconds
