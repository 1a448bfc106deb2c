"""What the bench knows of each problem kind: its runs and the extra fields of its records."""
