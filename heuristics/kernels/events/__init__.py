"""Compiled kernels that replay jobs event by event under a rule."""
