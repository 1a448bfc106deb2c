"""An executor: runs on this machine, one at a time, with a list of what was begun."""

from pathlib import Path

from schedlab.bench.runs.executors import LocalExecutor, Setting


class Listing(LocalExecutor):
    options = ("file",)

    def __init__(self, setting):
        super().__init__(Setting(1, setting.command))
        self.file = Path(setting.options["file"])

    def submit(self, task):
        with self.file.open("a") as f:
            f.write(task.run.method + "\n")
        super().submit(task)
