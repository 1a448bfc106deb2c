"""The options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from ...models.dispatch.problem import OBJECTIVES

InstanceName = Annotated[str, typer.Argument(help="a folder with an instance.toml, or the name of a shipped instance")]
At = Annotated[str | None, typer.Option(help="snapshot: the jobs submitted by 12:00 (or second 43200), none started")]
First = Annotated[int | None, typer.Option(min=1, help="only so many jobs, the first by submit time")]
DurationsOption = Annotated[str, typer.Option(help="a job takes its walltime or its runtime")]
ObjectiveOption = Annotated[str | None, typer.Option(help=f"another objective: {', '.join(OBJECTIVES)}")]
Nodes = Annotated[int | None, typer.Option(min=0, help="of an eviction instance: so many nodes are to be freed")]
Scenario = Annotated[str | None, typer.Option(help="of a profit instance: air,summer,cheap; by default its own")]
Retry = Annotated[
    bool, typer.Option("--retry", help="also run again what failed or was broken off: killed, crashed, out of memory")
]
Explain = Annotated[bool, typer.Option("--explain", help="print below each table what its columns mean")]
Drop = Annotated[bool, typer.Option("--drop-impossible", help="go on without the jobs that can never fit")]
