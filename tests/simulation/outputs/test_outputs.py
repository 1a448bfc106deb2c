"""Writing and reading ``jobs.csv`` in the format of Batsim, and tables of starts."""

import csv
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.instances import Workload
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue
from schedlab.simulation import (
    JOB_COLUMNS,
    JobsError,
    Kind,
    NodeRanges,
    Simulation,
    read_jobs,
    simulate,
    violations,
    write_jobs,
    write_starts,
)

MACHINE = Platform([NodeGroup("n", 8, {"cores": 16, "gpu cards": 2})])
QUEUES = [Queue("short; or=long", 3600), Queue("parallel", 60)]


def job(name, submit=0, runtime=10, units=1, queue="parallel", user="", power=None, program="", **request):
    request = request or {"cores": 8}
    return Job(name, submit, 100, units, request, queue, runtime=runtime, user=user, name=program, power=power)


def replay(jobs, start, ranges, killed=None, end=None):
    w = Workload.of(Dispatch(MACHINE, jobs, QUEUES), "mine")
    start = np.array(start, np.int64)
    low, high, units = np.array([r for rs in ranges for r in rs], np.int64).reshape(-1, 3).T
    end = np.where(start >= 0, start + w.runtime, -1) if end is None else np.array(end)
    killed = np.zeros(len(w), np.bool_) if killed is None else np.array(killed, np.bool_)
    return Simulation(w, MACHINE, start, end, killed, NodeRanges(np.cumsum([0, *map(len, ranges)]), low, high, units))


