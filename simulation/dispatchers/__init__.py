"""Dispatchers: policies in compiled code, plans, CP dispatchers, DARDIS, hybrid; and their names."""
