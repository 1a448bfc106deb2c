"""Tables of jobs in CSV or Parquet, with the columns of ``jobs.csv`` or with others, which a map names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import MissingPackage, WrongArgument, WrongValue
from ...models.comparing import hashable
from ...models.words import how_many
from ..files.reading import MOST_LINES, TextError, WorkloadError, csv_rows, each_line, json_number_of, number_of, wrong
from ..logged import MISSING, NEVER_STARTED, UNLIMITED, JobColumns, Logged, Trace
from ..site_columns import SiteColumns, cells_of, columns_with_values, is_number_column, is_site_column, site_of
from ..workload import UNKNOWN, BadLine, Workload
from .slurm_values import duration, is_unknown, moment

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

NEEDED = ("id", "submit", "units", "runtime")
OPTIONAL = ("queue", "walltime", "start", "user", "name", "power", "array")
OF_INSTANCES = ("earliest_start", "deadline", "latest_start", "further_chunks", "count")
MOST = 1e10  # s (317 years), W, units, or amounts
NUMBER = f"a number of at most {MOST:.0f}, or an empty cell"
WHOLE = f"a whole number from 0 to {MOST:.0f}"
PARQUET = b"PAR1"
START = "recorded.start"  # the column start of a table of jobs
BATCH = 20_000  # rows of Parquet that are converted together
Row = tuple[int, Sequence[object]]


def read_job_table(path: str | Path) -> Workload:
    r"""Read a table of jobs, CSV or Parquet.

    The columns are those of ``jobs.csv``: ``id``, ``submit``, ``units``, ``runtime``, and if known ``queue``,
    ``walltime``, ``start``, ``user``, ``name``, ``power``, ``array``, and those of a site, ``asked.account``,
    ``recorded.nodes`` and so on (``instances/site_columns.py``). Every other column is a resource: the amount that
    one unit requests. Times are in s, power is in W, memory in MB. Empty cells are unknown values.

    Parameters
    ----------
    path
        The file: CSV, plain or compressed (``.gz``), or Parquet (needs pyarrow).

    Returns
    -------
    Workload
        The jobs. Lines of ``report.bad_lines`` are those of CSV, with the header as line 1, or rows of Parquet, from 1.

    Raises
    ------
    WorkloadError
        The file cannot be read, lacks a column, or has no job that can be replayed.
    MissingPackage
        The file is Parquet, and pyarrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Path(folder, "jobs.csv")
    ...     _ = log.write_text("id,submit,units,cores,walltime,runtime\na,0,2,16,3600,60\nb,5,x,1,60,9\n")
    ...     w = read_job_table(log)
    >>> w.ids, w.request.tolist(), str(w.report.bad_lines[0]).partition(", ")[2]
    (('a',), [[16]], "line 3: units is 'x'; expected a whole number from 0 to 10000000000")
    """
    return job_table_trace(path).workload


def is_parquet(path: str | Path) -> bool:
    """Check whether a file begins as Parquet does; False also if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(PARQUET)) == PARQUET
    except (OSError, ValueError):  # ValueError: a null character in the name
        return False


def is_header(line: str) -> bool:
    """Check whether a line of CSV is the header of a table of jobs."""
    return set(NEEDED) <= {cell.strip() for cell in line.split(",")}


def job_table_trace(path: str | Path, columns: Sequence[str] = (), zone: tzinfo = UTC) -> Trace:
    """Read a table of jobs before the common repairs; ``columns``: a map of its columns, see ``column_map``."""
    if is_parquet(path):
        header, rows = _parquet(path)
    else:
        header, rows = _csv(path)
    if columns:
        return _mapped(path, column_map(columns, zone), header, rows)
    resources = _resources(path, header)
    jobs = JobColumns(resources)
    bad = list[BadLine]()
    for number, cells in rows:
        if not cells:
            continue
        try:
            if len(cells) != len(header):
                raise WrongValue(f"{how_many(len(cells), 'field')}; the header has {len(header)}")
            jobs.append(_job(dict(zip(header, cells, strict=True)), resources))
        except ValueError as e:
            bad.append(BadLine(str(path), number, str(e)))
    name = Path(path).name.removesuffix(".gz").removesuffix(".csv").removesuffix(".parquet")
    return Trace.of_columns(name, "table", jobs, resources, bad)


def columns_of(path: str | Path) -> list[str]:
    """Return the columns of a table."""
    return (_parquet(path) if is_parquet(path) else _csv(path))[0]


