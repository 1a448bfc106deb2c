"""Runs: what is run, how each run is supervised, and how replays are made."""
