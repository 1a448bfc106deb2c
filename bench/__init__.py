"""The benchmark harness: command line, runs in separate processes, records of results, tables and plots."""

from .records.store import read_results

__all__ = ["read_results"]
