"""Large-neighbourhood search for dispatching and profit problems."""
