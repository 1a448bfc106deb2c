"""The command line ``bench``: the list of its commands and its entry point.

Exit codes: 0 done, 1 a run failed or a check found a fault, 2 wrong use, 130 stopped by Ctrl-C, 141 the reader of the
output has closed it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from ... import __version__
from ...models.plugins import only_named
from ..errors import exit_code, wrap_errors
from ..terminal import PLAIN_WIDTH, say
from .options import GroupedHelp

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
COMMANDS = {
    "list": ".instances:list_instances",
    "show": ".instances:show",
    "explain": ".instances:explain",
    "run": ".run:run",
    "simulate": ".simulate:simulate",
    "dardis": ".simulate:dardis",
    "decide": ".calibrate:decide",
    "calibrate": ".calibrate:calibrate",
    "whatif": ".whatif:whatif",
    "import": ".importing:import_app",
    "verify": ".results:verify",
    "export": ".instances:export",
    "generate": ".importing:generate_app",
    "plot": ".results:plot",
    "statistics": ".results:statistics",
    "compare": ".results:compare",
    "leaderboard": ".leaderboard:leaderboard",
    "report": ".results:report",
    "merge": ".results:merge",
    "guide": ".guide:guide",
    "doctor": ".doctor:doctor",
}
"""Command -> its module and its function, or its Typer app if it has sub-commands; in the order of the overview."""
GROUPED = {
    "explain",
    "run",
    "simulate",
    "leaderboard",
    "calibrate",
    "whatif",
    "dardis",
    "verify",
    "export",
}  # commands with groups of options
READ_RECORDS = {"verify", "plot", "statistics", "compare", "report", "merge", "guide"}
"""Commands that read records: they import nothing that a record names, unless it is named on the command line."""
SETTINGS: dict[str, Any] = {"pretty_exceptions_enable": False, "add_completion": False, "rich_markup_mode": None}


@cache
def _command(name: str) -> Any:
    """Import a command; its help text is ``NAME_HELP`` of its module if there is one, else the docstring of its function."""
    place, attribute = COMMANDS[name].split(":")
    module = import_module(place, __package__)
    target = getattr(module, attribute)
    if name in READ_RECORDS:
        target = only_named(())(target)
    text = getattr(module, f"{attribute.upper()}_HELP", None)
    one = typer.Typer(**SETTINGS)
    if isinstance(target, typer.Typer):
        one.add_typer(target, name=name)
    else:
        one.command(name, cls=GroupedHelp if name in GROUPED else None, help=text)(target)
    command: Any = get_command(one)
    return getattr(command, "commands", {name: command})[name]


class ImportedCommands(Mapping[str, Any]):
    """The commands by name; each is imported when it is first used."""

    def __getitem__(self, name: str) -> Any:
        """Return a command."""
        if name not in COMMANDS:
            raise KeyError(name)
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(COMMANDS)

    def __len__(self) -> int:
        """Return the number of commands."""
        return len(COMMANDS)


class Commands(TyperGroup):
    """The commands, of which only the one that is called is imported."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = ImportedCommands()  # type: ignore[assignment]

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the arguments, or print the help if it is requested."""
        return wrap_errors(lambda: super(Commands, self).make_context(*args, **kwargs))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; ``exit_code`` handles its exceptions instead of Typer."""
        return wrap_errors(lambda: super(Commands, self).invoke(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the overview."""
        return list(self.commands)


app = typer.Typer(
    name="bench",
    cls=Commands,
    no_args_is_help=True,
    context_settings={"max_content_width": PLAIN_WIDTH, "help_option_names": ["-h", "--help"]},
    **SETTINGS,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command ``bench`` and exit the process with its exit code.

    ``arguments``: the words after ``bench``; None for those of ``sys.argv``.
    """
    words = None
    if arguments is not None:
        words = list(arguments)
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


if __name__ == "__main__":
    main()
