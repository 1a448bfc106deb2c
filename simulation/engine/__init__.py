"""The event loop of the simulator, its state, its result and the verification of a replay."""
