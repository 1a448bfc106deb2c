"""Evictions for on-demand jobs in a replay."""
