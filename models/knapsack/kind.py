"""The registration of the kind of problem "knapsack"."""

from __future__ import annotations

from ..kind import ProblemKind
from .problem import Knapsack

KNAPSACK = ProblemKind("knapsack", Knapsack, bench="..bench.kinds.knapsack:KNAPSACK")
