"""Dispatchers as methods of the bench: the replayed workload, the replay in the worker, and its record."""
