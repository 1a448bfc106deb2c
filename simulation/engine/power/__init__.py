"""Nodes that are switched off and on during a replay."""
