"""The options that say how a log is read, of all commands that read one."""

from __future__ import annotations

from typing import Annotated

import typer

from .options import LOG

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="swf, sacct, pbs, eurora, table or batsim; default: recognised by its content",
        rich_help_panel=LOG,
    ),
]
LogNodes = Annotated[int | None, typer.Option(min=1, help="number of nodes of the machine", rich_help_panel=LOG)]
Cores = Annotated[int | None, typer.Option(min=1, help="cores of a node", rich_help_panel=LOG)]
Memory = Annotated[int | None, typer.Option(min=1, help="memory of a node in MB", rich_help_panel=LOG)]
PerNode = Annotated[str | None, typer.Option(help="other resources of a node: gpus=2,mics=1", rich_help_panel=LOG)]
Zone = Annotated[
    str | None,
    typer.Option(help="sacct and PBS logs: time zone, such as Europe/Rome; default: UTC", rich_help_panel=LOG),
]
Columns = Annotated[
    str | None,
    typer.Option(
        help="sacct --noheader: the names of its columns, as in --format: JobID,Submit,Start,...", rich_help_panel=LOG
    ),
]
