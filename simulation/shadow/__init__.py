"""One decision for the state of a real machine: the dispatchers of the simulator as a service beside a real scheduler."""
