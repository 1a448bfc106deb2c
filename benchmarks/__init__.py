"""Measurements of speed, studies of papers, and the build of wheels, run at the root of a clone: ``python -m benchmarks.speed``."""
