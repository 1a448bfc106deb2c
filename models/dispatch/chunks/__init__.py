"""Heterogeneous jobs: groups of units (chunks) with different requests that start and end together."""
