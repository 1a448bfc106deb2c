"""Compiled loops of the Lagrangian relaxation."""
