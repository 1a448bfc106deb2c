"""Statistics of runs over instances and seeds. No run disappears: each function says how it counts runs without an answer."""

from ...later import names_later

INNER = {  # module: names that other packages of schedlab read; they are not public
    "comparison": ("borda", "compare", "least_problems", "minizinc", "statistics_of", "two_folders", "virtual_best"),
    "measures": ("STATES", "groups", "matching", "sample_of"),
}
__getattr__ = names_later(__name__, inner=INNER)
