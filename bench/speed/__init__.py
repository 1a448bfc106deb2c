"""The measurements of ``make speed``: time of the lowerings, the compiled kernels and the replays."""
