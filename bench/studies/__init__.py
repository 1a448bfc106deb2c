"""Published studies of dispatchers: what was replayed, its figures, and the orders of dispatchers that it states."""
