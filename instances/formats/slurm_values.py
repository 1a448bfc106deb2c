"""Values in the texts of Slurm: durations, memory, trackable and generic resources, times, states; and options of command lines.

They are the same in ``sacct``, ``squeue``, ``scontrol`` and ``slurm.conf``; readers of logs, states and sites share them.

A command line (column ``SubmitLine`` of sacct) is the words of the command, joined by blanks; Slurm adds no quotes, but a program that submits may have left
some: they are no part of a value. What comes after the script, or after ``--wrap``, is not of Slurm. Options in the script (``#SBATCH``) are not in the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta, tzinfo
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice, product
from types import MappingProxyType
from typing import Any, NamedTuple

from ...errors import WrongValue
from ...models.dispatch.jobs import Gres, SiteRequest
from ...models.site import in_ranges
from ...models.site_rules import TRES_NAME, TRES_NAMES
from ...models.words import hint
from ..files.reading import exact_of, number_of, seconds_of, span_of, whole_of
from ..site_columns import dependencies_of

UNKNOWN = frozenset(("", "unknown", "none", "n/a", "na", "null", "(null)", "invalid", "none assigned", "nan"))
WITHOUT_LIMIT = frozenset(("unlimited", "infinite", "partition_limit"))
DURATION = re.compile(
    r"(?:(?P<days>\d+)-(?P<day_hours>\d+)(?::(?P<day_minutes>\d+)(?::(?P<day_seconds>\d+(?:\.\d+)?))?)?"
    r"|(?:(?:(?P<hours>\d+):)?(?P<minutes>\d+):)(?P<seconds>\d+(?:\.\d+)?)|(?P<only>\d+))",
    re.ASCII,
)
MEMORY = re.compile(r"(\d+(?:\.\d+)?)([KMGTPE]?)B?([cn?]?)", re.ASCII | re.IGNORECASE)
MB: Mapping[str, int | Fraction] = {
    "K": Fraction(1, 1024),
    "": 1,
    "M": 1,
    "G": 1024,
    "T": 1024**2,
    "P": 1024**3,
    "E": 1024**4,
}
PER_CPU_FLAGS = (2**63, 2**31)  # MEM_PER_CPU of 64 and of 32 bits, in MB, which old versions printed as an amount
COUNT = re.compile(r"(\d+(?:\.\d+)?)([KMGT]?)", re.ASCII)
THOUSANDS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
GPU = "gres/gpu"
WEIGHT = re.compile(r"(\d*\.?\d+|\d+\.)([KMGTPE]?)", re.ASCII | re.IGNORECASE)
EPOCH = re.compile(r"\d{9,11}(?:\.\d+)?", re.ASCII)
# a name or, in versions before 20.11, the number of the plug-in: 7696487 is "gpu" in ASCII
OLD_GRES = re.compile(r"(?:^|,)(?:gres[:/])?(?:gpu|7696487)(?::([^:=,()]+))??(?:[:=](\d{1,9}))?(?=$|[,(])", re.ASCII)
GRES_PER = re.compile(r"(?:^|\s)PER_(JOB|NODE|SOCKET|TASK):", re.ASCII)
NO_GRES = frozenset(("cpu", "mem", "node", "billing", "energy", "vmem", "pages"))
LONGEST = 100_000  # characters of a list of generic resources
CACHED = 4096  # texts whose values are kept: those of a log repeat
SHORT_STATES = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "CF": "CONFIGURING", "CG": "COMPLETING", "DL": "DEADLINE",
    "F": "FAILED", "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PD": "PENDING", "PR": "PREEMPTED", "R": "RUNNING",
    "RD": "RESV_DEL_HOLD", "RF": "REQUEUE_FED", "RH": "REQUEUE_HOLD", "RQ": "REQUEUED", "RS": "RESIZING", "RV": "REVOKED",
    "S": "SUSPENDED", "SE": "SPECIAL_EXIT", "SI": "SIGNALING", "SO": "STAGE_OUT", "ST": "STOPPED", "TO": "TIMEOUT",
}  # fmt: skip


def is_unknown(text: str) -> bool:
    """Check whether Slurm has no value: an empty text, ``Unknown``, ``None``, ``None assigned``, ``INVALID`` and the like.

    >>> is_unknown("None assigned"), is_unknown("0")
    (True, False)
    """
    return text.lower() in UNKNOWN


@lru_cache(CACHED)
def duration(text: str, alone: int = 60) -> float:
    """Convert a duration to seconds; infinity for no limit.

    Parameters
    ----------
    text
        ``M``, ``M:S``, ``H:M:S``, ``D-H``, ``D-H:M``, ``D-H:M:S`` (seconds may have a fraction), ``UNLIMITED``,
        ``INFINITE``, or ``Partition_Limit``.
    alone
        Seconds that a number without colons counts: 60, as in limits, or 1.

    Raises
    ------
    WrongValue
        The text is something else.

    Examples
    --------
    >>> [duration(text) for text in ("90", "1:30", "1-12", "1-12:30", "2-00:00:01", "UNLIMITED")]
    [5400.0, 90.0, 129600.0, 131400.0, 172801.0, inf]
    """
    if text.lower() in WITHOUT_LIMIT:
        return math.inf
    match = None
    if len(text) <= 24:
        match = DURATION.fullmatch(text)
    if match is None:
        raise WrongValue(f"{text[:40]!r}; expected a duration such as 1-12:00:00, 1-12:00, 2-00, 30:00 or 90")
    if match["only"]:
        return alone * seconds_of(None, None, None, match["only"])
    hours, minutes, seconds = (match[name] or match[f"day_{name}"] for name in ("hours", "minutes", "seconds"))
    return seconds_of(match["days"], hours, minutes, seconds)


class Memory(NamedTuple):
    """An amount of memory in MB, and what it counts for: ``"cpu"``, ``"node"`` or ``"job"``."""

    megabytes: float
    per: str


@lru_cache(CACHED)
def memory(text: str) -> Memory:
    """Return an amount of memory, such as ``16G``, ``4Gc`` (per CPU), ``1.50Tn`` (per node); 0 is the whole node.

    Old versions of Slurm print the flag "per CPU" as a part of the amount: ``2147486648Mn`` is 3,000 MB per CPU. Without
    a suffix, the amount is that of the job. Raises WrongValue.

    >>> memory("2147486648Mn"), memory("4Gc"), memory("4G")
    (Memory(megabytes=3000.0, per='cpu'), Memory(megabytes=4096.0, per='cpu'), Memory(megabytes=4096.0, per='job'))
    """
    match = None
    if len(text) <= 40:
        match = MEMORY.fullmatch(text)
    amount = None
    if match is not None:
        amount = exact_of(match[1])
    if match is None or amount is None:
        raise WrongValue(f"{text[:40]!r}; expected an amount of memory such as 4000M, 4Gc or 16Gn")
    megabytes = amount * MB[match[2].upper()]
    per = {"c": "cpu", "n": "node"}.get(match[3].lower(), "job")
    for flag in PER_CPU_FLAGS:
        if flag <= megabytes < 2 * flag:
            return Memory(float(megabytes - flag), "cpu")
    return Memory(float(megabytes), per)


@lru_cache(CACHED)
def tres(text: str) -> Mapping[str, str]:
    """Return the name and amount of each trackable resource, as texts.

    >>> tres("cpu=4,gres/gpu:a100=2,mem=16G,node=1")
    mappingproxy({'cpu': '4', 'gres/gpu:a100': '2', 'mem': '16G', 'node': '1'})
    """
    pairs = {name.strip(): value.strip() for name, sign, value in (p.partition("=") for p in text.split(",")) if sign}
    return MappingProxyType(pairs)


def count(text: str) -> int:
    """Return a number of CPUs, nodes or GPUs, such as ``16`` or ``1.5K``. Raises WrongValue.

    >>> count("16"), count("1.5K")
    (16, 1500)
    """
    match = None
    if len(text) <= 15:
        match = COUNT.fullmatch(text)
    amount = None
    if match is not None:
        amount = exact_of(match[1])
    if match is None or amount is None:
        raise WrongValue(f"{text[:40]!r}; expected a whole number of at least 0, such as 16 or 2K")
    return math.ceil(amount * THOUSANDS[match[2]])


def gpus_in(resources: Mapping[str, str]) -> tuple[int, dict[str, int]]:
    """Return the GPUs among trackable resources: all, and by type. ``gres/gpu`` counts those with a type too.

    >>> gpus_in(tres("cpu=4,gres/gpu:a100=4,gres/gpu=4")), gpus_in(tres("gres/gpu:a100=1,gres/gpu:v100=3"))
    ((4, {'a100': 4}), (4, {'a100': 1, 'v100': 3}))
    """
    kinds = {name[len(GPU) + 1 :]: count(value) for name, value in resources.items() if name.startswith(f"{GPU}:")}
    kinds = {kind: number for kind, number in kinds.items() if number}
    total = 0
    if GPU in resources:
        total = count(resources[GPU])
    return max(total, sum(kinds.values())), kinds


def gres_gpus(text: str) -> tuple[int, dict[str, int]]:
    """Return the GPUs in a text of generic resources, such as ``gpu:a100:4(S:0-1),tmpsize:7T``: all, and by type.

    >>> gres_gpus("gres:gpu:2"), gres_gpus("tmpsize:7T,gpu:l40s:4(S:0-1)")
    ((2, {}), (4, {'l40s': 4}))
    """
    total = 0
    kinds: dict[str, int] = {}
    for kind, number in re.findall(OLD_GRES, text):
        amount = whole_of(number or "1") or 0
        total += amount
        if kind:
            kinds[kind] = kinds.get(kind, 0) + amount
    return total, kinds


class JobGpus(NamedTuple):
    """The GPUs of a whole job: all, by type, and whether their number is certain."""

    number: int
    types: dict[str, int]
    certain: bool


NO_GPUS = JobGpus(0, {}, True)


def gres_gpus_of_job(text: str, nodes: int, tasks: int | None = None) -> JobGpus:
    """Return the GPUs of a whole job in a text of generic resources, all and by type, and whether their number is certain.

    A plain text is for each node. Slurm 19.05 to 20.02 wrote how it was asked for: ``PER_JOB:gpu:8 PER_NODE:gpu:2``; there, the
    number for the job decides, else the largest one of those that are asked for.

    Parameters
    ----------
    text
        The text, such as ``gpu:2``, ``PER_NODE:gpu:a100:2``, ``PER_TASK:gpu:1``.
    nodes
        Number of nodes of the job.
    tasks
        Number of its tasks; None: not known. Such GPUs, and those for each socket, are counted once for each node.

    Examples
    --------
    >>> gres_gpus_of_job("PER_JOB:gpu:a100:4 PER_NODE:gpu:a100:2", 3)
    JobGpus(number=4, types={'a100': 4}, certain=True)
    >>> gres_gpus_of_job("PER_NODE:gpu:2", 3).number, gres_gpus_of_job("PER_TASK:gpu:1", 2, 8).number
    (6, 8)
    >>> gres_gpus_of_job("PER_TASK:gpu:1", 2)
    JobGpus(number=2, types={}, certain=False)
    """
    first, *others = GRES_PER.split(text)
    times = {"NODE": nodes, "JOB": 1, "TASK": tasks or nodes, "SOCKET": nodes}
    listed = [("NODE", first), *zip(others[::2], others[1::2], strict=True)]
    asked = [(per, *gres_gpus(part)) for per, part in listed]
    of_job = [each for each in asked if each[0] == "JOB" and each[1]]
    per, number, kinds = max(of_job or asked, key=lambda each: each[1] * times[each[0]])
    certain = not number or per in ("NODE", "JOB") or (per == "TASK" and tasks is not None)
    return JobGpus(number * times[per], {kind: n * times[per] for kind, n in kinds.items()}, certain)


def generic(text: str) -> dict[str, int]:
    """Return the generic resources in a text, by name and by name and type; the amount of a name counts all its types.

    The texts are those of ``gres``, ``gres_used``, ``gres_detail`` and ``tres_per_node``, ``_job``, ``_task``, ``_socket``. What
    is no generic resource (``cpu=2``, ``license/matlab=1``) is left out. Raises WrongValue.

    >>> generic("gpu:a100:2(IDX:0,2),gpu:v100:1(S:0),shard:8")
    {'gpu': 3, 'gpu:a100': 2, 'gpu:v100': 1, 'shard': 8}
    >>> generic("gres/gpu:a100=2,cpu=4"), generic("gres:gpu"), generic("(null)")
    ({'gpu': 2, 'gpu:a100': 2}, {'gpu': 1}, {})
    """
    amounts: dict[str, int] = {}
    plain = re.sub(r"\([^()]{0,10000}\)", "", text[:LONGEST])
    for entry in filter(None, map(str.strip, plain.split(","))):
        name, *parts = re.split("[:=]", re.sub(r"^gres[:/]", "", entry))
        if is_unknown(name) or "/" in name or (name in NO_GRES and not entry.startswith("gres")):
            continue
        parts = [part for part in parts if part != "no_consume"]
        size = None
        if parts:
            size = COUNT.fullmatch(parts[-1])
        amount = 1
        if size is not None:
            number = None
            if len(size[0]) <= 15:
                number = exact_of(size[1])
            if number is None:
                raise WrongValue(f"{entry[:40]!r}; expected an amount of at most 15 digits")
            amount = math.ceil(number * 1024 ** (" KMGT".index(size[2]) if size[2] else 0))
            parts.pop()
        amounts[name] = amounts.get(name, 0) + amount
        if parts:
            kind = f"{name}:{':'.join(parts)}"
            amounts[kind] = amounts.get(kind, 0) + amount
    return amounts


def generic_in(resources: Mapping[str, str]) -> dict[str, int]:
    """Return the generic resources among trackable ones; there, the amount of a name is given beside those of its types.

    >>> generic_in(tres("cpu=4,gres/gpu=4,gres/gpu:a100=4")), generic_in(tres("gres/gpu:a100=1,gres/gpu:v100=3"))
    ({'gpu': 4, 'gpu:a100': 4}, {'gpu': 4, 'gpu:a100': 1, 'gpu:v100': 3})
    """
    listed = [(name, value) for name, value in resources.items() if name.startswith("gres/")]
    amounts: dict[str, int] = {}
    for name, value in sorted(listed, key=lambda pair: ":" in pair[0]):
        own = name.removeprefix("gres/")
        amounts[own] = generic(f"{name}:{value}").get(own, 0)
    for own in list(amounts):
        of_types = sum(n for kind, n in amounts.items() if kind.startswith(f"{own.partition(':')[0]}:"))
        of_all = own.partition(":")[0]
        amounts[of_all] = max(amounts.get(of_all, 0), of_types)
    return dict(sorted(amounts.items()))


@lru_cache(CACHED)
def state_of(text: str) -> str:
    """Return the state of a job: the first word, whole, without "by UID" and the + of a cut column.

    >>> state_of("CANCELLED by 1001"), state_of("CANCELLED+"), state_of("NF")
    ('CANCELLED', 'CANCELLED', 'NODE_FAIL')
    """
    word = ""
    if text.strip():
        word = text.split(maxsplit=1)[0].upper()
    return SHORT_STATES.get(word, word.rstrip("+"))


def moment(text: str, zone: tzinfo) -> float:
    """Return a time as Unix time in s; NaN if it is not known.

    Parameters
    ----------
    text
        An ISO time such as ``2024-05-01T12:00:00``, with or without seconds and offset, or a Unix time.
    zone
        Time zone of a time without offset.

    Raises
    ------
    WrongValue
        The text is something else.

    Examples
    --------
    >>> from datetime import UTC
    >>> moment("1970-01-02T00:00", UTC), moment("1970-01-02T01:00:00+0100", UTC), moment("1714550400", UTC)
    (86400.0, 86400.0, 1714550400.0)
    """
    if is_unknown(text) or text == "0":
        return math.nan
    epoch = None
    if EPOCH.fullmatch(text):
        epoch = number_of(text)
    if epoch is not None:
        return epoch
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError):  # OverflowError: year 1 or 9999 in another time zone
        raise WrongValue(f"{text[:40]!r}; expected a time such as 2024-05-01T12:00:00, or Unknown") from None


def later_fold(text: str, zone: tzinfo, not_before: float) -> float:
    """Return a local time that is not before another one, where the clock was set back; NaN if there is none.

    >>> from zoneinfo import ZoneInfo
    >>> rome = ZoneInfo("Europe/Rome")
    >>> first = moment("2023-10-29T02:40:00", rome)
    >>> later_fold("2023-10-29T02:20:00", rome, first) - first
    2400.0
    """
    if is_unknown(text) or EPOCH.fullmatch(text):
        return math.nan
    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is None:
            second = at.replace(tzinfo=zone, fold=1).timestamp()
        else:
            second = math.nan
    except (ValueError, OverflowError):
        return math.nan
    if second >= not_before:
        return second
    return math.nan


# --- Limits and amounts, as ``slurm.conf``, ``scontrol`` and ``sacctmgr`` write them.

NO_LIMIT = WITHOUT_LIMIT | {"none", "n/a", "(null)", "-1", ""}


def limit(text: str, alone: int = 60) -> int | None:
    """Return a limit of time in seconds; None for no limit. Raises WrongValue.

    >>> limit("1-12:00:00"), limit("30"), limit("INFINITE"), limit("N/A")
    (129600, 1800, None, None)
    """
    if text.lower() in NO_LIMIT:
        return None
    return math.ceil(duration(text, alone))


def count_limit(text: str) -> int | None:
    """Return a limit of a number of jobs, nodes or CPUs; None for no limit. Raises WrongValue.

    >>> count_limit("16"), count_limit("UNLIMITED"), count_limit("-1")
    (16, None, None)
    """
    if text.lower() in NO_LIMIT:
        return None
    return count(text)


def memory_limit(text: str) -> int | None:
    """Return an amount of memory in MB; None for no limit, also for 0. Raises WrongValue.

    >>> memory_limit("2800"), memory_limit("4G"), memory_limit("UNLIMITED")
    (2800, 4096, None)
    """
    if text.lower() in NO_LIMIT:
        return None
    return math.ceil(memory(text).megabytes) or None


def tres_limits(text: str) -> dict[str, int]:
    """Return the limits of trackable resources, memory in MB; those without a limit are left out. Raises WrongValue.

    >>> tres_limits("cpu=112,mem=1.5T,gres/gpu:a100=4,node=-1")
    {'cpu': 112, 'mem': 1572864, 'gres/gpu:a100': 4}
    """
    limits: dict[str, int] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise WrongValue(f"{text[:60]!r}; expected names and amounts such as cpu=16,mem=64G,gres/gpu=2")
        if not TRES_NAME.fullmatch(name.strip().lower()):
            wrong = name.strip()
            raise WrongValue(f"{text[:60]!r}; {wrong[:40]!r} is no resource: {hint(wrong.lower(), TRES_NAMES)}")
        if value in NO_LIMIT:
            continue
        if name.lower() in ("mem", "vmem"):
            amount = math.ceil(memory(value).megabytes)
        else:
            amount = count(value)
        limits[name.strip().lower()] = amount
    return limits


def tres_weights(text: str) -> dict[str, float]:
    """Return the weights of trackable resources, that of memory per MB. Raises WrongValue.

    >>> tres_weights("CPU=1.0,Mem=0.25G,GRES/gpu=2")
    {'cpu': 1.0, 'mem': 0.000244140625, 'gres/gpu': 2.0}
    """
    weights: dict[str, float] = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        name, sign, value = pair.partition("=")
        match = None
        if sign and len(value) <= 40:
            match = WEIGHT.fullmatch(value)
        number = None
        if match is not None:
            number = number_of(match[1])
        if match is None or number is None:
            raise WrongValue(f"{text[:60]!r}; expected names and weights such as CPU=1.0,Mem=0.25G,GRES/gpu=2")
        weights[name.strip().lower()] = float(number) / float(MB[match[2].upper()])
    return weights


# --- Lists of hosts in the notation of Slurm.

MOST_HOSTS = 100_000  # names in one list
SHOWN = 60  # characters of a list in a message
# ranges in brackets, the text between them, the comma between two entries, a bracket without its pair
PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\],]+)|(,)|([\[\]])")
Choices = list[list[str]]  # of an entry: the texts that may stand at each place


def hosts_of(text: str) -> list[str]:
    """Return the names in a list of hosts. Raises WrongValue if it is malformed.

    Examples
    --------
    >>> hosts_of("login,n[01-03,7]-ib")
    ['login', 'n01-ib', 'n02-ib', 'n03-ib', 'n7-ib']
    """
    return ["".join(words) for choices in _entries(text) for words in product(*choices)]


def names_of_hosts(names: Sequence[str]) -> str | list[str]:
    """Return names as the list of hosts that `hosts_of` reads; as they are if names have brackets or commas themselves.

    Examples
    --------
    >>> names_of_hosts(["n01", "n02", "login"])
    'n[01-02],login'
    >>> names_of_hosts(["v[0]", "v[1]"])
    ['v[0]', 'v[1]']
    """
    text = in_ranges(names)
    try:
        if hosts_of(text) == list(names):
            return text
        return list(names)
    except WrongValue:
        return list(names)


def count_of_hosts(text: str) -> int:
    """Return the number of names in a list of hosts. Raises WrongValue if it is malformed.

    >>> count_of_hosts("login,n[01-03,7]-ib")
    5
    """
    return sum(math.prod(map(len, choices)) for choices in _entries(text))


def _entries(text: str) -> list[Choices]:
    """Return the entries of a list; all of them together have at most MOST_HOSTS names. Raises WrongValue."""
    entries: list[Choices] = [[]]
    for ranges, plain, comma, bracket in PIECE.findall(text):
        if bracket:
            raise WrongValue(f"the list of hosts {text[:SHOWN]!r}: expected a ] for each [")
        if comma:
            entries.append([])
        else:
            entries[-1].append([plain] if plain else numbers(ranges))
    entries = [choices for choices in entries if choices]
    if sum(math.prod(map(len, choices)) for choices in entries) > MOST_HOSTS:
        raise WrongValue(f"a list of hosts with more than {MOST_HOSTS:,} names: {text[:SHOWN]!r}")
    return entries


def numbers(text: str) -> list[str]:
    """Return the numbers of a list of ranges, with their leading zeros. Raises WrongValue if it is malformed.

    Examples
    --------
    >>> numbers("08-10,20-30:5")
    ['08', '09', '10', '20', '25', '30']
    """
    texts: list[str] = []
    for part in text.split(","):
        listed = span_of(part.strip())
        if listed is None:
            raise WrongValue(f"the ranges {text[:SHOWN]!r}: expected numbers and ranges such as 1-4,8 or 0-20:5")
        if len(texts) + len(listed) > MOST_HOSTS:
            raise WrongValue(f"the ranges {text[:SHOWN]!r} have more than {MOST_HOSTS:,} numbers")
        width = len(part.strip().partition("-")[0])
        texts.extend(f"{n:0{width}d}" for n in listed)
    return texts


# --- Tasks of job arrays: those that still wait, and the number of them that may run at once.

MOST_TASKS = 100_000  # tasks of all arrays of a state that are listed: each is a waiting job


class WaitingTasks(NamedTuple):
    """The waiting tasks of an array.

    Attributes
    ----------
    indices
        The indices of the first of them.
    more
        How many of the listed tasks are beyond these.
    limit
        How many tasks may run at once; None: no limit.
    cut
        Whether the list ends with "...": Slurm prints only so many characters (``SLURM_BITSTR_LEN``).
    """

    indices: list[int]
    more: int
    limit: int | None
    cut: bool


def waiting_tasks(text: str, most: int) -> WaitingTasks:
    """Return the tasks of a text such as ``5-9,12%2``, at most ``most`` of them. Raises WrongValue if it is malformed.

    >>> waiting_tasks("1-1000000%7", 3)
    WaitingTasks(indices=[1, 2, 3], more=999997, limit=7, cut=False)
    >>> waiting_tasks("[1-3,8,...%2]", 9), waiting_tasks("0-20:10,35...", 9).indices
    (WaitingTasks(indices=[1, 2, 3, 8], more=0, limit=2, cut=True), [0, 10, 20])
    """
    listed, percent, limit = re.sub(r"[\[\]\s]", "", text).partition("%")
    most_at_once = None
    if percent:
        most_at_once = whole_of(limit)
    if percent and most_at_once is None:
        raise WrongValue(f"the tasks {text[:SHOWN]!r}: expected a number after %")
    listed, cut, rest = listed.partition("...")
    if rest:
        raise WrongValue(f"the tasks {text[:SHOWN]!r}: expected nothing after ...")
    words = listed.split(",")
    if cut:  # what stands before ... without a comma may be a part of a number
        words.pop()
    ranges = []
    for word in filter(None, words):
        listed_here = span_of(word)
        if listed_here is None:
            raise WrongValue(f"the tasks {text[:SHOWN]!r}: expected numbers and ranges such as 1-4,8 or 0-20:5")
        ranges.append(listed_here)
    indices = list(islice(chain.from_iterable(ranges), most))
    return WaitingTasks(indices, sum(map(len, ranges)) - len(indices), most_at_once or None, bool(cut))


COMMANDS = ("sbatch", "srun", "salloc")
WITH_VALUE = frozenset((
    "account", "acctg-freq", "accel-bind", "array", "batch", "bb", "bbf", "begin", "chdir", "cluster-constraint", "clusters",
    "comment", "constraint", "container", "container-id", "core-spec", "cores-per-socket", "cpu-bind", "cpu_bind", "cpu-freq",
    "cpus-per-gpu", "cpus-per-task", "deadline", "delay-boot", "dependency", "distribution", "epilog", "error", "exclude",
    "export", "export-file", "extra", "extra-node-info", "gid", "gpu-bind", "gpu-freq", "gpus", "gpus-per-node",
    "gpus-per-socket", "gpus-per-task", "gres", "gres-flags", "het-group", "hint", "input", "job-name", "jobid", "join",
    "kill-on-invalid-dep", "licenses", "mail-type", "mail-user", "mcs-label", "mem", "mem-bind", "mem_bind", "mem-per-cpu",
    "mem-per-gpu", "mincpus", "mpi", "msg-timeout", "network", "nodefile", "nodelist", "nodes", "ntasks", "ntasks-per-core",
    "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket", "open-mode", "output", "partition", "pack-group", "power",
    "prefer", "priority", "profile", "prolog", "qos", "relative", "reservation", "segment", "signal", "slurmd-debug",
    "sockets-per-node", "switches", "task-epilog", "task-prolog", "tasks-per-node", "thread-spec", "threads",
    "threads-per-core", "time", "time-min", "tmp", "tree-width", "treewidth", "tres-bind", "tres-per-task", "uid",
    "wait-all-nodes", "wckey", "workdir", "wrap",
))  # fmt: skip
WITHOUT = frozenset((
    "bcast", "bell", "compress", "contiguous", "debugger-test", "disable-status", "exact", "exclusive", "external",
    "get-user-env", "help", "hold", "ignore-pbs", "immediate", "interactive", "kill-command", "kill-on-bad-exit", "label",
    "multi-prog", "nice", "no-allocate", "no-bell", "no-kill", "no-requeue", "no-shell", "oom-kill-step", "overcommit",
    "overlap", "oversubscribe", "parsable", "preserve-env", "propagate", "pty", "quiet", "reboot", "requeue", "resv-ports",
    "send-libs", "share", "spread-job", "stepmgr", "test-only", "unbuffered", "usage", "use-min-nodes", "verbose", "version",
    "wait", "whole", "x11",
))  # fmt: skip  # no value, or one after "=" only
SHORT = {
    "A": "account", "a": "array", "b": "begin", "D": "chdir", "M": "clusters", "C": "constraint", "S": "core-spec",
    "c": "cpus-per-task", "d": "dependency", "m": "distribution", "e": "error", "x": "exclude", "B": "extra-node-info",
    "G": "gpus", "i": "input", "J": "job-name", "L": "licenses", "F": "nodefile", "w": "nodelist", "N": "nodes",
    "n": "ntasks", "o": "output", "p": "partition", "q": "qos", "t": "time", "r": "relative", "T": "threads", "P": "dependency",
}  # fmt: skip  # short options with a value; of those without one only the next are of use
FLAGS = {"H": "hold", "s": "oversubscribe", "Q": "quiet", "v": "verbose", "O": "overcommit", "W": "wait", "k": "no-kill",
         "I": "immediate", "K": "kill-on-bad-exit", "l": "label", "u": "unbuffered", "E": "preserve-env", "h": "help",
         "V": "version", "X": "disable-status", "Z": "no-allocate"}  # fmt: skip
TEXTS = {"account": "account", "qos": "qos", "constraint": "features", "nodelist": "nodes", "exclude": "excluded_nodes",
         "licenses": "licences", "reservation": "reservation"}  # fmt: skip
NUMBERS = {"ntasks": "tasks", "ntasks-per-node": "tasks_per_node", "tasks-per-node": "tasks_per_node",
           "cpus-per-task": "cpus_per_task"}  # fmt: skip
MEMORY_OPTIONS = {"mem": "memory_per_node", "mem-per-cpu": "memory_per_cpu", "mem-per-gpu": "memory_per_gpu"}
GPUS = {"gpus": "job", "gpus-per-node": "node", "gpus-per-task": "task", "gpus-per-socket": "socket"}
USED = frozenset((
    *TEXTS, *NUMBERS, *MEMORY_OPTIONS, *GPUS, "begin", "array", "gres", "partition", "nodes", "exclusive", "oversubscribe", "share",
    "nice", "dependency", "contiguous", "requeue", "no-requeue", "hold", "tres-per-task", "spread-job",
))  # fmt: skip  # names of other jobs and the like are not kept
NOT_OBEYED = frozenset((
    "bb", "bbf", "cluster-constraint", "core-spec", "cores-per-socket", "cpus-per-gpu", "deadline", "extra-node-info", "hint",
    "mincpus", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-socket", "overcommit", "prefer", "reboot", "segment",
    "sockets-per-node", "switches", "thread-spec", "threads-per-core", "time-min", "tmp", "use-min-nodes",
))  # fmt: skip  # options that have an influence on when and where a job starts
WORD = re.compile(
    r"""(?:-[\w-]*=?)?(?:'[^']*'|"[^"]*")(?=\s|$)|\S+"""
)  # quotes that enclose a value, if a wrapper left them
QUOTES = re.compile(r"""^(-[\w-]*=?)?(?:'([^']*)'|"([^"]*)")$""")
NODES = re.compile(r"(\d{1,9}[km]?)(?:-(\d{1,9}[km]?))?", re.ASCII | re.IGNORECASE)
USUAL_NICE = 100  # of --nice without a number
NOW = re.compile(r"now(?:([+-]\d{1,9})([a-z]*))?", re.ASCII | re.IGNORECASE)
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?\s*(am|pm)?", re.ASCII | re.IGNORECASE)
NAMED_TIMES = {"midnight": time(0), "elevenses": time(11), "noon": time(12), "fika": time(15), "teatime": time(16)}
DATES = (
    "%m%d%y", "%m/%d/%y", "%m.%d.%y", "%m/%d", "%m.%d", "%m/%d/%Y",
)  # fmt: skip  # besides ISO


