"""Replays in the bench: their settings, the replayed workload, the replay in the worker, and its record."""
