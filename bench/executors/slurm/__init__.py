"""Runs in job arrays of SLURM: packs of runs, the commands of SLURM, and the process that performs a pack."""
