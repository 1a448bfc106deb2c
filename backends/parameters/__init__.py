"""The limits of a run and the solver parameters by name: their conversion from texts, and which backends obey them."""
