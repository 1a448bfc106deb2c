"""A package of a third party: parts of schedlab that are found by their entry points."""
