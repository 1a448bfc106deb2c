"""Totals of evictors over real logs, and the same eviction problems by several methods."""
