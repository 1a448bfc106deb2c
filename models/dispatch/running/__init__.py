"""What running jobs occupy, as flat arrays."""
