"""Instance folders: reading, the place of every fault, and reproducible bytes."""

from pathlib import Path

import pytest
from schedlab.instances import InstanceError, UnknownInstance, load, names, write
from schedlab.instances.files import Folder, to_csv, to_toml

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

[[queues]]
name = "night"
ewt_s = 7200
start_between = ["18:00", "08:00"]
"""
JOBS = """\
id,queue,submit,units,cores,gpus,walltime,runtime
a,day,0,2,8,1,600,300
b,night,60,1,16,0,1200,
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "small"
    path.mkdir()
    (path / "instance.toml").write_text(SETTINGS)
    (path / "jobs.csv").write_text(JOBS)
    return path


def edit(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))


def faults(folder: Path) -> list[tuple[str, int | None, str]]:
    with pytest.raises(InstanceError) as caught:
        load(folder)
    assert all(str(fault) in str(caught.value) for fault in caught.value.faults)
    return [(f.file, f.line, f.field) for f in caught.value.faults]


def test_a_folder_becomes_the_problem_of_the_whole_day(folder: Path) -> None:
    instance = load(folder)
    problem = instance.problem
    assert (instance.name, instance.kind, problem.now, problem.objective) == ("small", "dispatch", 0, "waiting")
    a, b = problem.jobs
    assert (a.units, dict(a.request), problem.duration(a), a.runtime) == (2, {"cores": 8, "gpus": 1}, 600, 300)
    assert problem.earliest(b) == b.submit == 60
    assert b.runtime is None
    assert instance.platform.nodes == ("fat-1", "fat-2")
    assert problem.start_windows(b, 8 * 3600)[0] == (60, 8 * 3600)
    assert problem.start_windows(b, 86_400)[1][0] == 18 * 3600


def test_the_path_of_the_settings_names_the_folder_too(folder: Path) -> None:
    assert load(folder / "instance.toml").problem == load(str(folder)).problem


def test_optional_columns_and_several_daily_windows(folder: Path) -> None:
    edit(folder, "instance.toml", '["18:00", "08:00"]', '[["12:00", "13:30"], ["22:00", "24:00"]]')
    edit(folder, "jobs.csv", "walltime,runtime", "walltime,runtime,deadline")
    edit(folder, "jobs.csv", "600,300", "600,300,9000")
    edit(folder, "jobs.csv", "1200,", "1200,,")
    problem = load(folder).problem
    assert problem.queues[1].daily == ((43200, 48600), (79200, 86400))
    assert [j.deadline for j in problem.jobs] == [9000, None]


def test_a_written_instance_is_read_back_and_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    instance = load(folder)
    write(instance, tmp_path / "copy")
    again = load(tmp_path / "copy")
    assert again.problem == instance.problem
    write(again, tmp_path / "twice")
    for file in ("instance.toml", "jobs.csv"):
        assert (tmp_path / "copy" / file).read_bytes() == (tmp_path / "twice" / file).read_bytes()
    assert sorted(p.name for p in (tmp_path / "copy").iterdir()) == ["instance.toml", "jobs.csv"]


def test_limits_on_objectives_are_read_and_written(folder: Path, tmp_path: Path) -> None:
    (folder / "instance.toml").open("a").write("\n[limits]\nlate-jobs = 1\nweighted-tardiness = 12.3\n")
    instance = load(folder)
    assert instance.problem.limits == {"late-jobs": 1, "weighted-tardiness": 12.3}
    write(instance, tmp_path / "copy")
    assert load(tmp_path / "copy").problem == instance.problem
    edit(folder, "instance.toml", "late-jobs = 1", 'late-jobs = "one"')
    edit(folder, "instance.toml", "weighted-tardiness", "tardiness")
    assert set(faults(folder)) == {
        ("instance.toml", 19, "limits.late-jobs"), ("instance.toml", 20, "limits.tardiness"),
    }  # fmt: skip
    edit(folder, "instance.toml", "tardiness = 12.3", "waiting = inf")
    assert ("instance.toml", 20, "limits.waiting") in faults(folder)


