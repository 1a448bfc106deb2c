"""The header of a log in the Standard Workload Format."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from ...files.numbers import whole_of

MOST = 10**15


@dataclass
class Header:
    """The header comments of an SWF file, ``; Key: value``: start time, time zone, machine sizes, names."""

    unix_start: int | None = None
    zone: tzinfo = UTC
    sizes: dict[str, int] = field(default_factory=dict)
    queues: dict[int, str] = field(default_factory=dict)
    partitions: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Sequence[str]) -> Header:
        """Read the header from the lines of a file."""
        pairs: dict[str, str] = {}
        made = cls()
        for line in lines:
            key, colon, value = line.strip().removeprefix(";").partition(":") if ";" in line else ("", "", "")
            key, value = key.strip().lower(), value.strip()
            if not colon or not line.lstrip().startswith(";") or not re.fullmatch(r"\w+", key):
                continue
            pairs.setdefault(key, value)
            names = {"queue": made.queues, "partition": made.partitions}.get(key)
            named = re.match(r"(\d{1,15})\s+(\S.*)", value, re.ASCII)
            code = whole_of(named[1], most=MOST) if named else None
            if named and code is not None and names is not None:
                names.setdefault(code, named[2])
        made.unix_start = _whole(pairs.get("unixstarttime"))
        for name, key in (("processors", "maxprocs"), ("nodes", "maxnodes")):
            size = _whole(pairs.get(key))
            if size is not None and size > 0:
                made.sizes[name] = size
        made._find_zone(pairs.get("timezonestring"), _whole(pairs.get("timezone")))
        return made

    def _find_zone(self, name: str | None, offset: int | None) -> None:
        fixed = timezone(timedelta(seconds=offset)) if offset is not None and abs(offset) < 86400 else UTC
        try:
            self.zone = ZoneInfo(name) if name else fixed
        except (ValueError, LookupError, OSError):
            self.zone = fixed
            self.notes.append(f"the time zone {name!r} of the header is unknown; {fixed} is used for dates")

    def queue(self, code: int) -> str:
        """Return the name of a queue, with its number if another queue has the same name."""
        return _unique_name("queue", self.queues, code)

    def partition(self, code: int) -> str:
        """Return the name of a partition, with its number if another partition has the same name."""
        return _unique_name("partition", self.partitions, code)


def _unique_name(what: str, names: Mapping[int, str], code: int) -> str:
    name = names.get(code, f"{what} {code}")
    return f"{name} ({code})" if list(names.values()).count(name) > 1 else name


def _whole(text: str | None) -> int | None:
    found = re.match(r"-?\d{1,15}(?!\d)", text or "", re.ASCII)
    return whole_of(found[0], -MOST, MOST) if found else None
