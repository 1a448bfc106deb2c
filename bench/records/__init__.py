"""Records of runs: their fields, their files, and their verification."""
