"""Decompositions: what a backend does not support is replaced by simpler constructs, down to linear comparisons.

A backend says in its attribute ``supports`` which constructs of the language it takes (`Construct`); a backend without
the attribute takes all. The driver then applies the decompositions (``chain.Chain``). The formulas of each one stand in its
docstring:

- ``constraints``: alternative, all_or_none, synchronize, no_overlap, transition times, forbid_extent, precedences,
  cumulative with its stepwise capacities and variable demands; the order of sequences; levels and state functions;
  intensity, domains with holes, span, isomorphism, variable capacities and time lags
- ``expressions``: products, quotients, elements, all_different, table; max, min, holds, overlap, element, piecewise; start
  windows with gaps and optional intervals; real coefficients; times from an origin
- ``chain``: which of them a model needs, in which order; the whole model as integer variables and linear comparisons, for a
  backend without intervals
"""

from ...later import names_later
from .decomposition import ALL, LEVELS, NOT_LINEAR, SEQUENCES, STATED, STATES, Construct, constructs_of

__all__ = ["ALL", "Construct", "LEVELS", "NOT_LINEAR", "SEQUENCES", "STATED", "STATES", "constructs_of"]

INNER = {  # module: names that other packages of schedlab read; they are not public
    "chain": ("Chain", "decompose", "linear_model"),
}
__getattr__ = names_later(__name__, inner=INNER)
