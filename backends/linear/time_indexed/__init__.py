"""The time-indexed lowering: one binary column for each interval and each start slot on a time grid."""
