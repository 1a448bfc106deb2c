"""The parts of the bench for single problem kinds: their runs, and the extra fields of their records."""
