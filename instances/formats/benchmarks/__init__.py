"""Readers of benchmark files of other problems than projects and job shops."""
