"""The profit problem: the income of jobs less the energy cost of their work and of its cooling."""

from .cooling import Cooling
from .problem import Profit

__all__ = ["Cooling", "Profit"]