def _mapped(path: str | Path, columns: ColumnMap, header: Sequence[str], rows: Iterable[Row]) -> Trace:
    """Read a table with other columns than ours."""
    columns.check(path if is_parquet(path) else f"{path}, line 1", header)
    jobs = JobColumns(columns.resources)
    bad = list[BadLine]()
    for number, cells in rows:
        if not cells:
            continue
        try:
            if len(cells) != len(header):
                raise WrongValue(f"{how_many(len(cells), 'field')}; the header has {len(header)}")
            jobs.append(columns.job(dict(zip(header, cells, strict=True))))
        except ValueError as e:
            bad.append(BadLine(str(path), number, str(e)))
    trace = Trace.of_columns(Path(path).name.partition(".")[0], "table", jobs, columns.resources, bad)
    unix = len(trace) > 0 and bool(np.nanmin(trace.submit, initial=np.inf) >= EPOCH)
    partition = None
    if "queue" in columns.sources:
        partition = trace.queue
    return replace(trace, unix_start=0 if unix else None, zone=columns.zone, partition=partition)


def workload_of_table(table: Any, name: str = "table") -> Workload:
    """Return the workload of a table of pandas; see ``Workload.from_pandas``."""
    if not hasattr(table, "itertuples") or not hasattr(table, "columns"):
        raise WrongArgument(f"table of Workload.from_pandas is {table!r:.80}; expected a pandas.DataFrame")
    if not isinstance(name, str):
        raise WrongArgument(f"name of Workload.from_pandas is {name!r:.80}; expected a text")
    header = ["id" if column == "job" else str(column) for column in table.columns]
    resources = _resources(name, header)
    columns = [table.iloc[:, k] for k in range(len(header))]
    cells = [c.astype(object).where(c.notna(), None).tolist() for c in columns]
    jobs = JobColumns(resources)
    for number, row in enumerate(zip(*cells, strict=True)):
        try:
            jobs.append(_job(dict(zip(header, row, strict=True)), resources))
        except ValueError as e:
            raise WorkloadError(f"{name}, row {number}: {e}") from e
    return Trace.of_columns(name, "table", jobs, resources, []).workload


def site_table(workload: Workload, numbers: Callable[[list[Any], str], Any]) -> dict[str, Any]:
    """Return the columns of what jobs asked of their site and what was recorded, those in which a job has a value.

    Parameters
    ----------
    workload
        The jobs.
    numbers
        Makes a column of whole numbers, of which some may be None: ``pandas.array``.
    """
    w = workload
    site = w.site or SiteColumns.unknown(len(w))
    starts = w.recorded_start.tolist()
    rows = [cells_of(site.asked(k), site.recorded(k, starts[k])) for k in range(len(w))]
    columns: dict[str, Any] = {}
    for name in columns_with_values(rows):
        values = [row.get(name) for row in rows]
        if is_number_column(name):
            columns[name] = numbers(values, "Int64")
        else:
            columns[name] = values
    return columns


def table_of_workload(workload: Workload) -> Any:
    """Return the jobs of a workload as a table of pandas; see ``Workload.to_pandas``."""
    try:
        import pandas
    except ImportError as e:
        raise MissingPackage("to_pandas needs pandas: pip install 'schedlab[pandas]'") from e
    w = workload
    columns: dict[str, Any] = {
        "id": list(w.ids),
        "submit": w.submit,
        "units": w.units,
        **{resource: w.request[:, k] for k, resource in enumerate(w.resources)},
        "walltime": w.walltime,
        "runtime": w.runtime,
        "start": pandas.array(w.recorded_start, "Int64"),
        "queue": [w.queues[k].name for k in w.queue.tolist()],
        "user": [w.users[k] for k in w.user.tolist()],
        "name": [w.programs[k] for k in w.program.tolist()],
        "power": w.power,
        "array": [w.arrays.get(k, "") for k in range(len(w))],
    }
    columns["start"][w.recorded_start == UNKNOWN] = None
    return pandas.DataFrame(columns | {name: v for name, v in site_table(w, pandas.array).items() if name != START})


def _csv(path: str | Path) -> tuple[list[str], Iterator[Row]]:
    rows = csv_rows(path, each_line(path))
    return [name.strip() for name in next(rows, (1, []))[1]], rows


def _parquet(path: str | Path) -> tuple[list[str], Iterator[Row]]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as e:
        raise MissingPackage(f"{path}: Parquet needs pyarrow: pip install 'schedlab[parquet]'") from e
    try:
        file = ParquetFile(path)
    except (ArrowException, OSError) as e:
        raise TextError(path, "file", "a Parquet file", str(e)) from e
    if file.metadata.num_rows > MOST_LINES:
        raise TextError(path, "file", f"at most {MOST_LINES:,} rows", f"{file.metadata.num_rows:,}")
    return file.schema_arrow.names, _batches(path, file)


def _batches(path: str | Path, file: ParquetFile) -> Iterator[Row]:
    from pyarrow import ArrowException

    number = 0
    try:
        for batch in file.iter_batches(BATCH):
            columns = [column.to_pylist() for column in batch.columns]
            yield from enumerate(zip(*columns, strict=True), number + 1)
            number += batch.num_rows
    except (ArrowException, OSError) as e:
        raise TextError(path, "rows", f"rows of Parquet after row {number:,}", str(e)) from e


