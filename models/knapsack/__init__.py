"""The 0-1 knapsack problem."""
