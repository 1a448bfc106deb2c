"""Pictures of desired profiles: alone, over the use of a replay, and slowdown and wait against a power cap."""
