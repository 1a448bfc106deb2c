"""Values in the texts of Slurm: durations, memory, trackable resources (TRES), generic resources, times, states.

They are the same in ``sacct``, ``squeue``, ``scontrol`` and ``slurm.conf``; readers of logs, states and sites share them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice, product
from types import MappingProxyType
from typing import NamedTuple

from ...errors import WrongValue
from ...models.excerpt import hint
from ...models.site import in_ranges
from ...models.site_rules import TRES_NAME, TRES_NAMES
from ..files.lines import exact_of, number_of, seconds_of, span_of, whole_of

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
NO_GRES = frozenset(("cpu", "mem", "node", "billing", "energy", "vmem", "pages"))
LONGEST = 100_000  # characters of a list of generic resources
CACHED = 4096  # texts whose values are kept: those of a log repeat
SHORT_STATES = {
    "BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "CF": "CONFIGURING", "CG": "COMPLETING", "DL": "DEADLINE",
    "F": "FAILED", "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PD": "PENDING", "PR": "PREEMPTED", "R": "RUNNING",
    "RQ": "REQUEUED", "RS": "RESIZING", "RV": "REVOKED", "S": "SUSPENDED", "ST": "STOPPED", "TO": "TIMEOUT",
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
    match = DURATION.fullmatch(text) if len(text) <= 24 else None
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
    match = MEMORY.fullmatch(text) if len(text) <= 40 else None
    amount = None if match is None else exact_of(match[1])
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
    match = COUNT.fullmatch(text) if len(text) <= 15 else None
    amount = None if match is None else exact_of(match[1])
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
    total = count(resources[GPU]) if GPU in resources else 0
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
        size = COUNT.fullmatch(parts[-1]) if parts else None
        amount = 1
        if size is not None:
            number = exact_of(size[1]) if len(size[0]) <= 15 else None
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
    word = text.split(maxsplit=1)[0].upper() if text.strip() else ""
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
    epoch = number_of(text) if EPOCH.fullmatch(text) else None
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
        second = at.replace(tzinfo=zone, fold=1).timestamp() if at.tzinfo is None else math.nan
    except (ValueError, OverflowError):
        return math.nan
    return second if second >= not_before else math.nan


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
    return None if text.lower() in NO_LIMIT else count(text)


def memory_limit(text: str) -> int | None:
    """Return an amount of memory in MB; None for no limit, also for 0. Raises WrongValue.

    >>> memory_limit("2800"), memory_limit("4G"), memory_limit("UNLIMITED")
    (2800, 4096, None)
    """
    return None if text.lower() in NO_LIMIT else math.ceil(memory(text).megabytes) or None


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
        amount = math.ceil(memory(value).megabytes) if name.lower() in ("mem", "vmem") else count(value)
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
        match = WEIGHT.fullmatch(value) if sign and len(value) <= 40 else None
        number = None if match is None else number_of(match[1])
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
        return text if hosts_of(text) == list(names) else list(names)
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
    most_at_once = whole_of(limit) if percent else None
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
