"""Columns and rows that a log of sacct lacks: which, what they tell, and the command that brings them."""

from __future__ import annotations

from pathlib import Path

import pytest
from schedlab.instances import WorkloadError, read_sacct, read_trace
from schedlab.instances.traces import guess_format

COMMAND = "sacct --allusers --duplicates --parsable2 --format=JobID,"
ROW = {
    "JobID": "7",
    "Submit": "2024-05-01T10:00:00",
    "Start": "2024-05-01T10:05:00",
    "End": "2024-05-01T11:05:00",
    "Timelimit": "02:00:00",
    "NNodes": "2",
    "NCPUS": "32",
    "State": "COMPLETED",
}


def log_of(folder: Path, *rows: dict[str, str], without: str = "", delimiter: str = "|") -> Path:
    """Write a log whose rows differ from ROW in some columns, without one of the columns."""
    columns = [column for column in dict.fromkeys([*ROW, *(c for row in rows for c in row)]) if column != without]
    lines = [[{**ROW, **row}[column] for column in columns] for row in rows]
    path = folder / "jobs.txt"
    path.write_text("".join(delimiter.join(line) + "\n" for line in [columns, *lines]))
    return path


def notes_on_attempts(path: Path) -> list[str]:
    return [note for note in read_trace(path).report.notes if "requeued, and" in note]


@pytest.mark.parametrize("delimiter", ["|", ";"])
def test_a_header_without_jobid_is_that_of_sacct(tmp_path: Path, delimiter: str) -> None:
    path = log_of(tmp_path, {}, without="JobID", delimiter=delimiter)
    assert guess_format(path) == "sacct"
    with pytest.raises(
        WorkloadError, match=r"line 1: there is no column JobID, which tells jobs and their steps apart"
    ) as e:
        read_trace(path)
    assert COMMAND in str(e.value)


@pytest.mark.parametrize("column", ["Submit", "Start", "Timelimit"])
def test_a_missing_column_is_named_with_the_command(tmp_path: Path, column: str) -> None:
    with pytest.raises(WorkloadError, match=f"line 1: there is no column {column}") as e:
        read_trace(log_of(tmp_path, {}, without=column))
    assert COMMAND in str(e.value)


def test_without_state_a_note_says_what_looks_alike(tmp_path: Path) -> None:
    known = read_sacct(log_of(tmp_path, {})).report.notes
    notes = set(read_sacct(log_of(tmp_path, {}, without="State")).report.notes) - set(known)
    assert notes == {
        "the log has no column State: jobs that were requeued, that were cancelled in the queue, or that still ran, look like "
        "others; to add it: sacct --format=...,State"
    }


def test_restarts_without_their_attempts_are_noted(tmp_path: Path) -> None:
    last = {"Restarts": "1", "Submit": "2024-05-01T10:02:00"}
    first = {"Restarts": "0", "State": "REQUEUED", "Start": "2024-05-01T10:00:30", "End": "2024-05-01T10:02:00"}
    assert notes_on_attempts(log_of(tmp_path, first, last)) == []
    assert notes_on_attempts(log_of(tmp_path, last, {"JobID": "8", "Restarts": "0"})) == [
        "1 job was requeued, and the log has no rows of the earlier attempts, which had nodes, too: sacct without --duplicates "
        "leaves them out; to add them: sacct --duplicates"
    ]


def test_a_job_submitted_after_larger_numbers_was_requeued(tmp_path: Path) -> None:
    rows = [{"JobID": str(number), "Submit": f"2024-05-01T10:00:{number:02d}"} for number in range(1, 9)]
    assert notes_on_attempts(log_of(tmp_path, *rows)) == []
    rows[3]["Submit"] = "2024-05-01T10:02:00"
    (note,) = notes_on_attempts(log_of(tmp_path, *rows))
    assert note.startswith("1 job was requeued, and the log has no rows of the earlier attempts")
    earlier = {**rows[3], "Submit": "2024-05-01T10:00:04", "State": "NODE_FAIL"}
    assert notes_on_attempts(log_of(tmp_path, *rows, earlier)) == []


def test_numbers_that_begin_again_are_no_requeues(tmp_path: Path) -> None:
    rows = [
        {"JobID": str(number), "Submit": f"2024-05-01T10:0{k}:00"} for k, number in enumerate([98, 99, 100, 1, 2, 3])
    ]
    assert notes_on_attempts(log_of(tmp_path, *rows)) == []
