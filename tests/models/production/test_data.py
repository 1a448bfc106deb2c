"""Reservations, server events and their files: expansion, round trips, and the place of every fault."""

import pytest
from schedlab import WrongValue
from schedlab.instances import InstanceError, load, read_events, write, write_events
from schedlab.models import NodeEvent, ProblemError
from schedlab.models.reservations import Repeat, Reservation
from schedlab.models.server_events import ServerEvent

HOUR, DAY = 3600, 86_400
SETTINGS = """\
kind = "dispatch"

[[platform.groups]]
name = "n"
count = 2
capacity = { cores = 16, gpus = 1 }

[[queues]]
name = "day"
ewt_s = 3600

[[queues]]
name = "night"
ewt_s = 7200
start_between = ["18:00", "08:00"]

[[queues]]
name = "course"
ewt_s = 60

[[reservations]]
name = "course"
queue = "course"
users = ["ada"]
submitted_s = 10
start_s = 36000
duration_s = 7200
units = 2
request = { cores = 8 }
repeat = { every = "day", count = 3, days = ["mon", "wed"] }
"""
JOBS = """\
id,queue,submit,units,cores,gpus,walltime,runtime,user
a,day,0,2,8,1,600,300,ada
b,course,60,1,16,0,1200,,bob
"""
EVENTS = """\
time,kind,nodes,subject,value
10,stop-queue,,day,
20,node-down,n-1,,
30,walltime,,a,900
40,move,,a,night
50,delete,,b,
60,cancel-reservation,,course,
70,start-queue,,day,
"""


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "small"
    path.mkdir()
    for name, text in {"instance.toml": SETTINGS, "jobs.csv": JOBS, "events.csv": EVENTS}.items():
        (path / name).write_text(text)
    return path


def faults(folder, file, old, new):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(InstanceError) as e:
        load(str(folder))
    return [(f.file, f.line, f.field, f.expected) for f in e.value.faults]


def starts(reservation):
    return [o.start for o in reservation.occurrences()]


def standing(start, *repeat):
    return Reservation("r", "q", start, HOUR, 1, {"cores": 1}, repeat=Repeat(*repeat))


def test_standing_reservations_are_expanded():
    assert starts(standing(7, "hour", 3)) == [7, 7 + HOUR, 7 + 2 * HOUR]
    assert starts(standing(7, "day", 2)) == [7, 7 + DAY]
    assert starts(standing(7, "week", 2)) == [7, 7 + 7 * DAY]
    assert starts(standing(7, "day", 3, ("mon", "wed"))) == [7, 7 + 2 * DAY, 7 + 7 * DAY]
    assert starts(standing(7, "week", 3, ("mon", "wed"))) == [7, 7 + 2 * DAY, 7 + 7 * DAY]  # [RFC 5545, BYDAY]
    assert starts(standing(7, "day", 1, ("mon",), "tue")) == [7 + 6 * DAY]  # second 0 is a Tuesday
    hourly = starts(standing(23 * HOUR, "hour", 3, ("mon", "wed")))
    assert hourly == [23 * HOUR, 2 * DAY, 2 * DAY + HOUR]


def test_a_standing_reservation_does_not_overlap_itself():
    with pytest.raises(ProblemError, match="reservation 'r': duration: expected at most 3600 s"):
        Reservation("r", "q", 0, HOUR + 1, 1, {"cores": 1}, repeat=Repeat("hour", 2))
    Reservation("r", "q", 0, 2 * HOUR, 1, {"cores": 1}, repeat=Repeat("hour", 1))


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("units", {"units": 0}), ("start", {"start": 1.5}), ("duration", {"duration": 0}), ("request", {"request": {}}),
        ("request", {"request": {"cores": -1}}), ("submitted", {"submitted": 11}),
    ],
)  # fmt: skip
def test_wrong_values_of_reservations_are_named(what, changes):
    good = {"name": "r", "queue": "q", "start": 10, "duration": 5, "units": 1, "request": {"cores": 1}}
    with pytest.raises(ProblemError, match=f"reservation 'r': {what}: expected"):
        Reservation(**good | changes)


def test_wrong_patterns_are_named():
    for wrong in (("year", 1), ("day", 0), ("day", 10_001), ("day", True), ("day", 1, ("monday",)), ("day", 1, (), "")):
        with pytest.raises(ProblemError, match="expected"):
            Repeat(*wrong)


def test_an_instance_with_reservations_and_events_is_read_and_written(folder, tmp_path):
    read = load(str(folder))
    assert read.reservations == (
        Reservation("course", "course", 36000, 7200, 2, {"cores": 8}, ("ada",), 10, Repeat("day", 3, ("mon", "wed"))),
    )
    assert read.events[2] == ServerEvent(30, "walltime", "a", 900)
    write(read, tmp_path / "again")
    again = load(str(tmp_path / "again"))
    assert (again.reservations, again.events) == (read.reservations, read.events)


