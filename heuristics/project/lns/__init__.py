"""Large-neighbourhood search for projects: evolution of schedules, swaps on machines, parts solved by a backend."""
