"""Costs of the starts of jobs in models, and limits on them."""
