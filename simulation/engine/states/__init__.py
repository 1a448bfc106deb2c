"""Node states during a replay, and attempts: jobs that end early and come back."""
