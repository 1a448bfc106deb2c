"""The command line ``bench``: the list of its commands and its entry point.

Exit codes: 0 done, 1 a run failed or a check found a fault, 2 wrong use, 130 stopped by Ctrl-C, 141 the reader of the
output has closed it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ... import __version__
from ..exit_codes import exit_code, wrap_errors
from ..kinds.replays.help import HELP as SIMULATE_HELP
from ..shadow.decide import decide
from ..terminal import PLAIN_WIDTH, say
from .doctor import doctor
from .export import export
from .generate import generate_app
from .guide import guide
from .importing import import_app
from .options import GroupedHelp
from .plot import plot
from .replays.dardis import HELP as DARDIS_HELP
from .replays.dardis import dardis
from .replays.simulate import simulate
from .results.compare import compare
from .results.report import report
from .results.statistics import statistics
from .run import run
from .show import explain, list_instances, show
from .verify import verify

OVERVIEW = """Run scheduling problems, replay workload logs, verify every schedule.

The results are kept as records (JSON files) and printed as tables.

\b
bench doctor                                      check the solvers
bench run eurora_700                              solve a shipped instance
bench simulate log.swf --dispatchers fcfs,easy    replay a log
bench plot results/log                            compare the replays
bench statistics results/classic                  gaps, times, proofs

Help for one command: bench simulate --help
"""
BEFORE = {"import": "verify", "generate": "plot"}  # command group: the command that it precedes in the overview


class Commands(TyperGroup):
    """The commands in the order in which they are used; Typer would list the groups import and generate last."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the arguments, or print the help if it is requested."""
        return wrap_errors(lambda: super(Commands, self).make_context(*args, **kwargs))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; ``exit_code`` handles its exceptions instead of Typer."""
        return wrap_errors(lambda: super(Commands, self).invoke(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the overview."""
        names = [name for name in super().list_commands(ctx) if name not in BEFORE]
        for group, command in BEFORE.items():
            names.insert(names.index(command), group)
        return names


app = typer.Typer(
    name="bench",
    cls=Commands,
    no_args_is_help=True,
    context_settings={"max_content_width": PLAIN_WIDTH, "help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command ``bench`` and exit the process with its exit code.

    ``arguments``: the words after ``bench``; None for those of ``sys.argv``.
    """
    words = None if arguments is None else list(arguments)
    sys.exit(exit_code(lambda: app(args=words, prog_name="bench", standalone_mode=False)))


def _version(wanted: bool) -> None:
    if wanted:
        say(f"bench {__version__}")
        raise typer.Exit


@app.callback(help=OVERVIEW)
def bench(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None:
    """Handle the options of ``bench`` itself."""


app.command("list")(list_instances)
app.command("show")(show)
app.command("explain", cls=GroupedHelp)(explain)
app.command("run", cls=GroupedHelp)(run)
app.command("simulate", cls=GroupedHelp, help=SIMULATE_HELP)(simulate)
app.command("dardis", cls=GroupedHelp, help=DARDIS_HELP)(dardis)
app.command("decide")(decide)
app.add_typer(import_app, name="import")
app.command("verify", cls=GroupedHelp)(verify)
app.command("export", cls=GroupedHelp)(export)
app.add_typer(generate_app, name="generate")
app.command("plot")(plot)
app.command("statistics")(statistics)
app.command("compare")(compare)
app.command("report")(report)
app.command("guide")(guide)
app.command("doctor")(doctor)


if __name__ == "__main__":
    main()
