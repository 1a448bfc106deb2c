"""Online dispatch: a trace-driven simulator, rules and backfilling, CP dispatchers, predictors of runtimes, metrics."""
