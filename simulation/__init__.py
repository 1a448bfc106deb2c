"""Online dispatching: a simulator that replays traces, policies and CP dispatchers, runtime predictors, metrics."""
