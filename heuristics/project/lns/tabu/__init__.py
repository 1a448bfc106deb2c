"""Tabu search and path relinking for shops: projects in which each task needs at most one machine, alone."""
