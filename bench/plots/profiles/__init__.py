"""Profiles of methods over many problems as pictures."""
