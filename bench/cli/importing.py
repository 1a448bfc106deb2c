"""``bench import``: one sub-command for each file format; the code of each is in ``bench/ingest``."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from ...backends import UnknownName
from ...instances.classic import LIBRARIES
from ...instances.traces import FORMATS
from ..ingest import import_curie, import_log, import_project, import_state, import_theta, import_weather


class Formats(TyperGroup):
    """The formats as sub-commands; an unknown name is an error that lists similar names."""

    what = "format"

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a format. Raises UnknownName."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not cmd_name.startswith("-"):
            raise UnknownName(self.what, cmd_name, list(self.commands))
        return found


import_app = typer.Typer(cls=Formats, no_args_is_help=True, subcommand_metavar="FORMAT FILE [OPTIONS]")


@import_app.callback()
def import_() -> None:
    """Convert a workload log or a project to an instance.

    A log is that of a machine, a project a file of a benchmark library such as PSPLIB. A weather file is converted to a
    table of temperatures, which profit problems use.

    Help for one format: bench import swf --help

    Example: bench import swf log.swf.gz --nodes 300 --cores 32 --memory 131072 --window 2012-07-13:23d --out my_days

    Example: bench import psplib j301_1.sm --out j301_1
    """


for _name, _format in FORMATS.usable():
    import_app.command(_name, short_help=f"log: {_format.about}")(import_log)
for _name, _library in LIBRARIES.items():
    if _library.folder:
        import_app.command(_name, short_help=_library.about)(import_project)
import_app.command("weather", short_help="temperatures: EPW, PVGIS, CSV")(import_weather)
import_app.command("curie", short_help="profit scenarios of Bridi's thesis, from an SWF log")(import_curie)
import_app.command("theta", short_help="eviction problem of a moment of a log")(import_theta)
import_app.command("state", short_help="state of a machine from Slurm or PBS, for bench decide")(import_state)
