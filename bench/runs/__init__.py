"""Runs: suites, their selection, their processes, the executors that start these, and their supervision."""
