"""``slurm.conf`` and ``gres.conf``: nodes, partitions, licences and the settings of the scheduler [slurm.conf(5), gres.conf(5)]."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...errors import WrongValue
from ...models.site_rules import PREEMPT_TYPES, SELECT_TYPES
from ...models.words import hint, how_many
from ..files.reading import WorkloadError, read_lines, whole_of
from ..formats.slurm_values import (
    count,
    count_limit,
    duration,
    generic,
    is_unknown,
    limit,
    memory,
    memory_limit,
    moment,
    tres_weights,
)
from .draft import (
    NEAR,
    Convert,
    Draft,
    Table,
    Values,
    Where,
    lower,
    meant,
    name_or_none,
    names,
    names_or_all,
    plain,
    word_set,
    words,
    yes,
)

LONGEST_INTERVAL = 10_800  # s between two passes of backfilling, as in Slurm
DEFAULT_INTERVAL = 30
NO_BACKFILL = 365 * 86_400  # s: no pass within a replay

# --- Texts of single keys.


def seconds(text: str) -> int:
    """Return a time in which a number alone is seconds, such as ``30`` or ``30 sec``. Raises WrongValue."""
    return int(duration(re.sub(r" ?sec$", "", text), 1))


def _up_to_minutes(length: int) -> int:
    """Return a time in s, rounded up to whole minutes, as Slurm keeps it."""
    return -(-length // 60) * 60


def minutes(text: str) -> int:
    """Return a time in which a number alone is minutes, in s. Raises WrongValue.

    >>> minutes("5"), minutes("00:00:30")
    (300, 60)
    """
    return _up_to_minutes(int(duration(re.sub(r" ?min$", "", text))))


def minutes_or_none(text: str) -> int | None:
    """Return a limit of time in which a number alone is minutes, in s; None for no limit. Raises WrongValue."""
    length = limit(re.sub(r" ?min$", "", text))
    if length is None:
        return None
    return _up_to_minutes(length)


def half_life(text: str) -> int:
    """Return a time in s; 0 for none. Raises WrongValue."""
    return minutes_or_none(text) or 0


def whole(text: str) -> int:
    """Return a whole number. Raises WrongValue."""
    value = whole_of(text)
    if value is None:
        raise WrongValue(f"{text[:40]!r}; expected a whole number of at least 0")
    return value


def whole_or_less(text: str) -> int:
    """Return a whole number, or -1. Raises WrongValue."""
    if text == "-1":
        return -1
    return whole(text)


def megabytes(text: str) -> int:
    """Return an amount of memory in MB. Raises WrongValue."""
    return int(memory(text).megabytes)


def plugin(text: str) -> str:
    """Return the name of a plug-in without its kind.

    >>> plugin("sched/backfill")
    'backfill'
    """
    return text.rpartition("/")[2].lower()


PLUGINS = {
    "schedulertype": ("backfill", "builtin", "hold", "wiki", "wiki2"),
    "selecttype": SELECT_TYPES,
    "preempttype": PREEMPT_TYPES,
}
ENFORCED = ("associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys", "all")
PREEMPT_MODES = ("off", "cancel", "requeue", "suspend", "gang", "within", "priority", "checkpoint")
SELECTED = (
    "cr_cpu", "cr_cpu_memory", "cr_core", "cr_core_memory", "cr_socket", "cr_socket_memory", "cr_memory", "cr_lln",
    "cr_one_task_per_core", "cr_core_default_dist_block", "cr_pack_nodes", "cr_board", "cr_board_memory", "other_cons_res",
    "other_cons_tres", "ll_shared_gres", "multiple_sharing_gres_pj", "enforce_binding_gres", "one_task_per_sharing_gres",
    "none",
)  # fmt: skip


def known_plugin(kind: str) -> Convert:
    """Return the function that gives the name of a plug-in, and raises WrongValue if Slurm has none of this name."""

    def convert(text: str) -> str:
        _check_words(text, (plugin(text),), PLUGINS[kind])
        return plugin(text)

    return convert


def known_words(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Return the function that gives the words of a list, and raises WrongValue for one that Slurm does not have.

    >>> known_words(ENFORCED)("associations,limts")
    Traceback (most recent call last):
    ...
    schedlab.errors.WrongValue: 'associations,limts'; 'limts' is not known: did you mean limits?
    """

    def convert(text: str) -> tuple[str, ...]:
        listed = tuple(word for word in words(text) if word != "0")
        _check_words(text, listed, known)
        return listed

    return convert


def _check_words(text: str, listed: Iterable[str], known: Sequence[str]) -> None:
    for word in listed:
        if word.partition("=")[0] not in known:
            raise WrongValue(f"{text[:60]!r}; {word[:40]!r} is not known: {hint(word, known, 'expected')}")


def enforced(text: str) -> str:
    """Return EnforcePartLimits; ``YES`` is ``ALL``. Raises WrongValue."""
    known = {"no": "no", "any": "any", "all": "all", "yes": "all"}
    if text.lower() not in known:
        raise WrongValue(f"{text[:40]!r}; expected NO, ANY, ALL or YES")
    return known[text.lower()]


def preempt_mode(text: str) -> str | None:
    """Return the preemption mode of a partition; None: that of the site."""
    if text.lower() in ("", "(null)", "n/a", "cluster"):
        return None
    return text.lower()


def modes(text: str) -> tuple[str, ...]:
    """Return the preemption modes of the site."""
    return known_words(PREEMPT_MODES)(text) or ("off",)


