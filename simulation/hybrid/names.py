"""The names of hybrid dispatchers: ``hybrid:70``, with options ``hybrid:70:forecast=weekly:method=lns:limit=10``."""

VARIANTS = (100, 70, 50)  # percent of the unused capacity that stays on [Bridi2018, 7.6]
METHOD = "multi-search"
FORECAST = "persistence"
EVERY = 6.0  # hours between the plans of planned
