"""Runs: their selection, their processes and supervision, and the replays of logs."""