PARTITION_STATES = ("up", "down", "drain", "inactive")


def partition_state(text: str) -> str:
    """Return the state of a partition. Raises WrongValue."""
    if text.lower() not in PARTITION_STATES:
        raise WrongValue(f"{text[:40]!r}; expected {', '.join(PARTITION_STATES).upper()}")
    return text.lower()


def oversubscribe(text: str) -> str:
    """Return how jobs share the CPUs of a partition. Raises WrongValue.

    >>> oversubscribe("EXCLUSIVE"), oversubscribe("FORCE:2"), oversubscribe("YES")
    ('exclusive', 'force:2', 'yes:4')
    """
    match = re.fullmatch(r"(no|exclusive|yes|force)(?::(\d{1,6}))?", text.lower(), re.ASCII)
    if match is None:
        raise WrongValue(f"{text[:40]!r}; expected NO, EXCLUSIVE, YES:N or FORCE:N")
    if match[1] in ("no", "exclusive"):
        return match[1]
    return f"{match[1]}:{int(match[2] or 4) or 1}"  # 4 is Slurm's default


GONE = ("down", "fail", "error", "not_responding", "inval", "unk", "powered_down", "power_down", "no_respond", "reboot")
FUTURE = ("future",)
DRAINED = ("drain", "drained", "draining", "failing", "maint")


def node_state(text: str) -> str:
    """Return the state of a node: ``up``, ``down``, ``draining`` or ``future``.

    A cloud node that is powered down is up: a job that needs it has it booted.

    >>> [node_state(text) for text in ("UNKNOWN", "IDLE+DRAIN", "DOWN*", "IDLE+CLOUD+POWERED_DOWN", "FUTURE")]
    ['up', 'draining', 'down', 'up', 'future']
    """
    parts = [re.sub(r"[^a-z_]", "", part) for part in text.lower().split("+")]
    if any(part in FUTURE for part in parts):
        return "future"
    if "cloud" in parts:
        parts = [part for part in parts if not part.startswith("power")]
    if any(part in GONE for part in parts):
        return "down"
    if any(part in DRAINED for part in parts):
        return "draining"
    return "up"


def sizes_of(text: str) -> Values:
    """Return the GPUs by type and the other generic resources of a node. Raises WrongValue.

    >>> sizes_of("gpu:a100:2(S:0-1),gpu:v100:1,shard:8"), sizes_of("(null)")
    ({'gpus': {'a100': 2, 'v100': 1}, 'gres': {'shard': 8}}, {'gpus': {}, 'gres': {}})
    """
    for part in re.sub(r"\([^()]*\)", "", text).split(","):
        amount = [each for each in part.split(":")[2:] if each != "no_consume"]
        if amount and not re.fullmatch(r"\d+[kmgtp]?", ":".join(amount), re.ASCII | re.IGNORECASE):
            raise WrongValue(f"{text[:40]!r}; expected a number after the type, as in gpu:a100:2")
    amounts = generic(text)
    gpus = {name.partition(":")[2]: n for name, n in amounts.items() if name.startswith("gpu:")}
    without_type = amounts.get("gpu", 0) - sum(gpus.values())
    if without_type > 0:
        gpus[""] = without_type
    typed = {name.partition(":")[0] for name in amounts if ":" in name}
    others = {name: n for name, n in amounts.items() if name.partition(":")[0] != "gpu" and name not in typed}
    return {"gpus": gpus, "gres": others}


# --- The keys of nodes and partitions: those that are read, and those that do not concern a replay.

NODE_KEYS: Table = {
    "cpus": ("cpus", count), "procs": ("cpus", count), "cputot": ("cpus", count),
    "boards": ("boards", count), "sockets": ("sockets", count), "socketsperboard": ("sockets", count),
    "corespersocket": ("cores_per_socket", count), "threadspercore": ("threads", count),
    "realmemory": ("memory", megabytes), "weight": ("weight", whole), "state": ("state", node_state),
    "feature": ("features", names), "features": ("features", names), "availablefeatures": ("features", names),
    "gres": ("generic", sizes_of), "corespeccount": ("reserved_cores", whole), "memspeclimit": ("reserved_memory", megabytes),
}  # fmt: skip
NODE_IGNORED = word_set(
    "nodename nodehostname nodeaddr bcastaddr port tmpdisk reason comment extra mcs_label mcslabel owner arch cpualloc "
    "cpuefctv cpuload activefeatures version os allocmem freemem partitions boottime slurmdstarttime lastbusytime "
    "cfgtres alloctres capwatts currentwatts avewatts extsensorsjoules extsensorswatts extsensorstemp cpuspeclist "
    "resumeaftertime gresdrain gresused instanceid instancetype cpubind parameters cpuerr reservationname "
    "topology certificate certtoken state.reason dynamicnormal restrictedcorespergpu"
)
PARTITION_KEYS: Table = {
    "nodes": ("nodes", plain), "maxtime": ("max_time", minutes_or_none), "defaulttime": ("default_time", minutes_or_none),
    "minnodes": ("min_nodes", whole), "maxnodes": ("max_nodes", count_limit),
    "maxcpuspernode": ("max_cpus_per_node", count_limit),
    "defmempercpu": ("def_mem_per_cpu", memory_limit), "maxmempercpu": ("max_mem_per_cpu", memory_limit),
    "defmempernode": ("def_mem_per_node", memory_limit), "maxmempernode": ("max_mem_per_node", memory_limit),
    "defmempergpu": ("def_mem_per_gpu", memory_limit), "defcpupergpu": ("def_cpu_per_gpu", count_limit),
    "prioritytier": ("tier", whole), "priorityjobfactor": ("job_factor", whole), "priority": ("priority", whole),
    "allowqos": ("allow_qos", names_or_all), "denyqos": ("deny_qos", words),
    "allowaccounts": ("allow_accounts", names_or_all), "denyaccounts": ("deny_accounts", words),
    "allowgroups": ("allow_groups", names_or_all), "qos": ("qos", name_or_none),
    "oversubscribe": ("oversubscribe", oversubscribe), "shared": ("oversubscribe", oversubscribe),
    "preemptmode": ("preempt_mode", preempt_mode), "gracetime": ("grace_time", seconds),
    "overtimelimit": ("over_time_limit", minutes_or_none), "state": ("state", partition_state),
    "default": ("default", yes), "lln": ("least_loaded", yes), "exclusiveuser": ("exclusive_user", yes),
    "reqresv": ("needs_reservation", yes), "tresbillingweights": ("billing_weights", tres_weights),
    "jobdefaults": ("job_defaults", lambda text: job_defaults(text)),
}  # fmt: skip
PARTITION_IGNORED = word_set(
    "partitionname allocnodes disablerootjobs hidden rootonly totalcpus totalnodes tres cpubind suspendtime resumetimeout "
    "suspendtimeout powerdownonidle nodesets exclusivetopo"
)
PARTITION_NOT_MODELLED = {
    "alternate": (),
    "selecttypeparameters": ("none",),
    "maxcpuspersocket": ("unlimited",),
    "topology": (),
}