def lines(path):
    with path.open(encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def test_a_line_of_each_kind_by_hand(tmp_path):
    jobs = [
        job("plain", submit=5, runtime=20, units=3, power=250.0, user="alice", program="solver, v2"),
        job("killed", submit=6, runtime=300),
        job("never", submit=7, queue="short; or=long", user="b=ob"),
        job("instant", submit=8, runtime=0),
    ]
    run = replay(
        jobs, [10, 10, -1, 9], [[(4, 5, 1), (0, 0, 1)], [(1, 1, 1)], [], [(2, 2, 1)]], [0, 1, 0, 0], [30, 110, -1, 9]
    )
    write_jobs(run, tmp_path / "jobs.csv")
    plain, killed, never, instant = lines(tmp_path / "jobs.csv")
    assert tuple(plain) == JOB_COLUMNS
    assert list(plain.values()) == [
        "plain", "mine", "solver, v2", "5", "3", "100", "1", "COMPLETED_SUCCESSFULLY", "10", "20", "30", "5", "25", "1.25",
        "0 4-5", "5000.0", "queue=parallel;user=alice;request=cores:8",
    ]  # fmt: skip
    assert (killed["final_state"], killed["success"], killed["execution_time"], killed["stretch"]) == (
        "COMPLETED_WALLTIME_REACHED", "0", "100", "1.04",
    )  # fmt: skip
    assert killed["consumed_energy"] == ""
    times = ("starting_time", "execution_time", "finish_time", "waiting_time", "turnaround_time", "stretch")
    assert {never[name] for name in (*times, "allocated_resources", "consumed_energy")} == {""}
    assert (never["success"], never["final_state"]) == ("0", "SUBMITTED")
    assert never["metadata"] == "queue=short%3B or%3Dlong;user=b%3Dob;request=cores:8"
    assert (instant["execution_time"], instant["stretch"], instant["waiting_time"]) == ("0", "", "1")


def test_what_tools_read_from_it(tmp_path):
    """The file can be read as evalys does: with pandas, numbers and interval sets."""
    run = replay([job("a", units=3), job("b", units=4)], [0, 3], [[(0, 2, 1)], [(5, 6, 1), (3, 3, 1), (4, 4, 1)]])
    write_jobs(run, tmp_path / "jobs.csv")
    table = pandas.read_csv(tmp_path / "jobs.csv")
    assert table["allocated_resources"].tolist() == ["0-2", "3-6"]
    numbers = table[["submission_time", "starting_time", "finish_time", "stretch", "success"]]
    assert all(kind.kind in "if" for kind in numbers.dtypes)


def test_several_units_on_a_node_come_back(tmp_path):
    asks = {"cores": 2, "gpu cards": 0}
    run = replay([job("a", units=7, **asks), job("b", units=2)], [0, 0], [[(0, 1, 2), (4, 4, 3)], [(2, 3, 1)]])
    write_jobs(run, tmp_path / "jobs.csv")
    first, second = lines(tmp_path / "jobs.csv")
    assert first["allocated_resources"] == "0-1 4"
    assert first["metadata"].endswith(";units=0-1:2 4:3")
    assert "units" not in second["metadata"]
    back = read_jobs(tmp_path / "jobs.csv")
    assert all((a == b).all() for a, b in zip(back.placement, run.placement, strict=True))


def test_names_with_odd_characters_come_back(tmp_path):
    jobs = [
        job("a,b", user='q"uote', program="x\ny"),
        job("ü;=:%", queue="short; or=long", **{"gpu cards": 1, "cores": 3}),
    ]
    write_jobs(replay(jobs, [0, 0], [[(0, 0, 1)], [(1, 1, 1)]]), tmp_path / "jobs.csv")
    back = read_jobs(tmp_path / "jobs.csv")
    assert list(back.ids) == ["a,b", "ü;=:%"]
    assert [back.kinds[k] for k in back.kind] == [
        Kind("parallel", 'q"uote', {"cores": 8}),
        Kind("short; or=long", "", {"gpu cards": 1, "cores": 3}),
    ]


@st.composite
def placements(draw):
    """Draw ascending ranges that do not touch, as in allocations."""
    found = []
    for _ in range(draw(st.integers(1, 6))):
        nodes = sorted(draw(st.sets(st.integers(0, 7), max_size=6)))
        units = {n: draw(st.integers(1, 2)) for n in nodes}
        ranges = []
        for n in nodes:
            if ranges and ranges[-1][1] == n - 1 and ranges[-1][2] == units[n]:
                ranges[-1] = (ranges[-1][0], n, units[n])
            else:
                ranges.append((n, n, units[n]))
        found.append(ranges)
    return found


@given(placements())
@settings(max_examples=50, deadline=None)
def test_every_placement_comes_back_and_its_interval_set_is_its_nodes(tmp_path_factory, ranges):
    path = tmp_path_factory.getbasetemp() / "jobs.csv"
    run = replay([job(f"j{k}") for k in range(len(ranges))], [k if r else -1 for k, r in enumerate(ranges)], ranges)
    write_jobs(run, path)
    back = read_jobs(path)
    assert all((a == b).all() for a, b in zip(back.placement, run.placement, strict=True))
    assert back.start.tolist() == run.start.tolist()
    for row, rs in zip(lines(path), ranges, strict=True):
        pieces = [[int(n) for n in piece.split("-")] for piece in row["allocated_resources"].split()]
        nodes = [n for piece in pieces for n in range(piece[0], piece[-1] + 1)]
        assert nodes == [n for lo, hi, _ in rs for n in range(lo, hi + 1)]
        assert all(a[-1] + 1 < b[0] for a, b in pairwise(pieces))


@pytest.fixture(scope="module")
def day():
    return simulate("eurora_99", dispatcher="easy")


def test_a_simulated_day_comes_back_and_holds(day, tmp_path):
    write_jobs(day, tmp_path / "jobs.csv")
    back = read_jobs(tmp_path / "jobs.csv").replay(day.workload, day.platform)
    assert violations(back) == []
    assert (back.start == day.start).all() and (back.end == day.end).all()


def test_lines_in_another_order_are_the_same_replay(day, tmp_path):
    write_jobs(day, tmp_path / "jobs.csv")
    header, *rows = (tmp_path / "jobs.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "jobs.csv").write_text("\n".join([header, *reversed(rows)]), encoding="utf-8")
    assert violations(read_jobs(tmp_path / "jobs.csv").replay(day.workload, day.platform)) == []


def test_a_line_that_is_missing_is_a_job_that_never_started(day, tmp_path):
    write_jobs(day, tmp_path / "jobs.csv")
    rows = (tmp_path / "jobs.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "jobs.csv").write_text("\n".join([*rows[:5], *rows[6:]]), encoding="utf-8")
    found = violations(read_jobs(tmp_path / "jobs.csv").replay(day.workload, day.platform))
    assert [v.message for v in found] == [f"job {day.workload.ids[4]!r} never started"]


def test_jobs_that_are_unknown_or_there_twice_are_named(day, tmp_path):
    write_jobs(day, tmp_path / "jobs.csv")
    back = read_jobs(tmp_path / "jobs.csv")
    with pytest.raises(JobsError, match=rf"job '{day.workload.ids[-1]}' is not a job of workload .*1 such"):
        back.replay(day.workload.first(len(day.workload) - 1), day.platform)
    with pytest.raises(JobsError, match=f"job '{back.ids[0]}' has two lines"):
        replace(back, ids=[back.ids[0], *back.ids[:-1]]).replay(day.workload, day.platform)


HEADER = "job_id,submission_time,requested_number_of_resources,starting_time,finish_time,allocated_resources,metadata\n"


def test_a_file_of_batsim_itself_is_read(tmp_path):
    """Times with fractions, metadata of another program, rejected jobs."""
    rows = '1,0.000000,4,10.000000,13.600000,0-3,"units=who knows"\n2,5.000000,90,,,,""\n'
    (tmp_path / "jobs.csv").write_text(HEADER + rows, encoding="utf-8")
    back = read_jobs(tmp_path / "jobs.csv")
    assert (back.start.tolist(), back.end.tolist()) == ([10, -1], [14, -1])
    assert (back.walltime.tolist(), list(back.kinds)) == ([-1, -1], [Kind(), Kind()])
    assert [a.tolist() for a in back.placement] == [[0, 1, 1], [0], [3], [1]]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "lacks job_id, submission_time"),
        ("job_id,start\n1,2\n", "not a jobs.csv of Batsim: the header (line 1) lacks submission_time"),
        (HEADER, "no jobs"),
        (HEADER + "1,0,1,0,5,0,\n2,0,1,0\n", "line 3: 4 fields; expected 7"),
        (
            HEADER + "1,0,1,0,5,0,\n2,0,1,soon,5,0,\n",
            "line 3: starting_time is 'soon'; expected a number",
        ),
        (HEADER + "1,0,1,nan,5,0,\n", "line 2: starting_time is 'nan'"),
        (
            HEADER + "1,0,1,0,5,n1-n3,\n",
            "line 2: job '1' has the nodes 'n1-n3'; expected ranges of node numbers such as 0-3 7",
        ),
        (HEADER + "1,0,1,0,5,99999999999999999999,\n", "line 2: job '1' has the nodes"),
        (HEADER + "1,0,1,0,5,5-3,\n", "line 2: job '1' has the nodes '5-3'"),
    ],
)
def test_what_is_no_jobs_csv_is_told_with_its_line(tmp_path, text, complaint):
    (tmp_path / "jobs.csv").write_text(text, encoding="utf-8")
    with pytest.raises(JobsError, match=r"jobs\.csv") as e:
        read_jobs(tmp_path / "jobs.csv")
    assert complaint in str(e.value)


