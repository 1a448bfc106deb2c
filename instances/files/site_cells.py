"""What a job asked of its site and what was recorded of it, as cells of a table: columns ``asked.*`` and ``recorded.*``.

The notations are Slurm's where it has one: ``afterok:12:13`` for dependencies, ``gpu:a100:2/node`` for two GPUs on each node.
Instance folders, tables of jobs and pandas have the same columns; a table has only those in which a job has a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import WrongValue
from ...models.dispatch.site_request import (
    KINDS,
    MOST,
    NOTHING,
    NOTHING_RECORDED,
    PER,
    Dependency,
    Gres,
    Recorded,
    RecordedAttempt,
    SiteRequest,
)
from .lines import whole_of, wrong

ASKED, RECORDED = "asked.", "recorded."
TEXTS = ("account", "qos", "exclusive", "features", "nodes", "excluded_nodes", "licences", "reservation")
NUMBERS = (
    "min_nodes", "max_nodes", "cpus", "tasks", "tasks_per_node", "cpus_per_task", "memory_per_cpu", "memory_per_node",
    "memory_per_gpu", "begin", "array_limit",
)  # fmt: skip
YES_OR_NO = ("contiguous", "held", "requeue")
ASKED_FIELDS = (*TEXTS[:2], "partitions", *NUMBERS, "gres", *TEXTS[2:], *YES_OR_NO, "nice", "dependencies")
RECORDED_TIMES = ("start", "eligible", "cancelled", "priority")
RECORDED_TEXTS = ("nodes", "state", "reason")
SITE_COLUMNS = (
    *(f"{ASKED}{name}" for name in ASKED_FIELDS),
    *(f"{RECORDED}{name}" for name in (*RECORDED_TIMES, *RECORDED_TEXTS, "attempts")),
)
_SITE_COLUMNS = frozenset(SITE_COLUMNS)
GRES = re.compile(rf"([^:/,]+)(?::([^/,]*))?:(\d{{1,15}})/({'|'.join(PER)})", re.ASCII)
ATTEMPT = re.compile(r"(-?\d{1,15})/(-?\d{1,15})/(-?\d{1,15})/([^/;]*)/([^/;]*)", re.ASCII)
EXPECTED_DEPENDENCIES = "conditions such as afterok:12:13,singleton"


def is_site_column(name: str) -> bool:
    """Check whether a column is one of these."""
    return name in SITE_COLUMNS


def is_number_column(name: str) -> bool:
    """Check whether the values of one of these columns are whole numbers."""
    return name.partition(".")[2] in (*NUMBERS, *YES_OR_NO, *RECORDED_TIMES, "nice")


def cells_of(asked: SiteRequest | None, recorded: Recorded | None) -> dict[str, Any]:
    """Return the cells of a job that have a value.

    >>> cells_of(SiteRequest(qos="high", gres=(Gres("gpu", "a100", 2, "node"),)), Recorded(start=5, nodes="n[1-2]"))
    {'asked.qos': 'high', 'asked.gres': 'gpu:a100:2/node', 'recorded.start': 5, 'recorded.nodes': 'n[1-2]'}
    """
    cells: dict[str, Any] = {}
    for name in ASKED_FIELDS if asked is not None and asked is not NOTHING else ():
        value = getattr(asked, name)
        if value != getattr(NOTHING, name):
            cells[f"{ASKED}{name}"] = _text_of(name, value, asked or NOTHING)
    for name in (*RECORDED_TIMES, *RECORDED_TEXTS) if recorded is not None else ():
        value = getattr(recorded, name)
        if value not in (None, ""):
            cells[f"{RECORDED}{name}"] = value
    if recorded is not None and recorded.attempts:
        attempts = ";".join("/".join(map(str, each)) for each in recorded.attempts)
        cells[f"{RECORDED}attempts"] = attempts
    return cells


def _text_of(name: str, value: Any, asked: SiteRequest) -> Any:
    if name == "partitions":
        return ",".join(value)
    if name == "gres":
        return ",".join(f"{each.name}:{each.type + ':' if each.type else ''}{each.number}/{each.per}" for each in value)
    if name == "dependencies":
        return dependency_text(asked)
    return int(value) if name in YES_OR_NO else value


def columns_with_values(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns in which a job has a value, in their order."""
    used = {name for each in cells for name in each}
    return [name for name in SITE_COLUMNS if name in used]