class Submitted(NamedTuple):
    """What the command line of a job tells: its request, when it may begin (as written), and the tasks of its array.

    ``not_obeyed``: the names of the options that are not part of a request, but have an influence on the start of a job.
    """

    asked: SiteRequest
    begin: str = ""
    array: str = ""
    not_obeyed: tuple[str, ...] = ()


Options = tuple[tuple[str, str], ...]


def options_of(line: str, component: int = 0) -> Options:
    """Return the options of a command line, name and value ("" without one); none for another command.

    Parameters
    ----------
    line
        The line, such as ``sbatch -p gpu -N 2 --gres=gpu:a100:1 job.sh``.
    component
        Of a heterogeneous job, whose components are between colons, the number of one, from 0.

    Examples
    --------
    >>> options_of("sbatch -pgpu --nodes 2 --exclusive job.sh -n 9")
    (('partition', 'gpu'), ('nodes', '2'), ('exclusive', ''))
    """
    words = [QUOTES.sub(r"\1\2\3", word) for word in WORD.findall(line)]
    command = ""
    if words:
        command = words[0].rpartition("/")[2]
    if command not in COMMANDS:
        return ()
    if command == "srun":
        words = _without_wait(words)
    return tuple(_options(words[1:], component))


def submitted(line: str, component: int = 0) -> Submitted:
    """Return what a command line asks for. What it does not tell, or what cannot be read, is left out.

    Parameters
    ----------
    line, component
        As of ``options_of``.

    Examples
    --------
    >>> asked = submitted("sbatch -p all,big -N2-4 --mem-per-cpu 2G --exclusive -d afterok:12:13 job.sh -N 9").asked
    >>> asked.partitions, asked.min_nodes, asked.max_nodes, asked.memory_per_cpu, asked.exclusive
    (('all', 'big'), 2, 4, 2048, 'node')
    >>> asked.dependencies
    (Dependency(kind='afterok', jobs=('12', '13'), delay=0),)
    """
    return asked_by(options_of(line, component))


