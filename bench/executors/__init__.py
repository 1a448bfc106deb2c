"""Executors: where the processes of runs start: on this machine, on a Dask cluster, in SLURM job arrays."""
