"""Replays in which the free nodes are only counted: FCFS, EASY and rules in logarithmic time per job."""
