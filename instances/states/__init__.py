"""States of a machine: its nodes, the jobs that run and the jobs that wait at one time, as JSON; made from Slurm or PBS."""