@lru_cache(4096)
def asked_by(options: Options) -> Submitted:
    """Return what options ask for; see ``submitted``."""
    fields: dict[str, Any] = {}
    gres: list[Gres] = []
    begin, array = "", ""
    others = tuple(dict.fromkeys(name for name, _ in options if name in NOT_OBEYED))
    for name, value in options:
        try:
            if name == "begin":
                begin = value
            elif name == "array":
                array = value
                fields["array_limit"] = array_limit(value)
            elif name in GPUS:
                gres += [Gres("gpu", kind, n, GPUS[name]) for kind, n in _typed(value)]
            elif name == "gres":
                gres += gres_of(value, "node")
            else:
                fields |= _field(name, value, gres)
        except (WrongValue, ValueError):
            continue  # a value that was cut, or that a newer version knows
    if ("spread-job", "") in options and fields.get("tasks") and not fields.get("max_nodes"):
        fields |= {"min_nodes": 1, "max_nodes": fields["tasks"]}  # as Slurm has it
    return Submitted(SiteRequest(gres=tuple(gres), **fields), begin, array, others)


def _without_wait(words: Sequence[str]) -> list[str]:
    """Return the words of ``srun`` without ``-W SECONDS``; the option of this name of ``sbatch`` has no value."""
    kept: list[str] = []
    skip = False
    for word in words:
        skipped, skip = skip, word in ("-W", "--wait")
        if not skip and not skipped:
            kept.append(word)
    return kept


