"""Desired profiles in CP dispatchers."""
