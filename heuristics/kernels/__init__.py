"""Compiled kernels over flat arrays: node profiles, placement, earnings, evictions, ruin and recreate."""
