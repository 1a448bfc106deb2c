"""The use of a replay beside its desired profile: figures, and the check of starts that keep to it."""
