"""Tables of replays under several dispatchers."""
