"""``bench compare``: which differences between methods, or between two folders of records, are real."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import WrongUse
from ...runs.selection import parse_methods
from ...statistics.comparison import ALPHA
from ...terminal import console_for
from .options import SHIFT_USUAL, Folder, Methods, Shift, Target, Unproven, measure_of


def compare(
    results: Folder,
    other: Annotated[
        Path | None, typer.Argument(help="a second folder: methods of the same name are compared with each other")
    ] = None,
    methods: Methods = None,
    alpha: Annotated[
        float, typer.Option(min=1e-6, max=0.5, help="chance of reporting any difference where there is none")
    ] = ALPHA,
    target: Target = None,
    unproven: Unproven = False,
    shift: Shift = SHIFT_USUAL,
    explain: Annotated[bool, typer.Option("--explain", help="print what each column means")] = False,
) -> None:
    """Print which differences between methods are real.

    Gap, time and primal integral are compared by paired tests over the instances.

    With one folder, all pairs of its methods are compared; with two, the methods of the same name. Each instance counts once,
    with the mean over its seeds. Wilcoxon's signed-rank test, corrected by Holm's method for the number of tests. Runs without
    an answer count against their method: gap and integral 1, twice the time limit.

    Example: bench compare results/classic --methods cpsat:modes,cpsat:modes+warm

    Example: bench compare results/before results/after
    """
    from ...statistics import sample as samples
    from ...statistics.comparison import compare as compared
    from ...statistics.comparison import two_folders
    from ...tables.comparison import show_comparison
    from .reading import known_of, records_with

    pairs = None
    if other is None:
        sample = samples.required(samples.sample_of(records_with(results, methods), known_of(results)), results)
        if len(sample.methods) < 2:
            raise WrongUse(f"{results}: expected at least two methods to compare, found only {sample.methods[0]}")
    else:
        if results.resolve() == other.resolve():
            raise WrongUse(f"{other}: expected another folder than the first")
        names = (results.name, other.name) if results.name != other.name else (str(results), str(other))
        chosen = () if methods is None else parse_methods(methods)
        known = known_of(other) | known_of(results)
        sample, pairs = two_folders(samples.records_of(results), samples.records_of(other), names, chosen, known)
    sample = samples.required(sample, results)
    sample = samples.unproven(sample) if unproven else sample
    show_comparison(console_for(), sample, compared(sample, pairs, alpha, measure_of(target), shift), alpha, explain)
