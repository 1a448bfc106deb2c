"""The bound of a Lagrangian relaxation with prices per cell of time, and the schedule of its order (``docs/bounds.md``)."""
