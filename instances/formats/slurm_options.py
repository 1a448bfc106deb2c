"""The options of Slurm's ``sbatch``, ``srun`` and ``salloc`` in the command line of a job (column ``SubmitLine`` of sacct).

The line is the words of the command, joined by blanks without quotes: what comes after the script, or after ``--wrap``, is
not of Slurm. Options in the script (``#SBATCH``) are not in the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any, NamedTuple

from ...errors import WrongValue
from ...models.dispatch.site_request import Gres, SiteRequest
from ..site_columns import dependencies_of
from .slurm_values import COUNT, memory, moment

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
MEMORY = {"mem": "memory_per_node", "mem-per-cpu": "memory_per_cpu", "mem-per-gpu": "memory_per_gpu"}
GPUS = {"gpus": "job", "gpus-per-node": "node", "gpus-per-task": "task", "gpus-per-socket": "socket"}
USED = frozenset((
    *TEXTS, *NUMBERS, *MEMORY, *GPUS, "begin", "array", "gres", "partition", "nodes", "exclusive", "oversubscribe", "share",
    "nice", "dependency", "contiguous", "requeue", "no-requeue", "hold", "tres-per-task", "spread-job",
))  # fmt: skip  # names of other jobs and the like are not kept
NOT_OBEYED = frozenset((
    "bb", "bbf", "cluster-constraint", "core-spec", "cores-per-socket", "cpus-per-gpu", "deadline", "extra-node-info", "hint",
    "mincpus", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-socket", "overcommit", "prefer", "reboot", "segment",
    "sockets-per-node", "switches", "thread-spec", "threads-per-core", "time-min", "tmp", "use-min-nodes",
))  # fmt: skip  # options that have an influence on when and where a job starts
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
    words = line.split()
    command = words[0].rpartition("/")[2] if words else ""
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
    if name in MEMORY:
        return {MEMORY[name]: math.ceil(memory(value).megabytes)}
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
    return begun[0] if len(begun) == 1 else given


def _number(text: str) -> int:
    match = COUNT.fullmatch(text.upper()) if len(text) <= 12 else None
    if match is None or "." in match[1]:
        raise WrongValue(f"{text[:40]!r}; expected a whole number")
    power = " KMGT".index(match[2]) if match[2] else 0
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
    return int(match[1]) or None if match else None


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
    return max(0, math.ceil(at.timestamp() - submit)) if at is not None else 0


def _begin(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    day, _, clock = text.partition("T") if re.match(r"\d{4}-", text) else text.partition("-")
    word = text.lower()
    if word in ("today", "tomorrow"):
        return now + timedelta(days=word == "tomorrow")
    if word in NAMED_TIMES or CLOCK.fullmatch(text):
        at = now.replace(microsecond=0)
        of_day = NAMED_TIMES[word] if word in NAMED_TIMES else _clock(text)
        at = datetime.combine(now.date(), of_day, zone)
        return at if at > now else datetime.combine(now.date() + timedelta(days=1), of_day, zone)
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
    return replace(asked, **known) if known else asked
