"""Compiled kernels for projects: schedule generation, justification, evolution of schedules, tabu search for shops."""
