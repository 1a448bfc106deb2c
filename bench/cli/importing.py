"""``bench import``: a command per format. What a format makes has a file of its own and is entered here."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from ...backends import UnknownName
from ...instances.traces import FORMATS
from ..ingest.curie import import_curie
from ..ingest.log import import_log
from ..ingest.weather import import_weather


class Formats(TyperGroup):
    """The formats as commands; for a name that there is not, the near ones are told."""

    what = "format"

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a format. Raises UnknownName."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not cmd_name.startswith("-"):
            raise UnknownName(self.what, cmd_name, list(self.commands))
        return found


import_app = typer.Typer(cls=Formats, no_args_is_help=True, subcommand_metavar="FORMAT FILE [OPTIONS]")


@import_app.callback()
def import_() -> None:
    """Makes an instance of the log of a machine.

    Or, of a file with weather, the temperatures that instances of profit use. Every format explains itself:
    bench import swf --help.

    Example: bench import swf log.swf.gz --nodes 300 --cores 32 --memory 131072 --window 2012-07-13:23d --out my_days
    """


for _format in FORMATS.values():
    import_app.command(_format.name, short_help=f"log: {_format.about}")(import_log)
import_app.command("weather", short_help="temperatures: EPW, PVGIS, CSV")(import_weather)
import_app.command("curie", short_help="profit scenarios of the thesis, from an SWF log")(import_curie)
