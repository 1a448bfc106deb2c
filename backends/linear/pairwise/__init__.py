"""The pairwise lowering: binary columns for the order of each pair of intervals."""
