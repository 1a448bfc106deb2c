"""Dispatchers that solve a model at each decision."""
