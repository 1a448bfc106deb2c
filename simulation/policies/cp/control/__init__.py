"""The search of one decision: steps with doubled limits, or limits that adapt to the solver."""
