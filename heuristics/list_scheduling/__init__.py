"""List scheduling: jobs in a given order, each at its earliest feasible start."""
