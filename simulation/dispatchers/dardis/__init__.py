"""DARDIS: distributed and randomized dispatching with node managers and a task manager [Bridi2018, 5] [Bridi2016]."""
