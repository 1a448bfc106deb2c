"""Replays in the bench: their settings, the replayed workload, the replay in the worker, its record, published studies."""
