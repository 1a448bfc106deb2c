"""Generators of instances, and of the data that instances ship with."""

from ...later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "fing": ("improved", "intervals_of_users", "walltime_of"),
}
__getattr__ = names_later(__name__, inner=INNER)
