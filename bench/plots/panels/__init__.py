"""Panels of figures: each function draws on axes from plain data."""
