"""Compiled steps of ruin and recreate."""
