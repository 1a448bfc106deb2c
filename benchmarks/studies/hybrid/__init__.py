"""The study of [Bridi2018, 7] repeated: profit, makespan and overhead of the hybrid against rules, by scenario and trace."""
