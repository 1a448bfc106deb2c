"""The schedule of a replay as files that Batsim writes, too: writing and reading."""
