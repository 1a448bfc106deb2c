"""Heuristics for projects: priority rules, choice of modes, serial schedule generation."""
