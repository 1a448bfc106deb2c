"""Compiled kernels for job shops, also flexible ones: the disjunctive graph, its neighbourhoods, tabu search."""