def test_files_of_server_events_alone_have_no_column_nodes(tmp_path):
    events = [ServerEvent(1, "stop-queue", "q"), ServerEvent(2, "move", "j", "r")]
    write_events(events, tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text().splitlines()[0] == "time,kind,subject,value"
    assert read_events(tmp_path / "e.csv") == events
    mixed = [*events, NodeEvent(3, "node-up", ("n-1", "n-2"))]
    write_events(mixed, tmp_path / "e.csv")
    assert read_events(tmp_path / "e.csv") == mixed


@pytest.mark.parametrize(
    ("old", "new", "field", "expected"),
    [
        ('queue = "course"\nusers', 'queue = "x"\nusers', "reservations[1].queue", "one of the queues day, night, course"),
        ('queue = "course"\nusers', 'queue = "night"\nusers', "reservations[1].queue", "without daily windows"),
        ('["ada"]', '["ada", "eve"]', "reservations[1].users", "users of the jobs"),
        ("units = 2", "units = 5", "reservations[1].units", "the empty platform can hold"),
        ("cores = 8 }", "cpus = 8 }", "reservations[1].request", "resources of the platform: cores, gpus"),
        ("submitted_s = 10", "submitted_s = 36001", "reservations[1].submitted_s", "up to its start, 36000"),
        ("count = 3", "count = 0", "reservations[1].repeat.count", "at least 1"),
        ('"mon", "wed"', '"mon", "Wed"', "reservations[1].repeat.days", "week days of mon, tue"),
        ('every = "day"', 'every = "days"', "reservations[1].repeat.every", "one of hour, day, week"),
        ("duration_s = 7200", "duration_s = 180000", "reservations[1].duration_s", "at most 172800 s"),
        ("units = 2", "unit = 2", "reservations[1].units", "a whole number"),
    ],
)  # fmt: skip
def test_faults_of_reservations_have_file_line_and_field(folder, old, new, field, expected):
    found = faults(folder, "instance.toml", old, new)
    ours = [(file, line, text) for file, line, name, text in found if name == field]
    assert ours and ours[0][0] == "instance.toml" and 21 <= ours[0][1] <= 30 and expected in ours[0][2], found


def test_reservations_of_one_queue_must_not_overlap_and_names_are_unique(folder):
    second = SETTINGS[SETTINGS.index("[[reservations]]") :].replace("36000", "129600")  # 12 h on the second day
    more = second.replace('days = ["mon", "wed"]', "").replace("count = 3,", "count = 3")
    (folder / "instance.toml").write_text(SETTINGS + more)
    with pytest.raises(InstanceError) as e:
        load(str(folder))
    assert [(f.line, f.field) for f in e.value.faults] == [(32, "reservations[2].name")]
    more = more.replace('name = "course"', 'name = "other"').replace("129600", "122400")  # 10 h: on Wednesday as well
    (folder / "instance.toml").write_text(SETTINGS + more)
    with pytest.raises(InstanceError) as e:
        load(str(folder))
    (fault,) = e.value.faults
    assert (fault.line, fault.field) == (36, "reservations[2].start_s")
    assert "the end of course#2, which has queue 'course' too" in fault.expected and "other#2" in str(fault.found)


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "expected"),
    [
        ("10,stop-queue,,day", "10,stop-queue,,days", 2, "subject", "a queue (day, night, course)"),
        ("30,walltime,,a", "30,walltime,,z", 4, "subject", "a job (a, b)"),
        ("a,900", "a,0", 4, "value", "a walltime in whole seconds"),
        ("a,900", "a," + "9" * 5000, 4, "value", "a walltime in whole seconds"),
        ("a,night", "a,knight", 5, "value", "a queue (day, night, course)"),
        ("a,night", "a,", 5, "value", "the name of a queue"),
        ("50,delete,,b,", "50,delete,,b,3", 6, "value", "no value"),
        ("50,delete,,b", "50,delete,,", 6, "subject", "a text"),
        ("60,cancel-reservation,,course", "60,cancel-reservation,,x", 7, "subject", "a reservation (course)"),
        ("20,node-down,n-1,,", "20,node-down,n-1,a,", 3, "subject", "nothing, for events of kind node-down"),
        ("20,node-down,n-1,,", "20,node-down,,,", 3, "nodes", "a text"),
        ("20,node-down", "20,node-dwn", 3, "kind", "stop-queue"),
        ("60,cancel-", "60,reserve,,course,\n61,reserve,,course,\n62,cancel-", 8, "subject", "one event reserve"),
    ],
)  # fmt: skip
def test_faults_of_events_have_file_line_and_field(folder, old, new, line, field, expected):
    ((file, at, name, text),) = faults(folder, "events.csv", old, new)
    assert (file, at, name) == ("events.csv", line, field) and expected in text


def test_wrong_server_events_are_refused():
    for wrong in (
        (1, "stop"),
        (1.5, "delete", "a"),
        (1, "walltime", "a", "x"),
        (1, "move", "a", 3),
        (1, "delete", "a", 1),
    ):
        with pytest.raises(WrongValue):
            ServerEvent(*wrong, *("a",) * (len(wrong) == 2))
