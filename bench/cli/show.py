"""``bench list`` and ``bench show``: the shipped instances, and one instance or cooling table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...instances import UnknownInstance, load, names
from ..errors import WrongUse
from ..terminal import console_for
from .options import Drop, InstanceName, open_instance


def list_instances() -> None:
    """List the shipped instances.

    Example: bench list
    """
    from ..show.instances import list_instances as print_list

    print_list(console_for(), [load(name) for name in names()])


def show(
    instance: InstanceName,
    drop_impossible: Drop = False,
    plot: Annotated[
        Path | None, typer.Option(help="cooling tables: file of a picture to write, such as air.svg")
    ] = None,
) -> None:
    """Show an instance: platform, queues, jobs, objective.

    INSTANCE may also be a cooling table: air, hybrid, or a CSV file. Its PUE and its cooling power are shown for several
    temperatures and IT powers.

    Example: bench show eurora_700

    Example: bench show air --plot air.svg
    """
    from ..show.cooling import is_cooling, meant, show_cooling
    from ..show.instances import show_instance

    if is_cooling(instance):
        show_cooling(console_for(), instance, plot)
        return
    try:
        found = open_instance(instance, drop_impossible)
    except UnknownInstance as e:
        raise meant(e, instance) from e
    if plot is not None:
        raise WrongUse(
            f"--plot {plot}: {instance} is not a cooling table; only cooling tables are drawn by bench show. "
            "To draw results, use bench plot"
        )
    show_instance(console_for(), found, instance)
