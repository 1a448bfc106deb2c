"""The schedule of a replay as files in the format of Batsim: writing and reading."""
