"""Faults of reservations, events of the server, job arrays and chunks: file, line, field, and what was expected."""

import re
import shutil
from pathlib import Path

import pytest
from schedlab.instances import InstanceError, load

WORKSHOP = 'name = "workshop"\nqueue = "workshop"\nusers = []\nsubmitted_s = 129600\nstart_s = '
COURSE = 'name = "workshop"\nqueue = "course"\nusers = []\nsubmitted_s = 129600\nstart_s = '

FAULTS = {
    "reservations of a queue overlap": (
        "instance.toml", f"{WORKSHOP}396000", f"{COURSE}385000",
        "instance.toml, line 106, reservations[4].start_s: expected a start from 388800 on, the end of course#3",
    ),
    "a reservation beyond the machine": (
        "instance.toml", "units = 32", "units = 40",
        "instance.toml, line 94, reservations[3].units: expected units that the empty platform can hold",
    ),
    "a reservation of nothing": (
        "instance.toml", "cores = 8\n", "cores = 0\n",
        "instance.toml, line 75, reservations[2].request: expected an amount above 0 of at least one resource",
    ),
    "a reservation for an unknown user": (
        "instance.toml", '"u9"', '"zz"',
        "instance.toml, line 50, reservations[1].users: expected users of the jobs, found 'zz'",
    ),
    "an unknown private queue": (
        "instance.toml", f"{WORKSHOP}396000", f"{COURSE.replace('course', 'courses')}396000",
        "instance.toml, line 103, reservations[4].queue: expected one of the queues debug, parallel, np_longpar",
    ),
    "an unknown queue is stopped": (
        "events.csv", "stop-queue,,parallel,", "stop-queue,,parallell,",
        "events.csv, line 12, subject: expected a queue (debug, parallel, np_longpar, course",
    ),
    "a job moves to an unknown queue": (
        "events.csv", ",np_longpar", ",nights",
        "events.csv, line 3, value: expected a queue (debug, parallel, np_longpar, course",
    ),
    "an unknown job is deleted": (
        "events.csv", "delete,,j006", "delete,,nobody",
        "events.csv, line 2, subject: expected a job (j001, j002,",
    ),
    "an unknown reservation is cancelled": (
        "events.csv", "cancel-reservation,,workshop", "cancel-reservation,,workshops",
        "events.csv, line 14, subject: expected a reservation (course, demo, benchmark, workshop), found 'workshops'",
    ),
    "a walltime of 0": (
        "events.csv", "walltime,,(j\\d+),\\d+", "walltime,,\\1,0",
        "value: expected a walltime in whole seconds, at least 1",
    ),
    "an array of no jobs": (
        "jobs.csv", ",u8,,3\n", ",u8,,0\n", "jobs.csv, line 30, count: expected a whole number of at least 1, found '0'",
    ),
    "a chunk without a number of units": (
        "jobs.csv", ",1:cores=4", ",cores=4", "jobs.csv, line 12, further_chunks: expected chunks such as 2:cores=16+1:cores=4",
    ),
    "a chunk of 0 units": (
        "jobs.csv", ",1:cores=4", ",0:cores=4", "jobs.csv, line 12, further_chunks: expected chunks such as",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_named_with_file_line_and_field(what: str, tmp_path: Path) -> None:
    file, old, new, expected = FAULTS[what]
    folder = tmp_path / "week"
    shutil.copytree(Path(str(load("eurora_production").path)), folder)
    text = (folder / file).read_text()
    pattern = old if "\\" in old else re.escape(old)
    changed = re.sub(pattern, new, text, count=1)
    assert changed != text
    (folder / file).write_text(changed)
    with pytest.raises(InstanceError) as e:
        load(folder)
    assert expected in str(e.value) and ": 1 fault\n" in str(e.value)
