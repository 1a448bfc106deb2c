"""The commands that replay workloads, and their options."""