def _resources(path: str | Path, header: Sequence[str]) -> list[str]:
    """Return the resources, the columns without another meaning. Raises TextError."""
    missing = [c for c in NEEDED if c not in header]
    if missing:
        raise TextError(path, "columns", f"columns {', '.join(NEEDED)}", f"no column {', '.join(missing)}", 1)
    repeated = [c for c in dict.fromkeys(header) if header.count(c) > 1]
    if repeated:
        raise TextError(
            path, "columns", "each column once", f"{repeated[0]} {how_many(header.count(repeated[0]), 'time')}", 1
        )
    foreign = [c for c in OF_INSTANCES if c in header]
    if foreign:
        expected = f"a log, which has no {', '.join(foreign)}; load the folder of the instance instead"
        raise TextError(path, "columns", expected, foreign[0], 1)
    resources = [c for c in header if c not in (*NEEDED, *OPTIONAL) and not is_site_column(c)]
    if not resources:
        raise TextError(path, "columns", "a column per resource, such as cores", ", ".join(header), 1)
    return resources


def _job(row: dict[str, object], resources: Sequence[str]) -> Logged:
    """Read the cells of a job. Raises WrongValue."""
    asked, recorded = site_of(row)
    start = _number(row, "start")
    eligible = MISSING
    if recorded is not None:
        if math.isnan(start) and recorded.start is not None:
            start = recorded.start
        if recorded.eligible is None:
            eligible = MISSING
        else:
            eligible = recorded.eligible
    return Logged(
        id=_text(row, "id"),
        submit=_number(row, "submit"),
        start=start,
        runtime=_number(row, "runtime"),
        walltime=_number(row, "walltime"),
        units=_whole(row, "units"),
        request={r: _whole(row, r) for r in resources},
        queue=_text(row, "queue"),
        user=_text(row, "user"),
        program=_text(row, "name"),
        power=_number(row, "power"),
        array=_text(row, "array"),
        eligible=eligible,
        asked=asked,
        recorded=recorded,
    )


def _text(row: dict[str, object], column: str) -> str:
    value = row.get(column)
    if value is None:
        return ""
    return str(value)


def _number(row: dict[str, object], column: str, expected: str = NUMBER) -> float:
    """Return a number, NaN for an empty cell. Raises WrongValue."""
    value = row.get(column, "")
    if value is None or value == "" or value != value:
        return MISSING
    if isinstance(value, str):
        number = number_of(value.strip(), -MOST, MOST)
    else:
        number = json_number_of(value, -MOST, MOST)
    if number is None:
        raise wrong(column, value, expected)
    return float(number)


def _whole(row: dict[str, object], column: str) -> int:
    """Return a whole number, 0 for an empty cell. Raises WrongValue."""
    number = _number(row, column, WHOLE)
    if math.isnan(number):
        return 0
    if number < 0 or number != math.floor(number):
        raise wrong(column, row[column], WHOLE)
    return int(number)


ENTRY = re.compile(r"\s*([A-Za-z][\w.]*)\s*=\s*(?:(\d+(?:\.\d+)?)\s*\*\s*)?(.+?)\s*", re.ASCII)
TIMES = ("submit", "start", "end", "eligible")
LENGTHS = ("runtime", "walltime")
TEXTS = ("id", "queue", "user", "name", "array")
PLAIN = (*TIMES, *LENGTHS, *TEXTS, "units", "power")
EXPECTED = "NAME=COLUMN, such as id=job_id,submit=submit_time,walltime=60*time_limit,cores=num_cores/units"
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
        units = 1
        if "units" in self.sources:
            units = self._whole(row, "units", 1)
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
        value = None
        if source is not None:
            value = row[source.column]
        if value is None or value != value:  # NaN, NaT
            return None
        if isinstance(value, str) and is_unknown(value.strip()):
            return None
        return value

    def _scaled(self, name: str, value: Any) -> Any:
        factor = self.sources[name].factor
        if factor == 1:
            return value
        number = _number_of(value)
        if number is None:
            return value
        return math.ceil(number * factor)

    def _text(self, row: Mapping[str, Any], name: str) -> str:
        value = self._value(row, name)
        whole = isinstance(value, float) and value.is_integer()  # numbers with gaps are floats in many tables
        if value is None:
            return ""
        return str(int(value) if whole else value)

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
        shares = 1
        if self.sources[name].per_unit and units:
            shares = units
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
            if number == 2**32 - 1:
                return UNLIMITED
            return MISSING
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
    if isinstance(value, int | float) or hasattr(value, "__float__"):
        return float(value)
    return None


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
