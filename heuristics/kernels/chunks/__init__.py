"""Placement of heterogeneous jobs: all chunks at the same start."""