def test_every_fault_of_all_files_is_told_with_its_place(folder: Path) -> None:
    edit(folder, "instance.toml", "count = 2", "count = 0")
    edit(folder, "instance.toml", "ewt_s = 3600", "ewt = 3600")
    edit(folder, "instance.toml", '"08:00"', '"8 pm"')
    edit(folder, "instance.toml", '"waiting"', '"wait"')
    edit(folder, "jobs.csv", "a,day,0,2", "a,dawn,-1,two")
    (folder / "jobs.csv").open("a").write("a,day,0,1,1,0,60,60\nc,day,1\n")
    assert set(faults(folder)) == {
        ("instance.toml", 2, "objective"),
        ("instance.toml", 11, "queues[1].ewt"),
        ("instance.toml", 9, "queues[1].ewt_s"),
        ("instance.toml", 16, "queues[2].start_between"),
        ("instance.toml", 6, "platform.groups[1].count"),
        ("jobs.csv", 2, "submit"),
        ("jobs.csv", 2, "units"),
        ("jobs.csv", 2, "queue"),
        ("jobs.csv", 4, "id"),
        ("jobs.csv", 5, "row"),
    }


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("instance.toml", "count = 2", "count =", ("instance.toml", 6, "syntax")),
        ("instance.toml", 'kind = "dispatch"', 'kind = "dispatcher"', ("instance.toml", 1, "kind")),
        ("instance.toml", "cores = 16,", "cores = -16,", ("instance.toml", 7, "platform.groups[1].capacity.cores")),
        ("instance.toml", '"night"', '"day"', ("instance.toml", 14, "queues[2].name")),
        ("jobs.csv", ",gpus,", ",gpu,", ("jobs.csv", 1, "gpus")),
        ("jobs.csv", "600,300", "0,300", ("jobs.csv", 2, "walltime")),
        ("jobs.csv", "a,day", ",day", ("jobs.csv", 2, "id")),
        ("jobs.csv", "id,queue", "id,id", ("jobs.csv", 1, "queue")),
    ],
)
def test_a_fault_has_its_file_line_and_field(
    folder: Path, file: str, old: str, new: str, expected: tuple[str, int, str]
) -> None:
    edit(folder, file, old, new)
    assert expected in faults(folder)


def test_a_header_with_many_columns_names_each_of_them(folder: Path) -> None:
    """As a file has whose line ends were lost."""
    header, *rows = (folder / "jobs.csv").read_text().splitlines()
    strange = [f"c{k}" for k in range(20_000)]
    (folder / "jobs.csv").write_text(",".join([header, *strange, "c7"]) + "\n" + "\n".join(rows) + "\n")
    with pytest.raises(InstanceError) as error:
        load(folder)
    of_header = [(fault.field, fault.expected, fault.found) for fault in error.value.faults if fault.line == 1]
    assert len(of_header) == 20_001
    assert ("c7", "this column only once", 2) in of_header


def test_missing_files_and_broken_text_are_faults(folder: Path) -> None:
    (folder / "jobs.csv").write_bytes(b"id,\xff\n")
    assert faults(folder) == [("jobs.csv", 1, "encoding")]
    (folder / "jobs.csv").unlink()
    assert faults(folder) == [("jobs.csv", None, "file")]
    (folder / "instance.toml").unlink()
    assert faults(folder) == [("instance.toml", None, "file")]


def test_a_job_that_never_fits_is_named_with_its_resource_or_left_out(folder: Path) -> None:
    edit(folder, "jobs.csv", "a,day,0,2,8,1", "a,day,0,3,8,1")
    with pytest.raises(InstanceError, match=r"line 2, units: .*job a .*the empty platform has gpus for only 2 of them"):
        load(folder)
    instance = load(folder, drop_impossible=True)
    assert [j.id for j in instance.jobs] == ["b"]
    assert [(j.id, "gpus" in why) for j, why in instance.dropped] == [("a", True)]


def test_an_unknown_name_gives_the_near_ones() -> None:
    with pytest.raises(UnknownInstance, match=r"did you mean .*eurora_700") as caught:
        load("eurora_70")
    assert caught.value.near[0] == "eurora_700"
    assert names() == [
        "eurora_99",
        "eurora_330",
        "eurora_700",
        "eurora_production",
        "profit_medium",
        "profit_small",
        "project_small",
        "theta_12",
        "theta_16",
        "theta_24",
    ]


def test_shipped_instances_load_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eurora_99").mkdir()  # a folder of results, say, does not hide the instance
    assert len(load("eurora_99").jobs) == 99


def test_toml_and_csv_texts_survive_special_characters(tmp_path: Path) -> None:
    settings = {
        "kind": 'a "b"\\\n',
        "list": [1, 2.5, True],
        "t": {"x": "ü", "deep": {"y": 1}},
        "ts": [{"a": 1}, {"a": 2}],
    }
    (tmp_path / "instance.toml").write_text(to_toml(settings, "why"), encoding="utf-8")
    (tmp_path / "t.csv").write_text(to_csv(["a", "b"], [["x,y", None], ['"', 3]]), encoding="utf-8")
    folder = Folder(tmp_path)
    assert folder.settings.values == settings
    assert [row.cells for row in folder.rows("t.csv", ["a", "b"])] == [{"a": "x,y", "b": ""}, {"a": '"', "b": "3"}]
    assert not folder.faults
