"""The command ``python -m schedlab.backends.conformance`` (see ``run``)."""

import typer

from .run import HELP, main

if __name__ == "__main__":  # worker processes import this module, too, and must not run the command
    app = typer.Typer()
    app.command(help=HELP)(main)
    app()
