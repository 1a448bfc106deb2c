"""The constructs of the modelling language that must occur in the random models; ``run`` counts them."""

from __future__ import annotations

CONSTRUCTS = (
    "fixed size", "variable size", "zero size", "size from zero", "start windows", "optional", "default horizon",
    "negative time", "integer", "negative integer", "boolean", "alternative of 1", "alternative of several",
    "optional alternative", "cumulative constant", "cumulative stepwise", "variable demand", "affine demand",
    "no_overlap", "synchronize", "end_before_start", "start_before_start", "end_before_end", "start_before_end",
    "delay", "negative delay", "maximum lag", "cycle of lags", "all_or_none", "forbid_extent", "transitions",
    "no triangle inequality", "implies", "<=", "==", ">=", "<", "range", "real comparison", "sum", "max", "min",
    "positive_part", "holds", "overlap", "element", "piecewise", "nested", "minimize", "maximize", "real objective",
    "lexicographic", "first optimum 0", "large coefficients", "no objective", "crew", "shared machine",
    "master on the machine", "points in a sequence", "transitions of points",
)  # fmt: skip
