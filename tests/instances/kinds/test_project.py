"""Folders of projects: reading, writing, the place of every fault; a written project is read back unchanged."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import random_shops
from hypothesis import given, settings
from hypothesis import strategies as st
from schedlab.instances import Instance, InstanceError, load, write
from schedlab.instances.files import NotReadable, content_of
from schedlab.models import Mode, Project, Resource, Task

SETTINGS = """\
kind = "project"
description = "a small workshop"
source = "made for a test"

[[resources]]
name = "bench"
capacity = 1

[[resources]]
name = "paint"
capacity = 6
renewable = false
"""
MODES = """\
task,mode,duration,bench,paint
cut,1,3,1,0
paint,fast,2,0,5
paint,slow,6,0,1
"""
PRECEDENCES = "before,after,delay\ncut,paint,1\n"
FILES = {"instance.toml": SETTINGS, "modes.csv": MODES, "precedences.csv": PRECEDENCES}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "workshop"
    path.mkdir()
    for name, text in FILES.items():
        (path / name).write_text(text)
    return path


def edit(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))


def faults(folder: Path, drop_impossible: bool = False) -> list[tuple[str, int | None, str]]:
    with pytest.raises(InstanceError) as caught:
        load(folder, drop_impossible)
    assert all(str(fault) in str(caught.value) for fault in caught.value.faults)
    return [(f.file, f.line, f.field) for f in caught.value.faults]


def test_a_folder_becomes_a_project(folder: Path) -> None:
    instance = load(folder)
    assert (instance.name, instance.kind) == ("workshop", "project")
    assert (instance.description, instance.source) == ("a small workshop", "made for a test")
    assert instance.project == Project(
        [
            Task("cut", (Mode("1", 3, {"bench": 1}),)),
            Task("paint", (Mode("fast", 2, {"paint": 5}), Mode("slow", 6, {"paint": 1}))),
        ],
        [Resource("bench", 1), Resource("paint", 6, renewable=False)],
        [("cut", "paint", 1)],
    )


def test_delays_and_resources_may_be_left_out(folder: Path) -> None:
    (folder / "instance.toml").write_text('kind = "project"\n')
    (folder / "modes.csv").write_text("task,mode,duration\na,1,3\nb,1,2\n")
    (folder / "precedences.csv").write_text("before,after\na,b\n")
    assert load(folder).project == Project([Task.single("a", 3), Task.single("b", 2)], [], [("a", "b")])


def test_the_problem_of_another_kind_is_no_project() -> None:
    with pytest.raises(TypeError, match="'theta_12' is of kind 'eviction', not a project"):
        _ = load("theta_12").project


@pytest.mark.parametrize(
    ("file", "old", "new", "place"),
    [
        ("instance.toml", "capacity = 1", "capacity = -1", ("instance.toml", 7, "resources[1].capacity")),
        ("instance.toml", "renewable = false", 'renewable = "no"', ("instance.toml", 12, "resources[2].renewable")),
        ("instance.toml", "renewable = false", "renew = false", ("instance.toml", 12, "resources[2].renew")),
        ("instance.toml", '"paint"', '"bench"', ("instance.toml", 10, "resources[2].name")),
        ("instance.toml", '"paint"', '"mode"', ("instance.toml", 10, "resources[2].name")),
        ("instance.toml", "source", "sauce", ("instance.toml", 3, "sauce")),
        ("modes.csv", "duration,bench", "duration,benches", ("modes.csv", 1, "bench")),
        ("modes.csv", "cut,1,3", "cut,1,-3", ("modes.csv", 2, "duration")),
        ("modes.csv", "cut,1,3", ",1,3", ("modes.csv", 2, "task")),
        ("modes.csv", "cut,1,3", "cut,,3", ("modes.csv", 2, "mode")),
        ("modes.csv", "cut,1,3,1,0", "cut,1,3,1,", ("modes.csv", 2, "paint")),
        ("modes.csv", "cut,1,3,1,0", "cut,1,3,1", ("modes.csv", 2, "row")),
        ("modes.csv", "cut,1,3,1,0", "cut,1,3,2,0", ("modes.csv", 2, "bench")),
        ("modes.csv", "paint,slow", "paint,fast", ("modes.csv", 4, "mode")),
        ("precedences.csv", "cut,paint", "cut,varnish", ("precedences.csv", 2, "after")),
        ("precedences.csv", "cut,paint", ",paint", ("precedences.csv", 2, "before")),
        ("precedences.csv", "cut,paint", "cut,cut", ("precedences.csv", 2, "after")),
        ("precedences.csv", "paint,1", "paint,soon", ("precedences.csv", 2, "delay")),
        ("precedences.csv", "cut,paint,1", "cut,paint,1\npaint,cut,0", ("precedences.csv", None, "precedences")),
    ],
)  # fmt: skip
def test_a_fault_has_its_file_line_and_field(
    folder: Path, file: str, old: str, new: str, place: tuple[str, int | None, str]
) -> None:
    edit(folder, file, old, new)
    assert place in faults(folder)


def test_all_faults_of_all_files_are_listed(folder: Path) -> None:
    edit(folder, "instance.toml", "capacity = 6", "capacity = 6.5")
    edit(folder, "modes.csv", "paint,slow,6", "paint,slow,long")
    edit(folder, "precedences.csv", "cut,paint", "cut,varnish")
    assert faults(folder) == [
        ("instance.toml", 11, "resources[2].capacity"), ("modes.csv", 4, "duration"), ("precedences.csv", 2, "after"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_a_fault(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert (name, None, "file") in faults(folder)


def test_a_project_has_at_least_one_task(folder: Path) -> None:
    (folder / "modes.csv").write_text("task,mode,duration,bench,paint\n")
    (folder / "precedences.csv").write_text("before,after\n")
    assert faults(folder) == [("modes.csv", None, "rows")]


def test_a_task_that_can_never_run_is_a_fault_even_where_such_jobs_are_left_out(folder: Path) -> None:
    edit(folder, "instance.toml", "capacity = 6", "capacity = 0")
    assert faults(folder, drop_impossible=True) == [("modes.csv", 3, "paint")]
    edit(folder, "instance.toml", "capacity = 0", "capacity = 1")
    assert [m.name for t in load(folder).project.tasks for m in load(folder).project.possible(t)] == ["1", "slow"]


def test_a_written_instance_is_read_back_and_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    instance = load(folder)
    write(instance, tmp_path / "copy")
    again = load(tmp_path / "copy")
    assert (again.project, again.description, again.source) == (instance.project, instance.description, instance.source)
    write(again, tmp_path / "twice")
    assert sorted(p.name for p in (tmp_path / "copy").iterdir()) == sorted(FILES)
    for file in FILES:
        assert (tmp_path / "copy" / file).read_bytes() == (tmp_path / "twice" / file).read_bytes()


@pytest.mark.parametrize("file", FILES)
def test_the_hash_of_the_content_covers_every_file(folder: Path, file: str) -> None:
    before = content_of(folder)
    (folder / file).write_text(FILES[file] + "\n")
    assert content_of(folder) != before


@pytest.mark.parametrize(
    ("project", "message"),
    [
        (Project([], []), "at least one task"),
        (Project([Task.single(" a", 1)], []), "change, for example by spaces"),
        (Project([Task.single("", 1)], []), "modes.csv, line 2, task: expected a text"),
        (Project([Task.single("a", 1)], [Resource("task", 1)]), "another name than the columns task, mode, duration"),
        (Project([Task.single("a", 10**11)], []), "modes.csv, line 2, duration"),
    ],
)
def test_what_files_cannot_represent_is_not_written(tmp_path: Path, project: Project, message: str) -> None:
    with pytest.raises(NotReadable, match=message):
        write(Instance("odd", "project", project), tmp_path / "odd")
    assert not (tmp_path / "odd").exists()


def test_an_older_folder_stays_whole_if_the_new_one_is_not_written(folder: Path) -> None:
    with pytest.raises(NotReadable):
        write(Instance("odd", "project", Project([Task.single(" a", 1)], [])), folder)
    assert {p.name: p.read_text() for p in folder.iterdir()} == FILES


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=6)


@st.composite
def projects(draw: st.DrawFn) -> Project:
    """Draw a project in which every task has a mode within the capacities."""
    reserved = ("task", "mode", "duration")
    names = draw(st.lists(NAMES.filter(lambda n: n not in reserved), max_size=3, unique=True))
    resources = [Resource(n, draw(st.integers(0, 9)), draw(st.booleans())) for n in names]
    tasks = []
    for name in draw(st.lists(NAMES, min_size=1, max_size=5, unique=True)):
        modes = [
            Mode(m, draw(st.integers(0, 10**6)), {r.name: draw(st.integers(0, r.capacity)) for r in resources})
            for m in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
        ]
        tasks.append(Task(name, tuple(modes)))
    pairs = [(a.name, b.name) for k, a in enumerate(tasks) for b in tasks[k + 1 :]]
    chosen = draw(st.lists(st.sampled_from(pairs), max_size=6)) if pairs else []
    return Project(tasks, resources, [(*pair, draw(st.integers(-50, 50))) for pair in chosen])


def with_demands_above_zero(project: Project) -> Project:
    """Return the project without demands of 0, which files do not distinguish from no demand."""
    tasks = [
        Task(t.name, tuple(Mode(m.name, m.duration, {r: d for r, d in m.demands.items() if d}) for m in t.modes))
        for t in project.tasks
    ]
    return Project(tasks, project.resources, project.precedences)


@settings(max_examples=50, deadline=None)
@given(projects(), st.text(max_size=20))
def test_any_project_survives_writing(project: Project, description: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "drawn")
        write(Instance("drawn", "project", project, description=description), path)
        again = load(path)
        assert again.project == with_demands_above_zero(project)
        assert again.description == description
        write(load(path), Path(folder, "again"))
        assert content_of(Path(folder, "again")) == content_of(path)


# --- Dates, setups, breaks and rules.

SHOP = Project(
    [
        Task.single("a", 3, {"m": 1}, release=2, due=5, weight=2, family="red", job="x"),
        Task.single("b", 1, {"n": 1}, deadline=9, earliness_weight=4, job="x"),
        Task.single("c", 2, {"m": 1}, penalty=7, weight=0),
    ],
    [
        Resource("m", 1, setups={("red", "c"): 3, ("c", "red"): 0}, breaks=((4, 5), (-2, 1)), suspends=True),
        Resource("n", 1, no_idle=True),
    ],
    [("a", "b"), ("b", "c", 2)],
    "weighted-tardiness+2*makespan",
    no_wait=[("b", "c")],
    blocking=[("a", "b")],
)


def test_a_shop_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(Instance("shop", "project", SHOP), tmp_path / "shop")
    assert load(tmp_path / "shop").project == SHOP
    assert sorted(p.name for p in (tmp_path / "shop").iterdir()) == [
        "instance.toml",
        "modes.csv",
        "precedences.csv",
        "setups.csv",
        "tasks.csv",
    ]


def test_old_files_of_dates_and_setups_do_not_stay(tmp_path: Path) -> None:
    plain = Project([Task.single("a", 3)], [])
    for project in (SHOP, plain):
        write(Instance("shop", "project", project), tmp_path / "shop")
        assert load(tmp_path / "shop").project == project


@pytest.mark.parametrize("seed", range(5))
def test_random_shops_are_read_as_they_were_written(seed: int, tmp_path: Path) -> None:
    made = (
        random_shops.dates(seed, "flow-time"),
        random_shops.setups(seed, "total-setup"),
        random_shops.breaks(seed),
        random_shops.shop(seed, rules=("no wait", "blocking", "permutation")),
    )
    for k, project in enumerate(made):
        write(Instance("shop", "project", project), tmp_path / str(k))
        again = load(tmp_path / str(k)).project
        assert again.tasks == tuple(without_zeros(t) for t in project.tasks)
        assert again.resources == project.resources and again.precedences == project.precedences
        assert (again.objective, again.permutation) == (project.objective, project.permutation)
        assert set(again.no_wait) == set(project.no_wait) and set(again.blocking) == set(project.blocking)


def without_zeros(task: Task) -> Task:
    modes = tuple(replace(m, demands={r: d for r, d in m.demands.items() if d}) for m in task.modes)
    return replace(task, modes=modes)


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("tasks.csv", "task,due\ncut,soon\n", ("tasks.csv", 2, "due")),
        ("tasks.csv", "task,due\nweld,3\n", ("tasks.csv", 2, "task")),
        ("tasks.csv", "task,due\ncut,3\ncut,4\n", ("tasks.csv", 3, "task")),
        ("tasks.csv", "task,dew\ncut,3\n", ("tasks.csv", 1, "dew")),
        ("setups.csv", "resource,before,after,time\nsaw,cut,paint,1\n", ("setups.csv", 2, "resource")),
        ("setups.csv", "resource,before,after,time\nbench,cut,cut,-1\n", ("setups.csv", 2, "time")),
        ("setups.csv", "resource,before,after,time\nbench,red,blue,1\n", ("instance.toml", None, "project")),
        ("precedences.csv", "before,after,no_wait\ncut,paint,2\n", ("precedences.csv", 2, "no_wait")),
        (
            "instance.toml",
            SETTINGS.replace("\nsource", "\nobjective = 'lateness'\nsource"),
            ("instance.toml", 3, "objective"),
        ),
        (
            "instance.toml",
            SETTINGS.replace("\nsource", "\nobjective = '1_000*makespan'\nsource"),
            ("instance.toml", 3, "objective"),
        ),
        ("instance.toml", SETTINGS + "breaks = [[4, 4]]\n", ("instance.toml", 13, "resources[2].breaks")),
        ("instance.toml", SETTINGS + "suspends = 1\n", ("instance.toml", 13, "resources[2].suspends")),
        ("instance.toml", "permutation = 3\n" + SETTINGS, ("instance.toml", 1, "permutation")),
    ],
)
def test_each_fault_of_a_shop_has_its_place(
    folder: Path, file: str, text: str, fault: tuple[str, int | None, str]
) -> None:
    (folder / file).write_text(text)
    found = faults(folder)
    if fault[0] == "setups.csv" or fault[2] == "project":
        assert fault[0] in {f[0] for f in found} and fault[2] in {f[2] for f in found}
    else:
        assert found == [fault]
