"""The side of the nodes: fitting index, generators of start times, node managers."""
