"""The command line: one file per command."""

from ...later import names_later

INNER = {  # module: names that several files of this package read; they are not public
    "options": ("Place", "with_options"),
}
__getattr__ = names_later(__name__, inner=INNER)
