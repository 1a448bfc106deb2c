"""The benchmark harness: command line, runs in separate processes, records of results, tables and plots."""

from .errors import WrongUse
from .records.store import read_results

__all__ = ["WrongUse", "read_results"]
