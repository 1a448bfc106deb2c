"""Tables whose columns have other names and units than those of ``jobs.csv``: a map says where each value comes from.

A map is a list of ``NAME=COLUMN``: ``id=job_id,submit=submit_time,walltime=60*time_limit,units=num_nodes,cores=num_cores/units``.
A factor converts units (minutes to seconds, GB to MB); ``/units`` divides the amount of a whole job among its units.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from ...errors import WrongValue
from ...models.comparing import hashable
from ..files.lines import number_of, wrong
from ..logged import MISSING, NEVER_STARTED, UNLIMITED, Logged
from ..report import WorkloadError
from ..site_columns import is_site_column, site_of
from .slurm_values import duration, is_unknown, moment

ENTRY = re.compile(r"\s*([A-Za-z][\w.]*)\s*=\s*(?:(\d+(?:\.\d+)?)\s*\*\s*)?(.+?)\s*", re.ASCII)
TIMES = ("submit", "start", "end", "eligible")
LENGTHS = ("runtime", "walltime")
TEXTS = ("id", "queue", "user", "name", "array")
PLAIN = (*TIMES, *LENGTHS, *TEXTS, "units", "power")
EXPECTED = "NAME=COLUMN, such as id=job_id,submit=submit_time,walltime=60*time_limit,cores=num_cores/units"
MOST = 1e10  # s (317 years), units, amounts
EPOCH = 5e8  # s: later submit times are Unix times


@dataclass(frozen=True)
class Source:
    """Where a value comes from: a column, the factor of its unit, and whether it is shared among the units of a job."""

    column: str
    factor: float = 1.0
    per_unit: bool = False


@hashable
@dataclass(frozen=True)
class ColumnMap:
    """The columns of a table: our name -> where its values come from; ``zone``: time zone of dates without one."""

    sources: Mapping[str, Source]
    zone: tzinfo

    @property
    def resources(self) -> list[str]:
        """The names that are resources: those without another meaning."""
        return [name for name in self.sources if name not in PLAIN and not is_site_column(name)]

    def check(self, where: object, header: Sequence[str]) -> None:
        """Raise WorkloadError for columns that the table does not have."""
        lacking = [each.column for each in self.sources.values() if each.column not in header]
        if lacking:
            raise WorkloadError(
                f"{where}: there is no column {' or '.join(dict.fromkeys(lacking))}; its columns are {', '.join(header)[:400]}"
            )

    def job(self, row: Mapping[str, Any]) -> Logged:
        """Read a row. Raises WrongValue."""
        units = self._whole(row, "units", 1) if "units" in self.sources else 1
        submit, start, end, eligible = (self._time(row, name) for name in TIMES)
        runtime = self._length(row, "runtime")
        if math.isnan(runtime) and end >= start:
            runtime = end - start
        cells = {name: self._value(row, name) for name in self.sources if is_site_column(name)}
        asked, recorded = site_of({name: self._scaled(name, value) for name, value in cells.items()})
        never = math.isnan(start) and not runtime > 0 and {"start", "end"} <= self.sources.keys()
        return Logged(
            id=self._text(row, "id"),
            submit=submit,
            start=start,
            runtime=runtime,
            walltime=self._length(row, "walltime"),
            units=units,
            request={name: self._whole(row, name, units) for name in self.resources},
            queue=self._text(row, "queue"),
            user=self._text(row, "user"),
            program=self._text(row, "name"),
            power=self._number(row, "power"),
            array=self._text(row, "array"),
            eligible=eligible,
            unusable=NEVER_STARTED if never else "",
            asked=asked,
            recorded=recorded,
        )

    def _value(self, row: Mapping[str, Any], name: str) -> Any:
        """Return a value, None if the map has no such name or the cell is empty."""
        source = self.sources.get(name)
        value = None if source is None else row[source.column]
        if value is None or value != value:  # NaN, NaT
            return None
        return None if isinstance(value, str) and is_unknown(value.strip()) else value

    def _scaled(self, name: str, value: Any) -> Any:
        factor = self.sources[name].factor
        if factor == 1:
            return value
        number = _number_of(value)
        return value if number is None else math.ceil(number * factor)

    def _text(self, row: Mapping[str, Any], name: str) -> str:
        value = self._value(row, name)
        whole = isinstance(value, float) and value.is_integer()  # numbers with gaps are floats in many tables
        return "" if value is None else str(int(value) if whole else value)

    def _number(self, row: Mapping[str, Any], name: str) -> float:
        value = self._value(row, name)
        if value is None:
            return MISSING
        number = _number_of(value)
        if number is None or abs(number * self.sources[name].factor) > MOST:
            raise wrong(self.sources[name].column, value, f"a number of at most {MOST:.0f}, or an empty cell")
        return number * self.sources[name].factor

    def _whole(self, row: Mapping[str, Any], name: str, units: int) -> int:
        amount = self._number(row, name)
        if math.isnan(amount):
            return 0
        if amount < 0:
            raise wrong(self.sources[name].column, amount, "a number of at least 0")
        shares = units if self.sources[name].per_unit and units else 1
        return math.ceil(amount / shares)

    def _length(self, row: Mapping[str, Any], name: str) -> float:
        """Return seconds: of a number, or of a duration such as 1-12:00:00."""
        value = self._value(row, name)
        if isinstance(value, str) and _number_of(value) is None:
            try:
                return duration(value.strip())
            except WrongValue as e:
                raise WrongValue(f"{self.sources[name].column} is {e}") from None
        seconds = getattr(value, "total_seconds", None)
        if seconds is not None:
            return float(seconds())
        number = _number_of(value)
        if number is not None and number >= 2**32 - 2:  # Slurm's INFINITE and NO_VAL
            return UNLIMITED if number == 2**32 - 1 else MISSING
        return self._number(row, name)

    def _time(self, row: Mapping[str, Any], name: str) -> float:
        """Return a time in s: of a number, a date, or a text with a date."""
        value = self._value(row, name)
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=self.zone)).timestamp()
        if isinstance(value, str) and _number_of(value) is None:
            try:
                return moment(value.strip(), self.zone)
            except WrongValue as e:
                raise WrongValue(f"{self.sources[name].column} is {e}") from None
        return self._number(row, name)


def column_map(entries: Iterable[str], zone: tzinfo) -> ColumnMap:
    """Return the map of a list of entries. Raises WorkloadError.

    >>> from datetime import UTC
    >>> column_map(["submit=sent", "runtime=60*minutes", "cores=num_cores/units"], UTC).sources["cores"]
    Source(column='num_cores', factor=1.0, per_unit=True)
    """
    sources: dict[str, Source] = {}
    for entry in entries:
        match = ENTRY.fullmatch(entry)
        factor = 1.0 if match is None or not match[2] else number_of(match[2])
        if match is None or factor is None:
            raise WorkloadError(f"columns: {entry[:60]!r}; expected {EXPECTED}")
        if match[1] in sources:
            raise WorkloadError(f"columns: {match[1]} is given twice; expected each name once")
        column = match[3].removesuffix("/units").rstrip()
        sources[match[1]] = Source(column, factor, column != match[3])
    lacking = [name for name in ("submit",) if name not in sources]
    if lacking or not ({"runtime", "end"} & sources.keys()):
        raise WorkloadError(f"columns: there is no submit, or neither runtime nor end; expected {EXPECTED}")
    made = ColumnMap(sources, zone)
    if not made.resources:
        raise WorkloadError(f"columns: there is no resource, such as cores=num_cores; expected {EXPECTED}")
    return made


def _number_of(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return number_of(value.strip())
    return float(value) if isinstance(value, int | float) or hasattr(value, "__float__") else None


KNOWN: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "pm100": (
        "PM100: jobs of Marconi100, Parquet",
        (
            "id=job_id", "submit=submit_time", "eligible=eligible_time", "start=start_time", "end=end_time",
            "runtime=run_time", "walltime=60*time_limit", "units=num_nodes_alloc", "cores=num_cores_alloc/units",
            "gpus=num_gpus_alloc/units", "queue=partition", "user=user_id",
            "asked.qos=qos", "asked.min_nodes=num_nodes_req", "asked.cpus=num_cores_req", "asked.tasks=num_tasks",
            "recorded.priority=priority", "recorded.state=job_state", "recorded.reason=state_reason",
        ),
    ),
    "fdata": (
        "F-DATA: jobs of Fugaku, Parquet",
        (
            "id=jid", "submit=adt", "eligible=qdt", "start=sdt", "end=edt", "runtime=duration", "walltime=elpl",
            "units=nnumr", "cores=cnumr/units", "user=usr", "name=jnam", "recorded.state=exit state",
        ),
    ),
}  # fmt: skip  # name -> what it is, and its columns (github francescoantici/PM100-data; zenodo 11467483)


def known_table(header: Iterable[str]) -> str | None:
    """Return the name of the known table that has these columns; None if it is none of them."""
    columns = set(header)
    for name, (_, entries) in KNOWN.items():
        named = [ENTRY.fullmatch(entry) for entry in entries[:5]]
        if {match[3] for match in named if match} <= columns:
            return name
    return None