def job_defaults(text: str) -> Values:
    """Return the values of JobDefaults, such as ``DefCpuPerGPU=8,DefMemPerGPU=4000``. Raises WrongValue."""
    keys = {"defcpupergpu": "def_cpu_per_gpu", "defmempergpu": "def_mem_per_gpu"}
    values = {}
    for pair in names(text):
        key, _, amount = pair.partition("=")
        if key.lower() not in keys:
            raise WrongValue(f"{text[:40]!r}; expected DefCpuPerGPU and DefMemPerGPU")
        values[keys[key.lower()]] = whole(amount)
    return values


# --- The settings of the scheduler: keys that are read, keys whose effect is not modelled with their harmless values, others.

SETTINGS: Table = {
    "schedulertype": ("scheduler_type", known_plugin("schedulertype")), "selecttype": ("select_type", known_plugin("selecttype")),
    "selecttypeparameters": ("select_parameters", known_words(SELECTED)), "prioritytype": ("priority_type", plugin),
    "priorityweightage": ("weight_age", whole), "priorityweightassoc": ("weight_assoc", whole),
    "priorityweightfairshare": ("weight_fairshare", whole), "priorityweightjobsize": ("weight_job_size", whole),
    "priorityweightpartition": ("weight_partition", whole), "priorityweightqos": ("weight_qos", whole),
    "priorityweighttres": ("weight_tres", lambda text: {} if text in ("(null)", "0") else tres_weights(text)),
    "prioritymaxage": ("max_age", minutes), "prioritydecayhalflife": ("decay_half_life", half_life),
    "prioritycalcperiod": ("calc_period", minutes), "priorityusageresetperiod": ("usage_reset_period", lower),
    "priorityfavorsmall": ("favor_small", yes), "priorityflags": ("priority_flags", words),
    "fairsharedampeningfactor": ("fair_share_dampening", whole), "preempttype": ("preempt_type", known_plugin("preempttype")),
    "preemptmode": ("preempt_mode", modes), "preemptexempttime": ("preempt_exempt_time", lambda text: limit(text) or 0),
    "overtimelimit": ("over_time_limit", minutes_or_none), "killwait": ("kill_wait", seconds),
    "completewait": ("complete_wait", seconds), "resvoverrun": ("resv_over_run", minutes_or_none),
    "defmempercpu": ("def_mem_per_cpu", memory_limit), "defmempernode": ("def_mem_per_node", memory_limit),
    "defmempergpu": ("def_mem_per_gpu", memory_limit), "maxmempercpu": ("max_mem_per_cpu", memory_limit),
    "maxmempernode": ("max_mem_per_node", memory_limit), "jobdefaults": ("job_defaults", job_defaults),
    "enforcepartlimits": ("enforce_part_limits", enforced),
    "accountingstorageenforce": ("accounting_enforce", known_words(ENFORCED)),
    "jobrequeue": ("job_requeue", yes), "maxarraysize": ("max_array_size", whole), "maxjobcount": ("max_job_count", whole),
}  # fmt: skip
NOT_MODELLED: dict[str, tuple[str, ...]] = {  # key -> values with which it has no effect
    "topologyplugin": ("topology/none", "topology/default", "topology/flat"),
    "topologyparam": (),
    "burstbuffertype": ("burst_buffer/none",),
    "jobsubmitplugins": (),
    "clifilterplugins": (),
    "nodefeaturesplugins": (),
    "prioritysitefactorplugin": (),
    "priorityparameters": (),
    "preemptparameters": (),
    "powerplugin": (),
    "powerparameters": (),
    "federationparameters": (),
    "suspendprogram": (),
    "mcsplugin": ("mcs/none",),
    "dependencyparameters": (),
    "requeueexit": (),
    "requeueexithold": (),
    "allowspecresourcesusage": ("no", "0"),
    "epilog": (),
    "jobsubmitfilter": (),
}
SHOWN_AS = {
    "topologyplugin": "TopologyPlugin", "topologyparam": "TopologyParam", "burstbuffertype": "BurstBufferType",
    "jobsubmitplugins": "JobSubmitPlugins", "epilog": "Epilog", "clifilterplugins": "CliFilterPlugins",
}  # fmt: skip
IRRELEVANT_STARTS = (
    "accountingstor", "acctgather", "auth", "bcast", "communication", "cred", "crypto", "epilog", "extsensors", "gpufreq",
    "healthcheck", "jobacct", "jobcomp", "jobcontainer", "jobcredential", "launch", "log", "mail", "mpi", "plug", "prep",
    "proctrack", "prolog", "propagate", "ret", "route", "slurm", "srun", "switch", "task", "resv", "resume", "suspend", "x11",
    "unkillable", "metrics", "hash", "namespace", "certmgr", "tls", "url", "data_parser", "debugflags", "cpufreq", "cgroup",
)  # fmt: skip  # families of keys: accounting, logging, daemons, launch of tasks
IRRELEVANT = word_set(
    "clustername controlmachine controladdr backupcontroller backupaddr batchstarttimeout boot_time corespecplugin "
    "disablerootjobs defaultstoragehost defaultstorageport defaultstoragepass defaultstoragetype defaultstorageuser "
    "defaultstorageloc eiotimeout fastschedule firstjobid frontendname getenvtimeout grestypes groupupdateforce "
    "groupupdatetime inactivelimit interactivestepoptions jobfileappend keepalivetime killonbadexit "
    "maxdbdmsgs maxjobid maxnodecount maxstepcount maxtaskspernode maxbatchrequeue mcsparameters messagetimeout "
    "minjobage multiple_slurmd next_job_id openmode parameters privatedata rebootprogram "
    "reconfigflags scronparameters sallocdefaultcommand schedulertimeslice schedulerport schedulerrootfilter "
    "statesavelocation storagehost tcptimeout tmpfs trackwckey treewidth usepam userprologpath vsizefactor waittime "
    "checkpointtype gresplugins cachegroups "
    "kernelspecplugin nodefeatures prepparameters"
)


