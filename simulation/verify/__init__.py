"""Verification of a replay; it shares no code with the engine."""
