"""Compiled kernels for projects: schedule generation, justification, evolution of schedules, swaps on machines."""
