"""Columns and rows of a log of sacct: those it lacks, and the command that brings them; cells of rows that texts have broken."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from schedlab.instances import Workload, WorkloadError, read_sacct, read_trace
from schedlab.instances.traces import guess_format
from schedlab.models import SiteRequest

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


# texts with the delimiter

FORMED = "JobID|Submit|Start|End|Elapsed|Timelimit|NNodes|NCPUS|State"
TIMES_OF_ROW = "2024-05-01T10:00:00|2024-05-01T10:05:00|2024-05-01T11:05:00|01:00:00|02:00:00|1|4|COMPLETED"
JOINED = "rows broken by a delimiter or line end in a text, put together"
REQUEST_COLUMNS = "User|JobName|Partition|State|AllocTRES|NodeList|Account|QOS|ReqMem|ReqTRES|Constraints|Reservation|Reason|Priority|SubmitLine"


def read_rows(folder: Path, columns: str, *rows: str, end: str = "") -> Workload:
    """Read jobs 1, 2, ... that have the usual times, and some other columns after them."""
    path = folder / "jobs.txt"
    lines = [f"{number}|{TIMES_OF_ROW}|{cells}{end}" for number, cells in enumerate(rows, 1)]
    path.write_text("\n".join([f"{FORMED}|{columns}{end}", *lines]) + "\n")
    return read_sacct(path)


def texts_of(workload: Workload, place: int) -> tuple[str, ...]:
    """Return name, user, partitions, features and reservation of a job."""
    job = workload.job(place)
    asked = job.asked or SiteRequest()
    return job.name, job.user, ",".join(asked.partitions), asked.features, asked.reservation


@pytest.mark.parametrize("end", ["", "|"])
@pytest.mark.parametrize(
    ("columns", "broken", "texts"),
    [
        ("JobName|User|Reservation", "a|b|eva|", ("a|b", "eva", "", "", "")),
        ("JobName|User|Reservation", "a||eva|", ("a|", "eva", "", "", "")),
        ("JobName|User|Reservation", "|a|eva|maint", ("|a", "eva", "", "", "maint")),
        ("User|JobName|Partition|Comment", "eva|a|b|p|", ("a|b", "eva", "p", "", "")),
        ("Partition|JobName|Reservation", "p|a|b|", ("a|b", "", "p", "", "")),
        ("Constraints|Partition|Reservation", "[r1|r2]|p|", ("", "", "p", "[r1|r2]", "")),
        ("Constraints|Partition|Reservation", "[r1]|r2|p|", ("", "", "p", "[r1]|r2", "")),
        ("Constraints|Partition|Reservation", "a|b|c|p|maint", ("", "", "p", "a|b|c", "maint")),
    ],
)
def test_one_delimiter_too_many_shifts_no_cell(
    tmp_path: Path, columns: str, broken: str, texts: tuple[str, ...], end: str
) -> None:
    w = read_rows(tmp_path, columns, broken, end=end)
    assert texts_of(w, 0) == texts
    assert w.report.repairs[JOINED] == 1
    assert not [note for note in w.report.notes if "several ways" in note]


@pytest.mark.parametrize(
    ("features", "reservation", "line"),
    [("a|b", "", ""), ("a|b", "", "sbatch x"), ("a|b", "maint", "sbatch x"), ("[a|b]", "", "sbatch --wrap a | b")],
)
def test_a_constraint_among_the_columns_of_the_documents(
    tmp_path: Path, features: str, reservation: str, line: str
) -> None:
    cells = "eva|run|p|COMPLETED|cpu=4,node=1|n1|acc|normal|4G|cpu=4,node=1"
    w = read_rows(
        tmp_path,
        REQUEST_COLUMNS,
        f"{cells}|{features}|{reservation}|None|100|{line}",
        f"{cells}|||None|90|sbatch run.sh",
    )
    assert texts_of(w, 0) == ("run", "eva", "p", features, reservation)
    assert [w.job(k).recorded.priority for k in range(2)] == [100, 90]
    assert w.report.repairs[JOINED] == 1


@pytest.mark.parametrize(
    ("columns", "usual", "broken", "texts"),
    [
        ("JobName|Partition|Comment", "run|p|", "a|b|p|z", ("a|b", "", "p", "", "")),
        ("JobName|Partition|Comment", "run|p|", "a|b|c|p|", ("a|b|c", "", "p", "", "")),
        ("JobName|Partition|Comment", "run|p|", "a|p|y|z", ("a", "", "p", "", "")),
        ("JobName|User|Partition|Comment", "run|u7|p|", "a|b|u12|p|z", ("a|b", "u12", "p", "", "")),
        ("Comment|JobName|Partition", "|run|p", "x|y|run|p", ("run", "", "p", "", "")),
        ("JobName|WorkDir|Partition", "run|/home|p", "a|b|/home/x|p", ("a|b", "", "p", "", "")),
    ],
)
def test_values_of_other_rows_tell_where_a_text_ends(
    tmp_path: Path, columns: str, usual: str, broken: str, texts: tuple[str, ...]
) -> None:
    for rows in ((usual, broken), (broken, usual)):
        w = read_rows(tmp_path, columns, *rows)
        assert texts_of(w, rows.index(broken)) == texts
        assert w.report.repairs[JOINED] == 1
        assert not [note for note in w.report.notes if "several ways" in note]


def test_a_row_that_can_be_read_in_two_ways_is_noted(tmp_path: Path) -> None:
    w = read_rows(tmp_path, "JobName|Comment|Partition", "run||p", "a|b|c|p")
    assert texts_of(w, 1) == ("a|b", "", "p", "", "")
    (note,) = [note for note in w.report.notes if "several ways" in note]
    assert note == (
        "1 row broken by a delimiter in a text can be read in several ways, of which one is taken (line 3); to be sure: sacct "
        "--delimiter with a text that no name contains"
    )


def test_a_name_between_columns_in_any_order_is_whole(tmp_path: Path) -> None:
    rng = random.Random(7)
    for _ in range(40):
        others = ["User", "Partition", "Account", "QOS", "Reservation", "NodeList", "JobName"]
        rng.shuffle(others)
        names = [rng.choice(["a|b", "|", "x|p|eva", "a||", "||b", "p|p", "run"]) for _ in range(6)]
        rows = []
        for name in names:
            cells = {
                "User": rng.choice(["eva", "bob"]), "Partition": rng.choice(["p", "gpu"]), "Account": rng.choice(["acc", ""]),
                "QOS": "normal", "Reservation": rng.choice(["", "maint"]), "NodeList": rng.choice(["n1", "n[1-2]"]), "JobName": name,
            }  # fmt: skip
            rows.append("|".join(cells[column] for column in others))
        w = read_rows(tmp_path, "|".join(others), *rows)
        assert [w.job(k).name for k in range(6)] == names
        assert w.report.repairs.get(JOINED, 0) == sum("|" in name for name in names)


def test_rows_that_all_end_with_a_delimiter_outweigh_the_header(tmp_path: Path) -> None:
    """A header that was written by hand, before what sacct --parsable --noheader prints."""
    path = tmp_path / "jobs.txt"
    rows = [f"{number}|{TIMES_OF_ROW}|run|eva|" for number in range(1, 31)]
    path.write_text("\n".join([f"{FORMED}|JobName|User", *rows]) + "\n")
    w = read_sacct(path)
    assert {(w.job(k).name, w.job(k).user) for k in range(30)} == {("run", "eva")}
    assert JOINED not in w.report.repairs
    assert any(note.startswith("the rows end with a delimiter, and the header does not") for note in w.report.notes)


def test_names_with_a_delimiter_in_all_rows_are_names(tmp_path: Path) -> None:
    w = read_rows(tmp_path, "JobName|Partition|ExitCode|Comment", *["a|b|p|0:0|"] * 30)
    assert {texts_of(w, k) for k in range(30)} == {("a|b", "", "p", "", "")}
    assert w.report.repairs[JOINED] == 30


def test_joined_files_have_different_ends_of_rows(tmp_path: Path) -> None:
    head = f"{FORMED}|JobName|User"
    lines = [head, f"1|{TIMES_OF_ROW}|run|eva", f"{head}|", f"2|{TIMES_OF_ROW}|a|eva|", head, f"3|{TIMES_OF_ROW}|a|b|"]
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join(lines) + "\n")
    w = read_sacct(path)
    assert [(w.job(k).name, w.job(k).user) for k in range(3)] == [("run", "eva"), ("a", "eva"), ("a|b", "")]


@pytest.mark.parametrize("end", ["", "|"])
def test_without_a_header_the_rows_tell_whether_they_end_with_a_delimiter(tmp_path: Path, end: str) -> None:
    path = tmp_path / "jobs.txt"
    rows = [f"{number}|{TIMES_OF_ROW}|{name}|eva|{end}" for number, name in enumerate(("a|b", "run", "x"), 1)]
    path.write_text("\n".join(rows) + "\n")
    w = read_trace(path, columns=f"{FORMED}|JobName|User|Reservation".split("|")).workload
    assert [(w.job(k).name, w.job(k).user) for k in range(3)] == [("a|b", "eva"), ("run", "eva"), ("x", "eva")]
    assert w.report.repairs[JOINED] == 1
