"""The bench: command line, runs in processes of their own, the results' store, tables."""

from .records.store import read_results

__all__ = ["read_results"]
