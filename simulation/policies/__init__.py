"""Policies (rules and backfilling), CP dispatchers, and their names."""
