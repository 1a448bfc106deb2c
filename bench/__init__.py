"""The bench: command line, runs in processes of their own, the results' store, tables."""
