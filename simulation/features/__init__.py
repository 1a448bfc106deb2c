"""Features of a replay: components that act at their times, and are told what happens."""
