"""Compiled objectives of the starts of jobs."""
