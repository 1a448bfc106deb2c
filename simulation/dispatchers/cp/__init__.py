"""Dispatchers that solve a constraint programming model at each decision."""
