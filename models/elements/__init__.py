"""The removable elements of a problem, from which a minimal set that cannot hold together is found."""
