"""``make speed``: ratios and times of the compiled kernels and the lowerings."""
