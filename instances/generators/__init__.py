"""Generators of instances, and of the data that instances ship with."""
