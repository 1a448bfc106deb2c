"""Suites: sets of instances with their methods, limits, seeds and best-known values; the shipped ones are TOML files here."""
