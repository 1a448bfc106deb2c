"""Kernels of the branch and bound in the order of time."""
