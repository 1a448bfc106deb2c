"""Rankers: priorities of waiting jobs that are learned during a replay."""
