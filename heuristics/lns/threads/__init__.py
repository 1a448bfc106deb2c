"""Several searches at the same time that share their best order."""
