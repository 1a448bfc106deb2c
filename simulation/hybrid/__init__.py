"""The hybrid dispatcher: forecast, offline plan, desired profile, DARDIS, and nodes that are switched off [Bridi2018, 7]."""
