"""The settings of a replay: machine of a log, offered load, limits of a decision, features. They are part of the key of a run.

Each is described once, as a field of ``ReplaySettings``: its option of ``bench simulate`` with its help, the form of its value in
records, and its label are made from the field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ...instances.files.reading import content_of
from ...models.platform import LATEST
from ...models.words import excerpt, hint, how_many
from ...simulation.errors import ONE_LIMIT, OWN_WINDOW
from ...simulation.settings import Described, setting, settings_of
from ..errors import WrongUse

DECISION_TIME = 0.2  # seconds of a solver for one decision
OFF = "off"
USUAL_FLOOR = 10.0  # seconds, the least duration in the bounded slowdown
BEST_FIT = "best-fit"
RESTART = "restart"
BUSY = ("reset", "kept")
ON_UNKNOWN = ("keep", "skip", "stop")
LOG = "Logs (not for instances)"
DECISIONS = "Dispatchers with a solver"
RESULTS = "Results"
PROBLEM = "Problem"
RUNS = "Runs"
PREEMPTION = "On-demand jobs and failures"
ENERGY = "Nodes that are switched off, energy"
UNITS = {"": 1.0, "w": 1.0, "kw": 1e3, "mw": 1e6}
POWER = re.compile(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*([a-z]*)", re.IGNORECASE)


def parse_loads(text: str) -> tuple[float, ...]:
    """Return the offered loads of --load. Raises WrongUse.

    Examples
    --------
    >>> parse_loads("0.8,1.2")
    (0.8, 1.2)
    """
    try:
        loads = tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError:
        loads = (0.0,)
    if not all(0 < load < float("inf") for load in loads):
        raise WrongUse(f"--load {excerpt(text)}: expected offered loads above 0, such as 1.2 or 0.8,1,1.2")
    return loads


def parse_caps(text: str) -> tuple[float, ...]:
    """Return the watts of --power-cap: powers separated by commas, such as 700kW,650kW. Raises WrongUse.

    Examples
    --------
    >>> parse_caps("0.7MW, 650kW,500")
    (700000.0, 650000.0, 500.0)
    """
    caps = []
    for part in text.split(","):
        parts = POWER.fullmatch(part.strip())
        if parts is None or parts[2].lower() not in UNITS or float(parts[1]) <= 0:
            raise WrongUse(f"--power-cap {part.strip():.60}: expected a power above 0 such as 600kW, 1.2MW or 500W")
        caps.append(float(parts[1]) * UNITS[parts[2].lower()])
    return tuple(dict.fromkeys(caps))


def parse_on_unknown(text: str) -> str:
    """Return the value of --on-unknown. Raises WrongUse.

    Examples
    --------
    >>> parse_on_unknown("skip")
    'skip'
    """
    if text not in ON_UNKNOWN:
        raise WrongUse(f"--on-unknown {excerpt(text)}; {hint(text, ON_UNKNOWN, 'expected')}")
    return text


def parse_names(text: str) -> tuple[str, ...]:
    """Return names that are separated by commas, each once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def parse_stretch(text: str | None) -> float | str | None:
    """Return the value of --max-stretch: a number above 1, or "off". Raises WrongUse.

    Examples
    --------
    >>> parse_stretch("50"), parse_stretch("off")
    (50.0, 'off')
    >>> parse_stretch("1")
    Traceback (most recent call last):
    ...
    schedlab.bench.errors.WrongUse: --max-stretch 1: expected a slowdown above 1, such as 50, or off
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
    if seconds == USUAL_FLOOR:
        return None
    return seconds


def _of_log(default: Any, help: str, label: Any, **others: Any) -> Any:
    return setting(default, help, LOG, label=label, concerns="log", **others)


def _seconds(flag: str, help: str, usual: str) -> Any:
    """Return a setting that is a time of nodes, given as a text such as 5min."""

    def read(text: str) -> int:
        from ...models.registry import seconds_of

        seconds = seconds_of(text)
        if seconds is None or seconds > LATEST:
            raise WrongUse(f"{flag} {text}: expected a time such as 300s, 5min or 1h, at most {LATEST} s")
        return seconds

    label = f"{flag[2:].replace('-', ' ')} {{}}"
    return setting(
        None, f"{help}; default: {usual}", ENERGY, label=label, concerns="jobs", typed=str, read=read, least=0
    )


def _watts_per_core(flag: str, help: str) -> Any:
    """Return a setting that is a power of a core."""

    def read(watts: float) -> float:
        if not 0 <= watts < float("inf"):
            raise WrongUse(f"{flag} {watts:g}: expected watts per core of at least 0")
        return watts

    return setting(None, help, ENERGY, label=f"{flag[2:].replace('-', ' ')} {{}}", concerns="jobs", read=read)


@dataclass(frozen=True)
class ReplaySettings:
    """The settings of a replay, apart from its jobs and its dispatcher; each field says what it is.

    Examples
    --------
    >>> ReplaySettings(load=1.2, nodes=100, trace=True).label
    '100 nodes, load 1.2, 0.2 s a decision'
    """

    trace: bool = setting(False, concerns="jobs", added=False)  # whether a log is replayed, not an instance
    format: str | None = _of_log(
        None,
        "swf, sacct, pbs, eurora, table, batsim, pm100, fdata, philly or my_module:FORMAT; default: recognised by its content",
        "",
        added=False,
    )
    nodes: int | None = _of_log(
        None,
        "number of nodes of the machine; default for SWF: that of its header",
        lambda n: how_many(n, "node"),
        least=1,
        added=False,
    )
    cores: int | None = _of_log(None, "cores of a node", lambda n: f"{how_many(n, 'core')} each", least=1, added=False)
    memory: int | None = _of_log(
        None, "memory of a node in MB; default: memory is ignored", "{} MB each", least=1, added=False
    )
    site: str | None = _of_log(
        None,
        "files of the site, with commas between them, or a folder: site.toml, slurm.conf,gres.conf,dump.cfg, qmgr.txt,... "
        "(docs/site.md): its nodes, partitions and limits, instead of --nodes, --cores and --memory",
        lambda path: f"site {path}",
    )
    site_content: str | None = setting(None, concerns="jobs")  # its hash
    on_unknown: str | None = _of_log(
        None,
        "jobs that name a partition, reservation, QOS, account, licence or node that the site does not have: keep (they go on without; "
        "those in unknown partitions and reservations are left out), skip (they are left out), stop (an error lists them); default: keep",
        "unknown names: {}",
        read=parse_on_unknown,
    )
    per_node: str | None = _of_log(None, "other resources of a node: gpus=2,mics=1", "{} each")
    zone: str | None = _of_log(
        None, "sacct, PBS and tables with dates: time zone, such as Europe/Rome; default: UTC", "times of {}"
    )
    columns: str | None = _of_log(
        None,
        "sacct --noheader: the names of its columns, as in --format: JobID,Submit,Start,...; tables: where the values come from: "
        "id=job_id,submit=submit_time,walltime=60*time_limit,cores=num_cores/units",
        lambda names: "with given columns",
    )
    window: str | None = _of_log(
        None,
        "only the jobs submitted in this time (clock of the log): 2012-07-13:23d or 2012-07-13T12:00:6h",
        "{}",
        added=False,
    )
    batch: int | None = _of_log(
        None,
        "log of Eurora only: the window nearest to this batch of Bridi's thesis, 3.4, with its running jobs",
        "batch {} of [Bridi2018]",
        least=1,
        most=3,
    )
    busy: str | None = _of_log(
        None,
        "the machine is in use at the begin of the window, as recorded in the log: running jobs hold nodes, others wait with "
        "submit times reset to the begin (reset) or those of the log (kept)",
        "busy at the begin, submit times {}",
    )
    queue_from: str | None = _of_log(
        None, "take the queues from this column: queue (default) or partition", "queues from {}s"
    )
    partition: str | None = _of_log(
        None, "only the jobs of these partitions, names or SWF numbers: 3,4", "partition {}"
    )
    dependencies: bool | None = _of_log(
        None,
        "jobs wait for the end of their preceding job and the think time (SWF, fields 17 and 18); default: they arrive as "
        "recorded",
        lambda given: "with dependencies",
    )
    cancelled: bool | None = _of_log(
        None,
        "jobs that never ran, as they were cancelled in the queue, take part until then: they hold their place in the queue; "
        "default: they are left out",
        lambda given: "with cancelled jobs",
    )
    latest_start: str | None = _of_log(
        None,
        "latest start of each job, of which the late starts are counted: mean-wait (submit time + mean recorded wait of its "
        "partition or queue in the log), or seconds after the submit time; default: none",
        "latest start {}",
    )
    load: float | None = setting(
        None,
        "rescale the submit times to this offered load, such as 1.2; several, 0.8,1,1.2: each of them is replayed",
        label="load {:g}",
        concerns="jobs",
        typed=str,
        read=parse_loads,
        several=True,
        added=False,
    )
    decision_time: float | None = setting(
        DECISION_TIME,
        "limit of a decision in seconds (cpmodel, portfolio: 16 times the first limit of their solver); default: 0.2",
        DECISIONS,
        label="{:g} s a decision",
        concerns="decisions",
        added=False,
    )
    deterministic: float | None = setting(
        None,
        "limit of a decision in units of the solver instead, the same starts in every run: cpsat: its deterministic time "
        "(about 1 s of a core), highs: nodes, cpo: branches",
        DECISIONS,
        label=lambda units: f"{how_many(units, 'deterministic unit', 'g')} a decision",
        concerns="decisions",
        added=False,
    )
    objective: str | None = setting(
        None,
        "objective of those that do not name one, a name or my_module:OBJECTIVE; default: that of their version",
        DECISIONS,
        label="objective {}",
        concerns="decisions",
        added=False,
    )
    max_stretch: float | str | None = setting(
        None,
        "against starvation: a job with a greater slowdown, or an unfairly long wait, goes first; a number or off; default: "
        "50 for pcp3 and hcp3, off for the others",
        DECISIONS,
        label="max stretch {}",
        concerns="decisions",
        typed=str,
        read=parse_stretch,
        added=False,
    )
    predictor: str | None = setting(
        None,
        "source of the expected durations of all dispatchers: walltime, data-driven, last-two, real, or "
        "my_module:MyPredictor; default: that in their names (-w, -d, -l, -r), else walltime",
        label="predictor {}",
    )
    allocator: str = setting(
        BEST_FIT,
        "choice of nodes: best-fit, first-fit or my_module:MyAllocator",
        label="{}",
        usual=BEST_FIT,
        added=False,
    )
    kill: bool = setting(
        False,
        "kill jobs at their walltime; default: they run to their end",
        label=lambda given: "killed at the walltime",
        concerns="jobs",
        added=False,
    )
    charge: bool = setting(
        False, "decisions take time on the simulated clock", label=lambda given: "decisions take time", added=False
    )
    period: int | None = setting(
        None, "also call the dispatcher every n seconds", label="called every {} s", least=1, most=LATEST, added=False
    )
    bsld_floor: float | None = setting(
        None,
        "least duration in the bounded slowdown, in seconds, such as 10 or 60",
        RESULTS,
        label="bounded slowdown from {:g} s",
        read=parse_floor,
        usual=USUAL_FLOOR,
        added=False,
    )
    events: str | None = setting(
        None,
        "CSV file time,kind,nodes,subject,value: node-down, node-up, node-drain, node-reserve, node-release, stop-queue, "
        "start-queue, walltime, move, delete, requeue, reserve, cancel-reservation; default: events.csv of the instance",
        label="events of {}",
        concerns="jobs",
        typed=Path,
        read=str,
        added=False,
    )
    events_content: str | None = setting(None, concerns="jobs", added=False)  # its hash, as of all files below
    requeue: str = setting(
        RESTART,
        "jobs whose node goes down, or that slurm preempts: restart (from zero), checkpoint:SECONDS (from the last one), drop, or my_module:MyRule",
        label="failed jobs: {}",
        usual=RESTART,
        added=False,
    )
    users: str | None = setting(
        None,
        "users who choose the walltimes of their jobs: be, ge, cf, cfg (static accuracy), di, hdi (all or half of them "
        "improve with every 5 jobs), impatient (if they wait long), with options such as di:seed=2, or my_module:MyUsers; "
        "default: the walltimes of the log",
        label="users {}",
        concerns="jobs",
    )
    users_source: str | None = setting(None, concerns="jobs")  # the hash of the source of a third party's users
    parts_source: str | None = setting(None, concerns="jobs")  # those of other parts, such as evictor=0123abcd...
    desired: str | None = setting(
        None,
        "CSV file of the desired use, time_s,resource,share[,nodes]: over-utilisation and dissimilarity of each replay; "
        "dispatchers X-profile keep to it (docs/reference/profiles.md); default: desired.csv of an instance, if it has one",
        label="desired use of {}",
        concerns="jobs",
        typed=Path,
        read=str,
    )
    desired_content: str | None = setting(None, concerns="jobs")
    power_cap: float | None = setting(
        None,
        "no job starts if the jobs then take more: 600kW; several caps, 700kW,650kW: slowdown and wait against the cap, also "
        "drawn",
        label=lambda watts: f"at most {watts / 1000:g} kW",
        typed=str,
        read=parse_caps,
        several=True,
    )
    watts_per_core: float | None = setting(
        None, "power of a core of jobs whose power is not recorded", label="{:g} W a core", concerns="jobs"
    )
    most_power: float | None = setting(None, concerns="jobs")  # watts, the least cap: jobs that take more are left out
    on_demand: str | None = setting(
        None,
        "on-demand jobs: a CSV file id,submit,nodes,start_within,duration[,notice][,power] (seconds, watts), or a random "
        "stream with options: stream:rate=4:start_within=900:seed=1 (rate: jobs a day)",
        PREEMPTION,
        label="on-demand jobs of {}",
        concerns="jobs",
    )
    on_demand_content: str | None = setting(None, concerns="jobs")
    evictor: str | None = setting(
        None,
        "who leaves for on-demand jobs: none, kill, greedy, dp (default), dp-knee, reserve:NODES, or a method such as "
        "cpsat:shared; several, separated by commas",
        PREEMPTION,
        label="evictor {}",
        concerns="jobs",
        typed=str,
        read=parse_names,
        several=True,
    )
    checkpoints: str | None = setting(
        None,
        "application checkpoints: fixed:SECONDS (default: 3600), young:RATE, daly:RATE (failures of a node per year), none, "
        "log:FILE (id,interval)",
        PREEMPTION,
        label="checkpoints {}",
        concerns="jobs",
    )
    checkpoints_content: str | None = setting(None, concerns="jobs")
    failures: str | None = setting(
        None,
        "failures of nodes: RATE (of a node per year) with options as 0.5:repair=3600:seed=1, or a CSV file "
        "time,node[,repair]",
        PREEMPTION,
        label="failures {}",
        concerns="jobs",
    )
    failures_content: str | None = setting(None, concerns="jobs")
    restart: int | None = setting(
        None,
        "seconds that a job needs to restart after it left or failed; default: 0",
        PREEMPTION,
        label="restart {} s",
        concerns="jobs",
        least=0,
        most=LATEST,
    )
    shared_bandwidth: bool | None = setting(
        None,
        "checkpoints share the bandwidth of the file system; default: they are written one after another",
        PREEMPTION,
        label=lambda given: "shared bandwidth",
        concerns="jobs",
    )
    network: str | None = setting(None, label="network {}")  # of DARDIS as text, such as mpi:processes=4
    node_policy: str | None = setting(
        None,
        "which nodes are switched off: always-on, idle:30min (after 30 min without a job), profile (as many are on as "
        "--desired needs, ahead of time), or my_module:MyPolicy; default: nodes are always on (docs/reference/energy.md)",
        ENERGY,
        label="node policy {}",
        concerns="jobs",
    )
    boot: int | None = _seconds("--boot", "time of a boot", "300s")
    shut_down: int | None = _seconds("--shut-down", "time of a shut-down", "60s")
    min_off: int | None = _seconds("--min-off", "least time that a node is off", "15min")
    idle_watts: float | None = _watts_per_core(
        "--idle-watts", "power of a core of a node that is on and runs no job; default: 3.9"
    )
    boot_watts: float | None = _watts_per_core(
        "--boot-watts", "power of a core of a node that boots or shuts down; default: --idle-watts"
    )
    prices: str | None = setting(
        None,
        "CSV file time_s,euro_per_kwh; default: 0.13 euro per kWh",
        ENERGY,
        label="prices {}",
        concerns="jobs",
        typed=Path,
        read=str,
    )
    prices_content: str | None = setting(None, concerns="jobs")
    carbon: str | None = setting(
        None, "CSV file time_s,g_co2_per_kwh", ENERGY, label="carbon {}", concerns="jobs", typed=Path, read=str
    )
    carbon_content: str | None = setting(None, concerns="jobs")
    scenario: str | None = setting(
        None,
        "cooling, weather and prices of a profit instance, such as air,summer,low,cheap; default: no cooling, and jobs pay "
        "nothing",
        ENERGY,
        label="scenario {}",
        concerns="jobs",
    )

    features: tuple[str, ...] | None = setting(None, label=", ".join, concerns="jobs")  # of third parties, as texts

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features or ()) or None)  # a record has a list
        given = [s.flag for s in SETTINGS.values() if s.setting.concerns == "log" and getattr(self, s.name) is not None]
        if given and not self.trace:
            raise WrongUse(f"{', '.join(given)}: for logs only; an instance has its own machine and jobs")
        others = [flag for flag in given if flag != "--batch"]
        if self.batch is not None and (others or self.load is not None):
            raise WrongUse(f"--batch {self.batch}: {OWN_WINDOW}; leave out {', '.join(others) or '--load'}")
        if self.busy is not None and (self.busy not in BUSY or self.window is None):
            raise WrongUse(f"--busy {self.busy}: expected {' or '.join(BUSY)}, together with --window")

    @property
    def fields(self) -> dict[str, Any]:
        """The fields as in records and keys: those added after the first release are left out if they are None."""
        return {
            name: value for name, value in asdict(self).items() if value is not None or not SETTINGS[name].setting.added
        }

    @property
    def for_policies(self) -> ReplaySettings:
        """The settings for a dispatcher without a solver: options that it ignores are None and not part of the key."""
        ignored: dict[str, Any] = {s.name: None for s in SETTINGS.values() if s.setting.concerns == "decisions"}
        return replace(self, **ignored)

    @property
    def workload(self) -> ReplaySettings:
        """The settings that determine the jobs and the machine; the others have their default values."""
        determined = (s.name for s in SETTINGS.values() if s.setting.concerns in ("log", "jobs"))
        return ReplaySettings(**{name: getattr(self, name) for name in determined})

    @property
    def label(self) -> str:
        """The settings as text, for the title of a table: the values that are not the defaults."""
        parts = []
        for s in SETTINGS.values():
            value = getattr(self, s.name)
            usual = None
            if s.name != "decision_time":
                usual = s.default
            if s.setting.label and value not in (None, False, usual):
                parts.append(s.setting.text(value))
        if self.most_power not in (None, self.power_cap):
            parts.append(f"jobs up to {self.most_power / 1000:g} kW")
        return ", ".join(parts)


SETTINGS: dict[str, Described] = dict(settings_of(ReplaySettings))
OF_FILES = tuple(name.removesuffix("_content") for name in SETTINGS if name.endswith("_content"))


def with_files_in(settings: ReplaySettings, folders: Sequence[Path]) -> ReplaySettings:
    """Return settings whose files are those of the folders, where they have relative paths that lead to files there.

    Of several files of a name the one is taken that the replay read: here, or in the first of the folders that has it.

    Parameters
    ----------
    settings
        The settings.
    folders
        The folders from which the paths are taken.
    """
    found: dict[str, Any] = {}
    for name in OF_FILES:
        text = getattr(settings, name)
        if isinstance(text, str):
            content = getattr(settings, f"{name}_content")
            places = [text, *(_moved(text, folder) for folder in folders)]
            there = [place for place in places if all(path.exists() for path in _paths_of(place))]
            found[name] = next((place for place in there if _content(place) == content), [*there, text][0])
    return replace(settings, **found)


def _split(part: str) -> tuple[str, str]:
    """Return what stands before a path, such as ``log:``, of the intervals of checkpoints, and the path."""
    kind, colon, path = part.partition(":")
    if colon:
        return (f"{kind}:", path.strip())
    return ("", part.strip())


def _paths_of(text: str) -> list[Path]:
    return [Path(path) for _, path in map(_split, text.split(",")) if path]


def _moved(text: str, folder: Path) -> str:
    """Return a text in which the paths are taken from a folder; absolute ones stay."""
    return ",".join(f"{kind}{folder / path}" if path else kind for kind, path in map(_split, text.split(",")))


def _content(text: str) -> str:
    """Return the hash of files, as the settings have it."""
    return "+".join(content_of(path) for path in _paths_of(text))


OF_LOGS = (
    "nodes", "cores", "memory", "per_node", "queue_from", "partition", "window", "cancelled", "zone", "columns",
)  # fmt: skip  # how a log is read, and which of its jobs are taken: the same for show, import and simulate


def decision_limit(seconds: float | None, units: float | None) -> dict[str, float | None]:
    """Return the fields ``decision_time`` and ``deterministic`` of --decision-time and --deterministic. Raises WrongUse.

    Examples
    --------
    >>> decision_limit(None, None), decision_limit(None, 0.5)
    ({'decision_time': 0.2, 'deterministic': None}, {'decision_time': None, 'deterministic': 0.5})
    """
    if seconds is not None and units is not None:
        raise WrongUse(f"--decision-time {seconds:g} and --deterministic {units:g}: {ONE_LIMIT}; give one of them")
    for option, value in (("--decision-time", seconds), ("--deterministic", units)):
        if value is not None and not 0 < value < float("inf"):
            raise WrongUse(f"{option} {value}: expected a number above 0, such as {DECISION_TIME}")
    return {"decision_time": DECISION_TIME if seconds is None and units is None else seconds, "deterministic": units}


def read_settings(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    """Return the settings that a user gives as values of ``ReplaySettings``, and those of which each value is replayed.

    Parameters
    ----------
    given
        Name -> value; None, or False of a flag that may be unknown: not given.

    Raises
    ------
    WrongUse
        A value is not one of its setting.

    Examples
    --------
    >>> read_settings({"nodes": 4, "load": "0.8,1.2", "window": None})
    ({'nodes': 4}, {'load': (0.8, 1.2)})
    """
    values: dict[str, Any] = {}
    several: dict[str, tuple[Any, ...]] = {}
    for name, value in given.items():
        s = SETTINGS[name]
        if value is None or (value is False and s.default is None):
            continue
        if s.setting.read is None:
            read = value
        else:
            read = s.setting.read(value)
        if s.setting.several:
            several[name] = read
        elif isinstance(read, int) and s.setting.least is not None and read < s.setting.least:
            raise WrongUse(f"{s.flag} {read}: expected at least {s.setting.least}")
        else:
            values[name] = read
    return values, several