def site_of(cells: Mapping[str, Any]) -> tuple[SiteRequest | None, Recorded | None]:
    """Return what a job asked for and what was recorded of it, None if there is nothing, from the cells of a row.

    Cells that are missing, empty or None are unknown. Raises WrongValue with the column.

    >>> site_of({"asked.dependencies": "afterok:7", "recorded.start": "5"})[0].dependencies
    (Dependency(kind='afterok', jobs=('7',), delay=0),)
    """
    if _SITE_COLUMNS.isdisjoint(cells):
        return None, None
    given = {name: value for name in SITE_COLUMNS if not _is_empty(value := cells.get(name))}
    asked: dict[str, Any] = {}
    recorded: dict[str, Any] = {}
    for column, value in given.items():
        kind, _, name = column.partition(".")
        if f"{kind}." == ASKED:
            asked |= _asked(column, name, value)
        else:
            recorded[name] = _recorded(column, name, value)
    request = SiteRequest(**asked) if asked else NOTHING
    records = Recorded(**recorded) if recorded else NOTHING_RECORDED
    return None if request == NOTHING else request, None if records == NOTHING_RECORDED else records


def _is_empty(value: object) -> bool:
    return value is None or value == "" or value != value


def _asked(column: str, name: str, value: Any) -> dict[str, Any]:
    if name == "partitions":
        return {name: tuple(filter(None, str(value).split(",")))}
    if name == "gres":
        return {name: tuple(_gres(column, part) for part in str(value).split(","))}
    if name == "dependencies":
        try:
            conditions, any_of = dependencies_of(str(value))
        except WrongValue:
            raise wrong(column, value, EXPECTED_DEPENDENCIES) from None
        return {name: conditions, "any_dependency": any_of}
    if name in YES_OR_NO:
        return {name: bool(_whole(column, value, 0, 1))}
    if name == "nice":
        return {name: _whole(column, value, -MOST)}
    return {name: _whole(column, value, 0) if name in NUMBERS else str(value)}


def _recorded(column: str, name: str, value: Any) -> Any:
    if name in RECORDED_TIMES:
        return _whole(column, value, 0)
    if name == "attempts":
        return tuple(_attempt(column, part) for part in str(value).split(";"))
    return str(value)


def _whole(column: str, value: Any, least: int, most: int = MOST) -> int:
    text = str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
    number = whole_of(text.strip(), least, most)
    if number is None:
        raise wrong(column, value, f"a whole number from {least} to {most}, or an empty cell")
    return number


def _gres(column: str, text: str) -> Gres:
    match = GRES.fullmatch(text.strip())
    if match is None:
        raise wrong(column, text, f"resources such as gpu:a100:2/node or gpu:4/job, per {', '.join(PER)}")
    return Gres(match[1], match[2] or "", int(match[3]), match[4])


def _attempt(column: str, text: str) -> RecordedAttempt:
    match = ATTEMPT.fullmatch(text.strip())
    if match is None:
        raise wrong(column, text, "submit/start/end/state/nodes, with -1 for an unknown time")
    return RecordedAttempt(int(match[1]), int(match[2]), int(match[3]), match[4], match[5])


# --- Dependencies as Slurm writes them.


def dependencies_of(text: str) -> tuple[tuple[Dependency, ...], bool]:
    """Return the conditions of ``--dependency``, and whether one of them is enough. Raises WrongValue.

    ``squeue`` prints them too, each job with its state: ``afterok:12(unfulfilled)``.

    >>> dependencies_of("afterok:12:13,after:7+5")[0]
    (Dependency(kind='afterok', jobs=('12', '13'), delay=0), Dependency(kind='after', jobs=('7',), delay=300))
    >>> dependencies_of("afterany:1?singleton")[1]
    True
    """
    conditions: list[Dependency] = []
    plain = re.sub(r"\([^()]*\)", "", text)
    for part in filter(None, re.split("[,?]", plain)):
        kind, *jobs = part.strip().split(":")
        kind = kind.lower()
        if re.fullmatch(r"\d[\d_]*", kind, re.ASCII):  # the oldest form: ids alone
            conditions.append(Dependency("afterany", (kind, *jobs)))
            continue
        if kind not in KINDS:
            raise WrongValue(f"{text[:40]!r}; expected {EXPECTED_DEPENDENCIES}")
        delayed: dict[int, list[str]] = {}
        for job in filter(None, jobs):
            name, _, minutes = job.partition("+") if kind == "after" else (job, "", "")
            delayed.setdefault(60 * (whole_of(minutes or "0") or 0), []).append(name)
        if not delayed:
            conditions.append(Dependency(kind))
        conditions += [Dependency(kind, tuple(names), delay) for delay, names in delayed.items()]
    return tuple(conditions), "?" in plain


def dependency_text(request: SiteRequest) -> str:
    """Return the conditions of a request as Slurm writes them.

    >>> dependency_text(SiteRequest(dependencies=dependencies_of("after:7+5,afterok:12:13")[0]))
    'after:7+5,afterok:12:13'
    """
    parts = []
    for kind, jobs, delay in request.dependencies:
        after = f"+{delay // 60}" if delay else ""
        parts.append(":".join([kind, *(f"{job}{after}" for job in jobs)]))
    return ("?" if request.any_dependency else ",").join(parts)
