"""What ``scontrol show`` prints: config, partition, node, reservation, licences [scontrol(1)]."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...errors import WrongValue
from ..formats.slurm_values import limit, moment
from .draft import Draft, Table, Values, Where, names, word_set, words
from .slurm_conf import (
    NODE_IGNORED,
    NODE_KEYS,
    licences,
    node_values,
    nodes_of_partitions,
    partition_values,
    settings,
    whole,
)

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
        values["duration"] = _length(draft, where, {key: text for key, (_, text) in given.items()}, start)
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


def _length(draft: Draft, where: Where, given: dict[str, str], start: int | None) -> int | None:
    if "duration" in given:
        length: int | None = draft.convert(where, "Duration", given["duration"], limit)
        if length is None and not draft.faults:
            draft.fault(
                where, "Duration", "Duration: a reservation without an end is not supported; expected D-HH:MM:SS"
            )
        return length
    end: int | None = draft.convert(where, "EndTime", given.get("endtime", ""), lambda text: _moment(text, draft))
    return None if end is None or start is None else max(0, end - start)


def read_licences(draft: Draft, path: Path, lines: Sequence[str]) -> None:
    """Read ``scontrol show lic``."""
    for where, pairs in records(path, lines):
        given = {key.lower(): text for key, text in pairs}
        total = draft.convert(where, "Total", given.get("total", ""), whole)
        if total is not None:
            draft.licences[pairs[0][1]] = total
