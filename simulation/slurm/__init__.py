"""Slurm: a replay that schedules as Slurm does."""
