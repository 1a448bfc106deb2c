"""Users who choose the walltimes of their jobs during a replay."""