def test_a_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / "jobs.csv").write_bytes(b"\xff\xfe\x00job")
    with pytest.raises(JobsError, match="not a text file"):
        read_jobs(tmp_path / "jobs.csv")


def test_a_file_is_written_whole_or_not_at_all(day, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("as it was", encoding="utf-8")
    broken = replace(day, placement=day.placement._replace(low=None))
    with pytest.raises(TypeError):
        write_jobs(broken, path)
    assert [p.name for p in tmp_path.iterdir()] == ["jobs.csv"]
    assert path.read_text(encoding="utf-8") == "as it was"


def test_the_table_of_starts(tmp_path):
    """Job c is larger than the machine and left out; b was not started in the second run."""
    one = replay([job("a"), job("b", submit=1)], [0, 4], [[(0, 0, 1)], [(0, 0, 1)]])
    two = replace(one, start=np.array([7, -1]))
    named = {"fcfs": one, "hcp3-d@cpsat": two}
    write_starts(named, tmp_path / "s.csv", ids=["c", "a", "b"])
    assert (tmp_path / "s.csv").read_text() == "job_id,fcfs,hcp3-d@cpsat\nc,,\na,0,7\nb,4,\n"
    report = one.workload.report.and_also(dropped=[("c", "too large")])
    write_starts({"fcfs": replace(one, workload=replace(one.workload, report=report))}, tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text() == "job_id,fcfs\na,0\nb,4\nc,\n"
    write_starts({"fcfs": one}, tmp_path / "s.csv", recorded={"b": 9})
    assert (tmp_path / "s.csv").read_text() == "job_id,fcfs,recorded\na,0,\nb,4,9\n"


def test_starts_come_from_simulations_and_from_files_alike(day, tmp_path):
    write_jobs(day, tmp_path / "jobs.csv")
    write_starts([day], tmp_path / "a.csv")
    write_starts({"easy": read_jobs(tmp_path / "jobs.csv")}, tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 100
