"""What ``bench calibrate`` prints: the waits by group, and where the rules were wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import fmean
from typing import NamedTuple

from ...models.counts import how_many
from ...simulation.slurm.calibration import Agreement, Calibration
from ..grid import Column, Grid, count, percent, ratio

SHOWN = 10  # wrong answers


class _Row(NamedTuple):
    group: str
    name: str
    waits: Agreement


def table_of(result: Calibration) -> Grid:
    """Return the waits, recorded and replayed, of all jobs and of each partition, QOS, account and class of size."""
    rows = [_Row("all", "", result.free)]
    for group, parts in result.by.items():
        if len(parts) > 1:
            rows.extend(_Row(group, name or "-", waits) for name, waits in parts.items())
    columns = [
        Column("group", lambda row: row.group, words=True),
        Column("name", lambda row: row.name, words=True),
        Column("jobs", lambda row: row.waits.jobs, count),
        Column("recorded\ns", lambda row: row.waits.recorded, count, "mean waits that were recorded and replayed"),
        Column("replayed\ns", lambda row: row.waits.replayed, count),
        Column("median\nrecorded", lambda row: row.waits.median_recorded, count, unit="s", spare=2),
        Column("median\nreplayed", lambda row: row.waits.median_replayed, count, unit="s", spare=2),
        Column("p95\nrecorded", lambda row: row.waits.p95_recorded, count, "95 % quantiles", unit="s", spare=3),
        Column("p95\nreplayed", lambda row: row.waits.p95_replayed, count, unit="s", spare=3),
        Column("mean\nerror s", lambda row: row.waits.mean_error, count, "mean absolute difference of a job's waits"),
        Column("within\n10 s", lambda row: row.waits.within_10_s, percent, "shares of the starts", spare=1),
        Column("within\n1 min", lambda row: row.waits.within_1_min, percent),
        Column("within\n10 min", lambda row: row.waits.within_10_min, percent, spare=1),
        Column("rank\ncorrelation", lambda row: row.waits.rank_correlation, ratio, "Spearman's, of the waits"),
    ]
    return Grid.of("waits, recorded and replayed (mean of the replays)", columns, rows)


def lines_of(result: Calibration) -> Iterator[str]:
    """Yield the verdict, the figures of one step, and what was wrong."""
    one = result.one_step
    yield str(result)
    yield f"verdict: {result.rule}"
    yield (
        f"one step: {one.right:,} of {how_many(one.predicted, 'predicted start', ',')} came true, "
        f"{one.foreseen:,} of {how_many(one.starts, 'recorded start', ',')} were predicted"
    )
    single = fmean(each.rank_correlation for each in result.single)
    yield f"rank correlation of the recorded waits with those of one replay: {single:.3f} (mean of {len(result.single)})"
    if result.between:
        between = fmean(each.rank_correlation for each in result.between)
        yield f"rank correlation between two replays, which differ by chance alone: {between:.3f}"
    if one.wrong:
        yield f"the first wrong answers of {how_many(len(one.wrong), 'one', ',')}:"
    for each in one.wrong[:SHOWN]:
        time = datetime.fromtimestamp(each.time, UTC).isoformat(sep=" ").removesuffix("+00:00")
        if each.predicted and each.recorded is None:
            yield f"  {time}  job {each.job} in {each.partition}: {each.why} would start it; it never started"
        elif each.predicted and each.recorded is not None:
            late = each.recorded - each.time
            yield f"  {time}  job {each.job} in {each.partition}: {each.why} would start it; it started {late:,} s later"
        else:
            yield f"  {time}  job {each.job} in {each.partition} started; not predicted: {each.why}"
    if result.worst:
        yield "the largest errors of the free replays:"
    for error in result.worst:
        yield f"  job {error.job}: waited {error.recorded:,.0f} s, replayed {error.replayed:,.0f} s, last for {error.why}"
    if result.never:
        yield f"started in the log or in the first replay alone: {', '.join(result.never)}"
    if result.not_modelled:
        yield f"not modelled: {', '.join(result.not_modelled)}"
