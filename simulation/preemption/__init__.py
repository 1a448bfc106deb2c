"""On-demand jobs, checkpoints and failures of a replay: what ``simulate(preemption=...)`` takes."""
