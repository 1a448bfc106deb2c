"""``bench statistics``: statistics of the methods over all instances and seeds of a folder of records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...terminal import console_for, say
from .options import SHIFT_USUAL, Folder, Methods, Shift, Target, Unproven, measure_of


def statistics(
    results: Folder,
    methods: Methods = None,
    target: Target = None,
    unproven: Unproven = False,
    shift: Shift = SHIFT_USUAL,
    plot: Annotated[
        Path | None, typer.Option(help="SVG file to write: performance profiles, data profiles, shares over the gap")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="CSV file to write: a row per run with its measures")] = None,
    parquet: Annotated[
        Path | None, typer.Option(help="Parquet file to write: a row per run with its measures; needs pyarrow")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="print what each column means")] = False,
) -> None:
    """Print statistics over instances and seeds.

    These are solved and proven runs, times, gaps, primal and dual integrals, wins, and the virtual best method.

    No run disappears in a mean. A run without a verified schedule (failed, missing, not verified) has the gap 1, the primal
    integral 1, and a multiple of the time limit as its time. The formulas are in docs/statistics.md.

    Example: bench statistics results/classic

    Example: bench statistics results/classic --methods cpsat:modes,lns@cpsat --unproven

    Example: bench statistics results/classic --target 0.01 --plot profiles.svg
    """
    from ...statistics import sample as samples
    from ...tables.runs import write_csv, write_parquet
    from ...tables.statistics import show_statistics
    from .reading import known_of, records_with

    records = records_with(results, methods)
    known = known_of(results)
    sample = samples.required(samples.sample_of(records, known), results)
    if unproven:
        sample = samples.unproven(sample)
        kept = {problem.name for problem in sample.problems}
        records = [r for r in records if samples.name_of(r) in kept]
    show_statistics(console_for(), sample, measure_of(target), target, shift, explain)
    if plot is not None:
        from ...plots.profiles.page import write_profiles

        write_profiles(plot, sample, measure_of(target), target)
        say(f"{plot}: profiles of {len(sample.methods)} methods")
    for path, write in ((csv, write_csv), (parquet, write_parquet)):
        if path is not None:
            say(f"{path}: {write(path, records, known)} runs")