OTHER_KEYS = ("clustername", "nodename", "partitionname", "schedulerparameters", "licenses")
MISSPELT = 0.9  # similarity of a key of these families to a setting from which on it is a misspelt one


class _Parameter(NamedTuple):
    """A parameter of SchedulerParameters: the field, and how its text is converted; of a flag None."""

    field: str
    convert: Convert | None = None


def _minutes_of_window(text: str) -> int:
    return 60 * whole(text)


def _interval_of_backfill(text: str) -> int:
    """Return the seconds between two passes: Slurm takes 30 for what is not within 1 to 10,800; -1: there are none."""
    if text.strip() == "-1":
        return NO_BACKFILL
    seconds = whole(text)
    if 1 <= seconds <= LONGEST_INTERVAL:
        return seconds
    return DEFAULT_INTERVAL


PARAMETERS = {
    **{
        name: _Parameter(name, whole)
        for name in (
            "default_queue_depth", "partition_job_depth", "sched_min_interval", "sched_max_job_start", "max_sched_time",
            "batch_sched_delay", "bf_max_time", "bf_resolution", "bf_min_age_reserve", "bf_max_job_test",
            "bf_max_job_part", "bf_max_job_user", "bf_max_job_user_part", "bf_max_job_assoc", "bf_max_job_start",
            "bf_max_job_array_resv", "bf_job_part_count_reserve", "bf_min_prio_reserve", "bf_yield_interval",
            "bf_yield_sleep", "preempt_reorder_count",
        )
    },
    **{
        name: _Parameter(name)
        for name in (
            "defer", "assoc_limit_stop", "bf_continue", "bf_busy_nodes", "bf_one_resv_per_job", "bf_running_job_reserve",
            "bf_licenses", "bf_ignore_newly_avail_nodes", "pack_serial_at_end", "preempt_strict_order",
            "preempt_youngest_first", "time_min_as_soft_limit",
        )
    },
    "sched_interval": _Parameter("sched_interval", whole_or_less),
    "bf_interval": _Parameter("bf_interval", _interval_of_backfill),
    "bf_window": _Parameter("bf_window", _minutes_of_window),
}  # fmt: skip
PARAMETERS_IGNORED = word_set(
    "max_script_size enable_user_top default_gbytes "
    "disable_job_shrink disable_hetjob_steps requeue_delay jobs_per_user_per_hour whole_hetjob allow_zero_lic "
    "no_env_cache nohold_on_prolog_fail salloc_wait_nodes sbatch_wait_nodes step_retry_count step_retry_time "
    "max_submit_line_size permit_job_expansion max_array_tasks max_depend_depth kill_invalid_depend "
    "preempt_send_user_signal bb_array_stage_cnt no_backup_scheduling ume_check_interval "
    "delay_boot_default inventory_interval user_resv_delete"
)


PARAMETERS_NOT_MODELLED = word_set(
    "max_rpc_cnt build_queue_timeout bf_node_space_size bf_window_linear bf_hetjob_prio bf_hetjob_immediate bf_topopt_enable "
    "bf_topopt_iterations bf_allow_magnetic_slot topo_optional delay_boot extra_constraints"
)


