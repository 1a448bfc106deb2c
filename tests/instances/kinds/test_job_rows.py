"""Rows of jobs.csv with several chunks, and rows of job arrays: what they mean, their faults, the round trip."""

import pytest
from schedlab.instances import InstanceError, load, write
from schedlab.models import Chunk

SETTINGS = """\
kind = "dispatch"
objective = "waiting"

[[platform.groups]]
name = "fat"
count = 2
capacity = { cores = 16, gpus = 1 }

[[queues]]
name = "day"
ewt_s = 3600
"""
HEADER = "id,queue,submit,units,cores,gpus,walltime,runtime,further_chunks,count,array\n"


def folder_of(tmp_path, *rows):
    path = tmp_path / "small"
    path.mkdir()
    (path / "instance.toml").write_text(SETTINGS)
    (path / "jobs.csv").write_text(HEADER + "".join(f"{row}\n" for row in rows))
    return path


def test_further_chunks_make_a_heterogeneous_job(tmp_path):
    path = folder_of(tmp_path, "h,day,0,2,4,0,60,50,1:cores=2:gpus=1+3:cores=1,,", "a,day,0,1,16,1,60,60,,,")
    h, a = load(path).dispatch.jobs
    assert (h.units, h.request) == (2, {"cores": 4, "gpus": 0})
    assert h.chunks == (
        Chunk(2, {"cores": 4, "gpus": 0}),
        Chunk(1, {"cores": 2, "gpus": 1}),
        Chunk(3, {"cores": 1, "gpus": 0}),
    )
    assert a.chunks == ()


def test_count_makes_an_array_of_independent_jobs(tmp_path):
    path = folder_of(tmp_path, "a,day,5,1,4,0,60,50,,3,", "b,day,5,1,4,0,60,50,,1,", "c,day,5,1,4,0,60,50,,,c-array")
    jobs = load(path).dispatch.jobs
    assert [(j.id, j.array, j.submit, j.walltime) for j in jobs] == [
        ("a[0]", "a", 5, 60),
        ("a[1]", "a", 5, 60),
        ("a[2]", "a", 5, 60),
        ("b", "", 5, 60),
        ("c", "c-array", 5, 60),
    ]


@pytest.mark.parametrize(
    ("row", "field", "expected"),
    [
        ("a,day,0,1,4,0,60,50,,0,", "count", "a whole number of at least 1"),
        ("a,day,0,1,4,0,60,50,,many,", "count", "a whole number of at least 1"),
        ("a,day,0,1,4,0,60,50,0:cores=2,,", "further_chunks", "with at least 1 unit in each chunk"),
        ("a,day,0,1,4,0,60,50,cores=2,,", "further_chunks", "chunks such as 2:cores=16"),
        ("a,day,0,1,4,0,60,50,1:cores=-2,,", "further_chunks", "chunks such as 2:cores=16"),
        ("a,day,0,1,4,0,60,50,1:cores=2+,,", "further_chunks", "chunks such as 2:cores=16"),
        ("a,day,0,1,4,0,60,50,1:tpus=2,,", "further_chunks", "with the resources cores, gpus"),
        ("a,day,0,0,4,0,60,50,1:cores=2,,", "units", "a whole number of at least 1"),
        ("a,day,0,2,16,0,60,50,1:cores=2,,", "units", "job a its chunks need 34 cores together"),
        ("a,day,0,1,17,0,60,50,,2,", "units", r"job a\[0\] asks for 1 unit"),
    ],
)
def test_faults_name_file_line_field_and_what_was_expected(tmp_path, row, field, expected):
    path = folder_of(tmp_path, "z,day,0,1,1,0,60,60,,,", row)
    with pytest.raises(InstanceError, match=expected) as e:
        load(path)
    assert [(f.file, f.line, f.field) for f in e.value.faults] == [("jobs.csv", 3, field)]


def test_names_of_chunks_and_of_array_jobs_are_taken(tmp_path):
    path = folder_of(
        tmp_path, "h,day,0,1,1,0,60,60,1:cores=1,,", "h+1,day,0,1,1,0,60,60,,,", "a[1],day,0,1,1,0,60,60,,,",
        "a,day,0,1,1,0,60,60,,2,",
    )  # fmt: skip
    with pytest.raises(InstanceError) as e:
        load(path)
    assert [f.found for f in e.value.faults] == ["h+1", "a[1]"]


def test_files_keep_chunks_and_arrays(tmp_path):
    path = folder_of(
        tmp_path, "h,day,0,2,4,0,60,50,1:cores=2:gpus=1+3:cores=1,,", "a,day,5,1,4,0,60,50,1:cores=1,3,",
        "b[0],day,5,1,4,0,60,50,,,b", "b[1],day,5,1,4,0,60,40,,,b", "c,day,9,1,4,0,60,40,,,",
    )  # fmt: skip
    instance = load(path)
    write(instance, tmp_path / "again")
    assert (tmp_path / "again" / "jobs.csv").read_text() == (path / "jobs.csv").read_text()
    assert load(tmp_path / "again").dispatch.jobs == instance.dispatch.jobs
