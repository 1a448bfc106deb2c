"""The IBM CP Optimizer backend, through docplex."""
