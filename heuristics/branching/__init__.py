"""Branch and bound in the order of time for dispatching problems with few jobs, pruned by prices of a relaxation."""
