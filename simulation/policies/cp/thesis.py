"""The six models of [Bridi2018, tables 3.4 and 3.5] as names of dispatchers: the objective, then what is kept."""

FUNCTIONS = {"mks": "makespan", "wt": "weighted-tardiness", "nl": "late-jobs"}
MODELS = {
    name: tuple(FUNCTIONS[part] for part in name.split("+"))
    for name in ("mks", "wt", "nl", "mks+wt+nl", "nl+mks+wt", "wt+mks+nl")
}
"""For each dispatcher its objective, and the objectives that are kept within a slack of their own optimum."""
