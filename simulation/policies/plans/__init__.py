"""Policies that plan the whole queue at each decision, and search for better plans."""
