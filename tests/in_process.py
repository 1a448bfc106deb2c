"""Runs of the bench without a process of their own, which would import and load everything again."""

import json
import os

from schedlab.bench.runs import executors
from schedlab.bench.runs.worker import perform


class Inside:
    """In place of ``process.Child``: performs the run in this process, without limits of time and memory."""

    cause, message, stderr, peak, over = None, "", "", 0, True

    def __init__(self, command, spec, time_limit, memory_gb, environment, cwd):
        self.events, self.result = [], None
        self.out, writing = os.pipe()
        os.close(writing)  # there is always something to read: its end
        self.spec = json.loads(spec)

    def step(self):
        perform(self.spec, lambda event: self.events.append(json.loads(json.dumps(event))))
        self.result = self.events[-1]
        return self.events

    def end(self):
        os.close(self.out)


def perform_in_process(patch):
    """Let the bench perform its runs in this process, until the patch is undone."""
    patch.setattr(executors, "Child", Inside)
