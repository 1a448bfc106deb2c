"""The profit problem: the income of jobs less the energy cost of their work and of its cooling."""

from ...later import names_later
from .problem import Cooling, Profit

__all__ = ["Cooling", "Profit"]

INNER = {  # module: names that other packages of schedlab read; they are not public
    "formulations": ("with_rest",),
    "guide": ("Day", "Leaf", "MAXIMISE", "OPTIMISE", "Split", "days"),
    "problem": ("Account", "account", "daily", "makespan", "operation", "points_to"),
}
__getattr__ = names_later(__name__, inner=INNER)
