"""Large-neighbourhood search for projects: evolution of schedules, tabu search for shops, parts solved by a backend."""
