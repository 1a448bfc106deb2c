"""Statistics of runs over instances and seeds. No run disappears: each function says how it counts runs without an answer."""
