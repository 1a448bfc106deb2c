"""``python -m schedlab.backends.conformance``."""

import typer

from .run import main

if __name__ == "__main__":  # worker processes import this module, too
    typer.run(main)