def _field(name: str, value: str, gres: list[Gres]) -> dict[str, Any]:
    """Return the fields of a request that an option sets; generic resources of ``--tres-per-task`` are appended."""
    if name in TEXTS:
        return {TEXTS[name]: value}
    if name in NUMBERS:
        return {NUMBERS[name]: _number(value)}
    if name in MEMORY_OPTIONS:
        return {MEMORY_OPTIONS[name]: math.ceil(memory(value).megabytes)}
    if name == "partition":
        return {"partitions": tuple(filter(None, value.split(",")))}
    if name == "nodes":
        return nodes_of(value)
    if name == "exclusive":
        return {"exclusive": value or "node"}
    if name in ("oversubscribe", "share"):
        return {"exclusive": "no"}
    if name == "nice":
        return {"nice": int(value) if value else USUAL_NICE}
    if name == "dependency":
        dependencies, any_of = dependencies_of(value)
        return {"dependencies": dependencies, "any_dependency": any_of}
    if name in ("contiguous", "requeue"):
        return {name: True}
    if name == "no-requeue":
        return {"requeue": False}
    if name == "hold":
        return {"held": True}
    if name == "tres-per-task":
        return _per_task(value, gres)
    return {}


def _per_task(value: str, gres: list[Gres]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for part in value.split(","):
        if re.match(r"cpu[=:]", part):
            fields["cpus_per_task"] = _number(part[4:])
        elif re.match(r"gres[:/]", part):
            gres += gres_of(part, "task")
    return fields


def _options(words: Sequence[str], component: int) -> Iterator[tuple[str, str]]:
    """Yield the options of a component of a job with their values, "" without one, up to the script."""
    of, k = 0, 0
    while k < len(words):
        word = words[k]
        k += 1
        if word == ":":
            of += 1
            continue
        if not word.startswith("-") or word in ("-", "--"):
            return
        for name, value, own in _words(word):
            if own or k >= len(words):
                taken = value
            else:
                taken = words[k]
                k += 1
            if name == "wrap":
                return
            if of == component and (name in USED or name in NOT_OBEYED):
                yield name, taken


def _words(word: str) -> Iterator[tuple[str, str, bool]]:
    """Yield the options of a word: name, value, and whether the value is in the word or none is needed."""
    if word.startswith("--"):
        given, sign, value = word[2:].partition("=")
        name = _whole_name(given)
        yield name, value, bool(sign) or name not in WITH_VALUE
        return
    for place, letter in enumerate(word[1:], 2):
        if letter in SHORT:
            value = word[place:].removeprefix("=")
            yield SHORT[letter], value, bool(value)
            return
        if letter in FLAGS:
            yield FLAGS[letter], "", True


def _whole_name(given: str) -> str:
    """Return the name of a long option, which may be abbreviated: ``--part`` is ``--partition``."""
    if given in WITH_VALUE or given in WITHOUT:
        return given
    begun = [name for name in (*WITH_VALUE, *WITHOUT) if name.startswith(given)]
    if len(begun) == 1:
        return begun[0]
    return given


def _number(text: str) -> int:
    match = None
    if len(text) <= 12:
        match = COUNT.fullmatch(text.upper())
    if match is None or "." in match[1]:
        raise WrongValue(f"{text[:40]!r}; expected a whole number")
    power = 0
    if match[2]:
        power = " KMGT".index(match[2])
    return int(int(match[1]) * 1024**power)


def nodes_of(text: str) -> dict[str, int]:
    """Return the least and the greatest number of nodes of ``-N``: ``4``, ``2-5``, ``1k``, ``1,2,4``, ``2-8:2``.

    >>> nodes_of("4"), nodes_of("2-5"), nodes_of("2,4,8")
    ({'min_nodes': 4, 'max_nodes': 4}, {'min_nodes': 2, 'max_nodes': 5}, {'min_nodes': 2, 'max_nodes': 8})
    """
    sizes: list[int] = []
    for part in text.split(","):
        match = NODES.fullmatch(part.partition(":")[0])
        if match is None:
            raise WrongValue(f"{text[:40]!r}; expected a number of nodes such as 4 or 2-8")
        sizes += [_number(size) for size in match.groups() if size]
    return {"min_nodes": min(sizes), "max_nodes": max(sizes)}


def gres_of(text: str, per: str) -> list[Gres]:
    """Return the generic resources in a text such as ``gpu:a100:2,shard:4`` or ``gres/gpu=2``.

    >>> gres_of("gpu:a100:2,shard", "node")
    [Gres(name='gpu', type='a100', number=2, per='node'), Gres(name='shard', type='', number=1, per='node')]
    """
    requests = []
    for entry in filter(None, text.split(",")):
        name, *parts = re.split("[:=]", re.sub(r"\([^()]*\)|^gres[:/]", "", entry.strip()))
        if not name or name.lower() == "none":
            continue
        number = 1
        if parts and COUNT.fullmatch(parts[-1]):
            number = _number(parts.pop())
        if number:
            requests.append(Gres(name, ":".join(parts), number, per))
    return requests


def _typed(text: str) -> list[tuple[str, int]]:
    """Return the types and numbers of GPUs in a text such as ``2`` or ``a100:2,v100:1``."""
    pairs = []
    for part in filter(None, text.split(",")):
        kind, colon, number = part.rpartition(":")
        if not colon and not part[0].isdigit():
            kind, number = part, "1"
        pairs.append((kind, _number(number)))
    return [(kind, number) for kind, number in pairs if number]


def array_limit(text: str) -> int | None:
    """Return how many tasks of an array may run at once, by its text such as ``1-100%5``; None: no limit.

    >>> array_limit("1-100%5"), array_limit("[3-7]")
    (5, None)
    """
    match = re.search(r"%(\d{1,9})", text, re.ASCII)
    if match:
        return int(match[1]) or None
    return None


def begin_after(text: str, submit: float, zone: tzinfo) -> int:
    """Return the seconds from the submit time of a job to the time of its ``--begin``, at least 0; 0 if it is not known.

    Parameters
    ----------
    text
        ``now+90``, ``now+2hours``, ``16:00``, ``tomorrow``, ``teatime``, ``2024-05-01T12:00:00``, ``05/01/24-12:00``.
    submit
        Unix time in s.
    zone
        Time zone of the machine.

    Examples
    --------
    >>> from datetime import UTC
    >>> [begin_after(text, 86400 + 3600, UTC) for text in ("now+90", "now+2minutes", "02:00", "00:30", "1970-01-03")]
    [90, 120, 3600, 84600, 82800]
    """
    if not text or math.isnan(submit):
        return 0
    relative = NOW.fullmatch(text)
    if relative is not None:
        unit = UNITS.get((relative[2] or "")[:1].lower(), 1)
        return max(0, int(relative[1] or 0) * unit)
    try:
        at = _begin(text, datetime.fromtimestamp(submit, zone), zone)
    except (ValueError, OverflowError, OSError):
        return 0
    if at is not None:
        return max(0, math.ceil(at.timestamp() - submit))
    return 0


def _begin(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    if re.match(r"\d{4}-", text):
        day, _, clock = text.partition("T")
    else:
        day, _, clock = text.partition("-")
    word = text.lower()
    if word in ("today", "tomorrow"):
        return now + timedelta(days=word == "tomorrow")
    if word in NAMED_TIMES or CLOCK.fullmatch(text):
        at = now.replace(microsecond=0)
        if word in NAMED_TIMES:
            of_day = NAMED_TIMES[word]
        else:
            of_day = _clock(text)
        at = datetime.combine(now.date(), of_day, zone)
        if at > now:
            return at
        return datetime.combine(now.date() + timedelta(days=1), of_day, zone)
    if re.match(r"\d{4}-", text):
        return datetime.fromtimestamp(moment(text, zone), zone)
    for form in DATES:
        try:
            date = datetime.strptime(day, form)
        except ValueError:
            continue
        if "y" not in form.lower():
            date = date.replace(year=now.year)
        return datetime.combine(date.date(), _clock(clock) if clock else time(0), zone)
    return None


def _clock(text: str) -> time:
    match = CLOCK.fullmatch(text)
    if match is None:
        raise WrongValue(f"{text[:40]!r}; expected a time of the day such as 16:00")
    hour = int(match[1])
    if match[4]:
        hour = hour % 12 + (12 if match[4].lower() == "pm" else 0)
    return time(hour, int(match[2]), int(match[3] or 0))


def with_columns(asked: SiteRequest, columns: Mapping[str, Any]) -> SiteRequest:
    """Return a request in which the values of columns, where they are known, are those of the columns."""
    known = {name: value for name, value in columns.items() if value is not None and value != "" and value != ()}
    if known:
        return replace(asked, **known)
    return asked
