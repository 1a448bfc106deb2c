"""Dispatchers: rules, backfilling and constraint programming."""
