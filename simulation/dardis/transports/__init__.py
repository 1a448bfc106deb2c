"""Node managers in several processes, which exchange packets with the task manager over MPI, Dask or within a process."""