def settings(draft: Draft, where: Where, key: str, text: str, strict: bool = True) -> None:
    """Read a setting of the scheduler into a draft; an unknown key is noted if the text is from ``slurm.conf``."""
    name = key.lower()
    if name == "clustername":
        draft.of_cluster(where, text)
    elif name == "schedulerparameters":
        _parameters(draft, where, text)
    elif name == "licenses":
        draft.licences |= draft.convert(where, key, text, licences) or {}
    elif name in NOT_MODELLED:
        if text.lower() not in ("", "(null)", "none", *NOT_MODELLED[name]):
            draft.omit(f"{SHOWN_AS.get(name, key)}={text}")
    elif name in SETTINGS:
        field, convert = SETTINGS[name]
        before = len(draft.faults)
        value = draft.convert(where, key, text, convert)
        if len(draft.faults) > before:
            return
        if field == "job_defaults":
            draft.settings |= value
        else:
            draft.settings |= {field: value}
        if field == "priority_type" and value not in ("basic", "multifactor"):
            draft.omit(f"PriorityType={text}")
        if field == "preempt_mode" and "gang" in value:
            draft.omit("PreemptMode=GANG (time slices)")
    elif strict and name not in IRRELEVANT:
        in_family = name.startswith(IRRELEVANT_STARTS)
        known = SETTINGS if in_family else [*SETTINGS, *NOT_MODELLED, *OTHER_KEYS]
        proposed = meant(name, known, MISSPELT if in_family else NEAR)
        if name in NODE_KEYS or name in NODE_IGNORED:  # of a line without NodeName
            proposed = ""
        if proposed or not in_family:
            draft.strange(where, key, proposed)


def _parameters(draft: Draft, where: Where, text: str) -> None:
    """Read SchedulerParameters; a later line replaces an earlier one as a whole, as in Slurm."""
    for field in {parameter.field for parameter in PARAMETERS.values()}:
        draft.settings.pop(field, None)
    for pair in names(text):
        key, sign, amount = pair.partition("=")
        parameter = PARAMETERS.get(key.lower())
        if parameter is None:
            proposed = meant(key, [*PARAMETERS, *PARAMETERS_IGNORED, *PARAMETERS_NOT_MODELLED])
            if key.lower() in PARAMETERS_IGNORED:
                continue
            if proposed and key.lower() not in PARAMETERS_NOT_MODELLED:
                draft.strange(where, f"SchedulerParameters={pair}", proposed)
            else:
                draft.omit(f"SchedulerParameters={pair}")
        elif parameter.convert is None:
            draft.settings[parameter.field] = not sign or yes_or_number(amount)
        else:
            draft.settings[parameter.field] = draft.convert(where, key, amount, parameter.convert)
            if draft.settings[parameter.field] is None:
                del draft.settings[parameter.field]


def yes_or_number(text: str) -> bool:
    """Return whether the value of a flag such as ``bf_busy_nodes=1`` turns it on."""
    return text.lower() not in ("0", "no", "false")


def licences(text: str) -> dict[str, int]:
    """Return name -> amount of a list of licences. Raises WrongValue.

    >>> licences("matlab:20,ansys*4,idl")
    {'matlab': 20, 'ansys': 4, 'idl': 1}
    """
    pairs = (re.split("[:*=]", entry, maxsplit=1) for entry in names(text))
    return {parts[0]: whole(parts[1]) if len(parts) > 1 else 1 for parts in pairs}


# --- Lines: comments, continuation, Include, pairs of key and value.

MOST_INCLUDED = 200  # files that one slurm.conf includes
PAIR = re.compile(r"""([\w./:\[\]-]+)\s*(?:\+|-)?=\s*("[^"]*"|'[^']*'|\S*)""")
INCLUDE = re.compile(r"include\s+(\S.*)", re.IGNORECASE)


class Line(NamedTuple):
    """A line without comment, with those that continue it."""

    where: Where
    text: str


def logical_lines(path: Path, lines: Sequence[str]) -> Iterator[Line]:
    r"""Yield the lines of a configuration file without comments and empty lines; a \ at the end continues a line.

    >>> [line.text for line in logical_lines(Path("slurm.conf"), ["A=1 # first", "B=2 \\", " C=3", "", "#D=4"])]
    ['A=1', 'B=2  C=3']
    """
    first = 0
    parts = list[str]()
    for number, line in enumerate(lines, 1):
        text = re.sub(r"(?<!\\)#.*", "", line).replace("\\#", "#").rstrip()
        if not parts:
            first = number
        if text.endswith("\\"):
            parts.append(text[:-1])
            continue
        joined = "".join([*parts, text]).strip()
        parts = []
        if joined:
            yield Line(Where(str(path), first), joined)
    if "".join(parts).strip():
        yield Line(Where(str(path), first), "".join(parts).strip())


def with_included(draft: Draft, path: Path, lines: Sequence[str], seen: set[Path]) -> Iterator[Line]:
    """Yield the lines of a file with those of the files that it includes, in their places; a missing one is a fault."""
    for line in logical_lines(path, lines):
        match = INCLUDE.fullmatch(line.text)
        if match is None:
            yield line
            continue
        named = match[1].strip().strip('"').replace("%c", draft.name)
        beside = path.parent / named  # an absolute name stays what it is
        if beside.is_file():
            target = beside
        else:
            target = path.parent / Path(named).name
        if target.resolve() in seen or len(seen) >= MOST_INCLUDED:
            draft.fault(line.where, "Include", f"Include {named}: the file is included already")
            continue
        try:
            inner = read_lines(target)
        except WorkloadError as e:
            draft.fault(line.where, "Include", f"Include {named}: {e}")
            continue
        seen.add(target.resolve())
        yield from with_included(draft, target, inner, seen)


