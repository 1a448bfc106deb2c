"""The event loop of the simulator, the protocol of dispatchers, the result of a replay and its verification."""
