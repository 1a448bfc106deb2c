"""The shared lowering of models to mixed-integer linear form, in two ways: pairwise, and time-indexed on a grid."""

from .form import Blocks, LinearForm
from .intervals import IntervalColumns
from .lowering import Lowered, lower

__all__ = ["Blocks", "IntervalColumns", "LinearForm", "Lowered", "lower"]