def pairs_of(draft: Draft, line: Line) -> list[tuple[str, str]]:
    """Return the pairs of key and text of a line; what is no pair is a fault."""
    pairs = [(m[1], m[2].strip("\"'")) for m in PAIR.finditer(line.text)]
    rest = PAIR.sub("", line.text).strip()
    if rest or not pairs:
        draft.fault(line.where, "", f"{(rest or line.text)[:60]!r}; expected pairs such as NodeName=n[1-4] CPUs=16")
    return pairs


# --- The two files.


def read_slurm_conf(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``slurm.conf`` with the files that it includes.

    Parameters
    ----------
    draft
        The site to which it is added. Faults are noted in it.
    path, lines
        The file, and its lines.
    """
    defaults: dict[str, Values] = {"node": {}, "partition": {}}
    lines_of_nodes: dict[str, Where] = {}
    for line in with_included(draft, path, lines, {path.resolve()}):
        pairs = pairs_of(draft, line)
        if not pairs:
            continue
        key = pairs[0][0].lower()
        name = pairs[0][1]
        if key == "nodename":
            _nodes(draft, line.where, name, pairs[1:], defaults["node"], lines_of_nodes)
        elif key == "partitionname":
            _partitions(draft, line.where, name, pairs[1:], defaults["partition"])
        elif key == "nodeset":
            draft.node_sets[name] = (line.where, {k.lower(): text for k, text in pairs[1:]})
        elif key == "downnodes":
            _down(draft, line.where, name, pairs[1:])
        elif key in ("slurmctldhost", "frontendname"):
            continue
        else:
            for each, text in pairs:
                settings(draft, line.where, re.sub(r"\[\d+\]$", "", each), text)
    nodes_of_partitions(draft)


def _nodes(
    draft: Draft,
    where: Where,
    name: str,
    pairs: Iterable[tuple[str, str]],
    default: Values,
    lines_of_nodes: dict[str, Where],
) -> None:
    """Read a line ``NodeName=``; ``lines_of_nodes``: node -> the line that has it, to which its nodes are added."""
    values = node_values(draft.read(where, pairs, NODE_KEYS, NODE_IGNORED, "nodes"))
    if name.upper() == "DEFAULT":
        default |= values
        return
    listed = draft.hosts(where, "NodeName", name)
    _check_nodes_are_new(draft, where, listed, lines_of_nodes)
    for each in listed:
        lines_of_nodes.setdefault(each, where)
        draft.node(each, default | draft.nodes.get(each, {}) | values)


def _check_nodes_are_new(
    draft: Draft, where: Where, listed: Sequence[str], lines_of_nodes: Mapping[str, Where]
) -> None:
    """Note the nodes that an earlier line ``NodeName=`` has, or that this line has twice, as a fault."""
    again = [each for each in listed if each in lines_of_nodes]
    again += [each for each, count in Counter(listed).items() if count > 1 and each not in lines_of_nodes]
    if not again:
        return
    first = lines_of_nodes.get(again[0], where)
    more = ""
    if len(again) > 1:
        more = f" and {how_many(len(again) - 1, 'more node')}"
    if first.file == where.file:
        place = f"line {first.line}"
    else:
        place = f"{first.file}, line {first.line},"
    draft.fault(
        where, "NodeName", f"NodeName: {place} has the node {again[0]!r}{more} already; expected each node in one line"
    )


def node_values(values: Values) -> Values:
    """Return the fields of a node with its generic resources as fields."""
    return {key: value for key, value in values.items() if key != "generic"} | (values.get("generic") or {})


def _down(draft: Draft, where: Where, name: str, pairs: Sequence[tuple[str, str]]) -> None:
    state = node_state(next((text for key, text in pairs if key.lower() == "state"), "DOWN"))
    for each in draft.hosts(where, "DownNodes", name):
        if each in draft.nodes:
            draft.node(each, {"state": state})
        else:
            draft.fault(where, "DownNodes", f"DownNodes: there is no node {each!r}")


def _partitions(draft: Draft, where: Where, name: str, pairs: Sequence[tuple[str, str]], default: Values) -> None:
    values = partition_values(draft, where, pairs)
    if name.upper() == "DEFAULT":
        default |= values
        return
    for each in names(name):
        known = draft.partitions.setdefault(each, {})
        known.update({**default, **known, **values, "where": where})


def partition_values(draft: Draft, where: Where, pairs: Sequence[tuple[str, str]]) -> Values:
    """Return the fields of a partition; keys whose effect is not modelled are noted."""
    others = []
    for key, text in pairs:
        if key.lower() not in PARTITION_NOT_MODELLED:
            others.append((key, text))
        elif text.lower() not in ("", "(null)", *PARTITION_NOT_MODELLED[key.lower()]):
            draft.omit(f"{key}={text} of partitions")
    values = draft.read(where, others, PARTITION_KEYS, PARTITION_IGNORED, "partitions")
    values |= values.pop("job_defaults", {})
    if "priority" in values:  # before 15.08, one number for both
        both = values.pop("priority")
        values = {"tier": both, "job_factor": both} | values
    return values


def nodes_of_partitions(draft: Draft) -> None:
    """Replace the lists of hosts and sets of nodes of the partitions by the names of nodes; unknown ones are faults."""
    for name, values in draft.partitions.items():
        where = values.pop("where", Where(""))
        longest = values.get("max_time")
        usual = values.get("default_time")
        if longest is not None and usual is not None and usual > longest:  # Slurm uses the limit then
            del values["default_time"]
        text = values.get("nodes")
        if not isinstance(text, str):
            continue
        listed: dict[str, None] = {}
        for each in _members(draft, where, text):
            listed[each] = None
        unknown = [each for each in listed if each not in draft.nodes]
        if unknown:
            more = ""
            if len(unknown) > 3:
                more = f" and {len(unknown) - 3} more"
            first = ", ".join(map(repr, unknown[:3]))
            draft.fault(where, "Nodes", f"Nodes of partition {name}: there is no node {first}{more}")
        values["nodes"] = tuple(listed)


def _members(draft: Draft, where: Where, text: str) -> Iterator[str]:
    if text.lower() in ("", "(null)", "none"):
        return
    if text.upper() == "ALL":
        yield from draft.nodes
        return
    for each in draft.hosts(where, "Nodes", text):
        if each not in draft.node_sets:
            yield each
            continue
        of_set, keys = draft.node_sets[each]
        if "nodes" in keys:
            yield from draft.nodes if keys["nodes"].upper() == "ALL" else draft.hosts(of_set, "Nodes", keys["nodes"])
        wanted = set(names(keys.get("feature", "")))
        yield from (node for node, has in draft.nodes.items() if wanted & set(has.get("features", ())))


GRES_IGNORED = word_set("autodetect cores cpus links flags multiplefiles optional")


def read_gres_conf(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``gres.conf``: types and numbers of generic resources, where ``slurm.conf`` does not give them.

    ``slurm.conf`` decides how many a node has: lines here without a number count their files.
    """
    added: dict[str, dict[str, int]] = {}
    for line in with_included(draft, path, lines, {path.resolve()}):
        pairs = {key.lower(): text for key, text in pairs_of(draft, line)}
        if "name" not in pairs:
            if not set(pairs) <= GRES_IGNORED | {"nodename"}:
                draft.fault(line.where, "Name", "the line has no Name; expected one such as Name=gpu Type=a100 Count=4")
            continue
        if "nodename" in pairs:
            nodes = draft.hosts(line.where, "NodeName", pairs["nodename"])
        else:
            nodes = list(draft.nodes)
        number = _number_of(draft, line.where, pairs)
        kind = pairs["name"] + (f":{pairs['type']}" if "type" in pairs else "")
        for node in nodes:
            if node not in draft.nodes:
                draft.fault(line.where, "NodeName", f"NodeName: there is no node {node!r} in slurm.conf")
                break
            of_node = added.setdefault(node, {})
            of_node[kind] = of_node.get(kind, 0) + number
    other: dict[tuple[str, str], list[str]] = {}
    for node, amounts in added.items():
        strange = _other_types(draft, node, amounts)
        if strange is not None:
            other.setdefault(strange, []).append(node)
        _combine(draft, node, amounts)
    for (here, there), nodes in other.items():
        more = ""
        if len(nodes) > 1:
            more = f" and {how_many(len(nodes) - 1, 'further node')}"
        draft.omit(
            f"GPUs of type {here} that gres.conf gives to {nodes[0]}{more}: slurm.conf has {there} there, which counts; "
            "correct one of the two"
        )


def _other_types(draft: Draft, node: str, amounts: Mapping[str, int]) -> tuple[str, str] | None:
    """Return the types of GPUs that ``gres.conf`` alone gives to a node, and those of ``slurm.conf``; None without a contradiction."""
    of_node = [kind for kind in draft.nodes[node].get("gpus") or {} if kind]
    strange = [kind.partition(":")[2] for kind in amounts if kind.startswith("gpu:")]
    strange = [kind for kind in strange if kind not in of_node]
    if of_node and strange:
        return (", ".join(strange), ", ".join(of_node))
    return None


def _number_of(draft: Draft, where: Where, pairs: dict[str, str]) -> int:
    if "count" in pairs:
        amounts = draft.convert(where, "Count", pairs["count"], lambda text: generic(f"x:{text}"))
        return 0 if amounts is None else amounts.get("x", 0)
    files = pairs.get("file") or pairs.get("multiplefiles")
    if files:
        return len(draft.hosts(where, "File", files))
    return 1


def _combine(draft: Draft, node: str, amounts: dict[str, int]) -> None:
    """Add the types that ``gres.conf`` gives for GPUs whose number, but not type, ``slurm.conf`` has."""
    gpus: dict[str, int] = draft.nodes[node].get("gpus") or {}
    typed = {kind.partition(":")[2]: n for kind, n in amounts.items() if kind.startswith("gpu:")}
    if list(gpus) == [""] and sum(typed.values()) == gpus[""]:
        draft.node(node, {"gpus": typed})
    elif not gpus and any(kind.partition(":")[0] == "gpu" for kind in amounts):
        draft.omit("GPUs that only gres.conf has: Slurm gives none of them to jobs (Gres of NodeName is missing)")


# --- What ``scontrol show`` prints.

CONFIG = re.compile(r"(\S[^=]*?)\s*=\s*(.*)")
KEY = re.compile(r"(?:^|\s)([A-Za-z][\w:./]*)=")
FIRST = re.compile(r"(NodeName|PartitionName|ReservationName|LicenseName)=")
Record = tuple[Where, list[tuple[str, str]]]


def read_config(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``scontrol show config``, the settings that are in force."""
    for number, line in enumerate(lines, 1):
        match = CONFIG.fullmatch(line.strip())
        if match is None or not match[2] or match[2] == "(null)":
            continue
        settings(draft, Where(str(path), number), re.sub(r"\[\d+\]$", "", match[1]), match[2], strict=False)


def records(path: Path, lines: Sequence[str]) -> Iterator[Record]:
    """Yield the pairs of each record, of one line or of several; values may have spaces."""
    where: Where | None = None
    parts: list[str] = []
    for number, line in enumerate([*lines, ""], 1):
        if parts and (FIRST.match(line) or not line.strip()):
            assert where is not None
            yield where, _pairs(" ".join(parts))
            parts = []
        if FIRST.match(line):
            where = Where(str(path), number)
            parts = [line.strip()]
        elif parts:
            parts.append(line.strip())


def _pairs(text: str) -> list[tuple[str, str]]:
    """Return the pairs of key and value of a record.

    >>> _pairs("NodeName=n1 OS=Linux 6.1 #1 SMP State=IDLE+DRAIN Reason=fan broken [root@now] Gres=(null)")[1:4]
    [('OS', 'Linux 6.1 #1 SMP'), ('State', 'IDLE+DRAIN'), ('Reason', 'fan broken [root@now]')]
    """
    matches = list(KEY.finditer(text))
    ends = [*(m.start() for m in matches[1:]), len(text)]
    return [(m[1], text[m.end() : end].strip()) for m, end in zip(matches, ends, strict=False)]


def read_nodes(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``scontrol show node``; ``Partitions`` of a node make a partition that no other file has."""
    for where, pairs in records(path, lines):
        given = [(key, text) for key, text in pairs if text not in ("(null)", "N/A")]
        values = node_values(draft.read(where, given[1:], NODE_KEYS, NODE_IGNORED, "nodes"))
        values.setdefault("gpus", {})
        draft.node(pairs[0][1], values)


def read_partitions(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``scontrol show partition``."""
    for where, pairs in records(path, lines):
        values = partition_values(draft, where, pairs[1:])
        if not draft.nodes:
            draft.fault(where, "Nodes", "no file describes nodes; expected slurm.conf or scontrol show node beside it")
            return
        draft.partitions.setdefault(pairs[0][1], {}).update({**values, "where": where})
    nodes_of_partitions(draft)


RESERVATION_KEYS: Table = {
    "nodecnt": ("node_count", lambda text: whole(text.partition("(")[0])), "corecnt": ("core_count", whole),
    "features": ("features", lambda text: tuple(re.split("[&|,]", text))), "users": ("users", names),
    "groups": ("groups", names), "accounts": ("accounts", words), "flags": ("flags", words),
    "partitionname": ("partition", str),
}  # fmt: skip
RESERVATION_IGNORED = word_set(
    "starttime endtime duration nodes tres state watts maxstartdelay comment nodename coreids"
)


def read_reservations(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``scontrol show res``; times are local ones of the machine."""
    for where, pairs in records(path, lines):
        given = {key.lower(): (key, text) for key, text in pairs[1:] if text not in ("(null)", "n/a", "N/A")}
        not_read = {key: text for key, (_, text) in given.items() if key in ("burstbuffer", "licenses")}
        others = [pair for key, pair in given.items() if key not in not_read]
        values: Values = draft.read(where, others, RESERVATION_KEYS, RESERVATION_IGNORED, "reservations")
        values["licences"] = draft.convert(where, "Licenses", not_read.get("licenses", ""), licences)
        if "burstbuffer" in not_read:
            draft.omit(f"burst buffer of the reservation {pairs[0][1]}")
        start = draft.convert(where, "StartTime", given.get("starttime", ("", ""))[1], lambda t: _moment(t, draft))
        values["start"] = start
        values["duration"] = _length(draft, where, pairs[0][1], {key: text for key, (_, text) in given.items()}, start)
        if "nodes" in given:
            values["nodes"] = tuple(draft.hosts(where, "Nodes", given["nodes"][1]))
        values["flags"] = tuple(flag for flag in values.get("flags", ()) if flag != "spec_nodes")
        if start is not None and values["duration"] is not None and values["licences"] is not None:
            draft.reservations[pairs[0][1]] = values


def _moment(text: str, draft: Draft) -> int:
    """Return a time in Unix seconds. Raises WrongValue."""
    at = moment(text, draft.zone)
    if math.isnan(at):
        raise WrongValue(f"{text!r}; expected a time such as 2024-05-01T12:00:00")
    return int(at)


def _length(draft: Draft, where: Where, name: str, given: Mapping[str, str], start: int | None) -> int | None:
    """Return the length of a reservation in s; None after a fault."""
    end: int | None = None
    if "duration" not in given or not is_unknown(given.get("endtime", "")):
        end = draft.convert(where, "EndTime", given.get("endtime", ""), lambda text: _moment(text, draft))
        if end is None or start is None:
            return None
        if end < start:
            draft.ends_before(where, "EndTime", name, given["starttime"], given["endtime"])
            return None
    if "duration" not in given:
        if end is None or start is None:
            return None
        return end - start
    length: int | None = draft.convert(where, "Duration", given["duration"], limit)
    if length is None and not draft.faults:
        draft.fault(where, "Duration", "Duration: a reservation without an end is not supported; expected D-HH:MM:SS")
    return length


def read_licences(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``scontrol show lic``."""
    for where, pairs in records(path, lines):
        given = {key.lower(): text for key, text in pairs}
        total = draft.convert(where, "Total", given.get("total", ""), whole)
        if total is not None:
            draft.licences[pairs[0][1]] = total
