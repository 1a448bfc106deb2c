"""Decompositions: what a backend does not support is replaced by simpler constructs, down to linear comparisons.

A backend says in its attribute ``supports`` which constructs of the language it takes (`Construct`); a backend without
the attribute takes all. The driver then applies the decompositions (`Chain`). The formulas of each one stand in its
docstring:

- ``structures``: intensity, domains with holes, span, isomorphism, variable capacities and time lags
- ``scheduling``: alternative, all_or_none, synchronize, no_overlap, precedences
- ``transitions``: forbid_extent, transition times of a no_overlap
- ``capacities``: stepwise capacities, variable demands, cumulative
- ``sequences``, ``states``: the order of a sequence, its transitions and costs; state functions
- ``levels``, ``arithmetic``: levels; products, quotients, elements of expressions, all_different, table
- ``intervals``: start windows with gaps, optional intervals
- ``functions``: max, min, holds, overlap, element, piecewise
- ``real_numbers``: real coefficients
- ``linear``: the whole model as integer variables and linear comparisons, for a backend without intervals
"""

from .chain import Chain, DecomposedCompiled, LinearModel, compile_supported, decompose, linear_model
from .constructs import ALL, Construct, constructs_of

__all__ = [
    "ALL",
    "Chain",
    "Construct",
    "DecomposedCompiled",
    "LinearModel",
    "compile_supported",
    "constructs_of",
    "decompose",
    "linear_model",
]
