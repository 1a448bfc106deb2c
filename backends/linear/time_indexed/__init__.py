"""The time-indexed lowering: one binary column per interval and slot of a grid."""
