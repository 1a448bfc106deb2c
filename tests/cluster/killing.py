"""Kill the process that supervises each new run of a method: ``killing.py FOLDER METHOD``."""

import contextlib
import sys
import time
from pathlib import Path

import psutil

folder, method = Path(sys.argv[1]), sys.argv[2]
seen: set[str] = set()
while True:
    for mark in folder.glob(f"pid.*.{method}"):
        if mark.name not in seen:
            seen.add(mark.name)
            with contextlib.suppress(psutil.Error):
                psutil.Process(int(mark.name.split(".")[1])).parent().kill()
    time.sleep(0.05)
