"""The eviction problem: dynamic program, greedy method, backtracking [Maurya2020]."""
