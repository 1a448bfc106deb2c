"""Lowerings of a model to a mixed-integer linear program: pairwise, time-indexed on a grid, and energy (a relaxation).

``lower`` chooses a lowering and returns the linear program as sparse arrays. The formulas of each part stand in the
docstring of its module:

- ``expressions``: presence, size, end and start of an interval; alternative, synchronize, precedence; max, min, holds,
  overlap, element, piecewise
- ``lowering`` (pairwise), ``time_indexed`` on the slots of a grid, ``energy``: no_overlap and cumulative
- ``form``: the sparse arrays, numerical limits, and a valid bound from inexact duals

Symbols used in all of them, for an interval i (times and sizes in seconds)::

    p[i]  presence, 0 or 1 (the constant 1 if the interval is not optional)
    s[i]  start, 0 if absent
    z[i]  size, 0 if absent
    e[i]  end, e[i] = s[i] + z[i], 0 if absent
    lo(x), hi(x)  a lower and an upper bound of the column or expression x
"""

from ...later import names_later
from .expressions import IntervalColumns
from .form import Blocks, LinearForm
from .lowering import Lowered, lower, require_options

__all__ = ["Blocks", "IntervalColumns", "LinearForm", "Lowered", "lower", "require_options"]

INNER = {  # module: names that other files of schedlab read; they are not public
    "form": ("Affine", "FormBuilder", "ranges", "safe_bound"),
    "time_indexed": ("Grid",),
}
__getattr__ = names_later(__name__, inner=INNER)
