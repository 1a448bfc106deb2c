"""The OR-Tools CP-SAT backend."""
