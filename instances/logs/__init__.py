"""Parts of the preparation of a log for a replay: windows, partitions, dependencies, latest starts."""
