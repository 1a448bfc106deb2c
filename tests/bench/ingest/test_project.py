"""``bench import`` of projects: files of benchmark libraries become instance folders, which hold the same project."""

import gzip
from functools import partial
from pathlib import Path

import pytest
import schedlab
from fuzz_seeds import IMOPSE, MSLIB
from schedlab.instances import (
    LIBRARIES,
    Instance,
    load,
    read_fjsplib,
    read_imopse,
    read_jsplib,
    read_mmlib,
    read_mslib,
    read_patterson,
    read_psplib,
)
from schedlab.instances.formats.shops import (
    read_aircraft_landing,
    read_flow_shop,
    read_taillard_job_shop,
    read_taillard_open_shop,
    read_weighted_tardiness,
)
from schedlab.models import kind

EXAMPLES = Path(schedlab.__file__).parent / "bench/suites/examples"
PROJECT = """\
jobs  (incl. supersource/sink ):  3
RESOURCES
  - renewable                 :  1   R
  - nonrenewable              :  1   N
  - doubly constrained        :  0   D
************************************************************************
PRECEDENCE RELATIONS:
jobnr.    #modes  #successors   successors
   1        1          1           2
   2        2          1           3
   3        1          0
************************************************************************
REQUESTS/DURATIONS:
jobnr. mode duration  R 1  N 1
  1      1     0       0    0
  2      1     3       2    0
         2     2       2    4
  3      1     0       0    0
************************************************************************
RESOURCEAVAILABILITIES:
  R 1  N 1
    2    4
************************************************************************
"""
FILES = {
    "psplib": ("a.sm", PROJECT, read_psplib, "a: 3 tasks with 4 modes, 2 resources"),
    "mmlib": ("b.txt", PROJECT, read_mmlib, "b: 3 tasks with 4 modes, 2 resources"),
    "patterson": ("c.rcp", "2 1\n4\n3 2 1 2\n5 4 0\n", read_patterson, "c: 2 tasks, 1 resource"),
    "jsplib": ("d.txt", "2 2\n0 3 1 2\n1 4 0 1\n", read_jsplib, "d: 4 tasks, 2 resources"),
    "taillard": ("f.txt", "2 2 7 9 9\nprocessing times :\n1 2\n3 4\n", read_flow_shop, "f: 4 tasks, 2 resources"),
    "taillard-permutation": (
        "p.txt", "2 2 7 9 9\nprocessing times :\n1 2\n3 4\n", partial(read_flow_shop, permutation=True),
        "p: 4 tasks, 2 resources"
    ),
    "taillard-job-shop": (
        "g.txt", "2 2 7 9 9 9\nTimes\n1 2\n3 4\nMachines\n1 2\n2 1\n", read_taillard_job_shop, "g: 4 tasks, 2 resources"
    ),
    "taillard-open-shop": (
        "h.txt", "2 2 7 9 9 9\nprocessing times :\n1 2\n3 4\nmachines :\n1 2\n2 1\n", read_taillard_open_shop,
        "h: 4 tasks, 4 resources"
    ),
    "imopse": ("i.def", IMOPSE, read_imopse, "i: 2 tasks with 3 modes, 2 resources"),
    "mslib": ("j.msrcp", MSLIB, read_mslib, "j: 3 tasks with 6 modes, 3 resources"),
    "weighted-tardiness": (
        "k.txt", "2 3 1\n5 1 2\n4 4 1\n", read_weighted_tardiness, "k: 3 tasks, 1 resource"
    ),
    "aircraft-landing": (
        "l.txt", "2 10\n0 5 8 20 3 4\n99999 6\n0 6 9 30 1.0 2.0\n2 99999\n", read_aircraft_landing, "l: 2 tasks, 1 resource"
    ),
    "fjsplib": ("e.fjs", "1 2 1.5\n2 1 1 3 2 1 4 2 2\n", read_fjsplib, "e: 2 tasks with 3 modes, 2 resources"),
}  # fmt: skip


def test_every_library_is_tried() -> None:
    assert set(FILES) == {name for name, library in LIBRARIES.items() if library.folder}
    examples = set(LIBRARIES) - set(FILES) - {"model"}  # files of models: tests/bench/kinds/test_models.py
    kinds = {name: load_library(name).kind for name in examples}
    assert kinds and set(kinds.values()).isdisjoint(kind.having("writer"))


def load_library(name: str) -> Instance:
    """Load our example of a format whose problems are no instance folders."""
    file = next(p for p in EXAMPLES.iterdir() if load(p).source.split()[0] == name)
    return load(file)


@pytest.mark.parametrize("form", FILES)
def test_a_file_becomes_a_folder_with_the_same_project(bench, tmp_path: Path, form: str) -> None:
    name, text, read, described = FILES[form]
    file, out = tmp_path / name, tmp_path / "made"
    file.write_text(text)
    code, printed, err = bench("import", form, file, "--out", out)
    assert (code, err) == (0, "")
    assert printed == f"{out}: {described}; to see it: bench show {out}\n"
    instance = load(out)
    assert instance.project == read(file)
    assert (instance.description, instance.source) == (described, f"{form} file {name}")


def test_a_compressed_file_and_a_name_of_its_own(bench, tmp_path: Path) -> None:
    file, out = tmp_path / "d.txt.gz", tmp_path / "made"
    file.write_bytes(gzip.compress(FILES["jsplib"][1].encode()))
    assert bench("import", "jsplib", file, "--out", out, "--name", "tiny shop")[0] == 0
    assert load(out).description == "tiny shop: 4 tasks, 2 resources"


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("psplib", PROJECT.replace("2        2          1 ", "2        2          2 "), "line 10: expected 2 successors"),
        ("patterson", "2 1\n4\n3 2 1 2\n5 9 0\n", "task '2' can never run"),
        ("jsplib", "2 2\n0 3 1 2\n", "line 2: expected 2 lines, one per job"),
        ("patterson", "2 1\n4\n3 2 1 2\n99999999999 1 0\n", "modes.csv, line 3, duration"),
        ("psplib", None, "expected a file of this name"),
    ],
)  # fmt: skip
def test_a_broken_file_is_wrong_use_and_nothing_is_written(
    bench, tmp_path: Path, form: str, text: str | None, message: str
) -> None:
    file, out = tmp_path / "broken.txt", tmp_path / "made"
    if text is not None:
        file.write_text(text)
    code, _, err = bench("import", form, file, "--out", out)
    assert code == 2 and message in err and err.count("error") == 1
    assert not out.exists()


def test_a_mistyped_format_gets_the_near_one(bench, tmp_path: Path) -> None:
    code, _, err = bench("import", "psplb", tmp_path / "a.sm", "--out", tmp_path / "made")
    assert code == 2 and "psplib" in err


def test_a_problem_of_a_file_with_several_is_chosen_by_its_number(bench, tmp_path: Path) -> None:
    rows = [[1 + k % 10 for _ in range(120)] for k in range(125)]
    file, out = tmp_path / "wt40.txt", tmp_path / "made"
    file.write_text("\n".join(" ".join(map(str, row)) for row in rows))
    code, printed, err = bench("import", "weighted-tardiness", file, "--number", 3, "--out", out)
    assert (code, err) == (0, "") and "wt40_3: 40 tasks, 1 resource" in printed
    assert {t.shortest for t in load(out).project.tasks} == {3}
    shop = tmp_path / "d.txt"
    shop.write_text(FILES["jsplib"][1])
    code, _, err = bench("import", "jsplib", shop, "--number", 2, "--out", tmp_path / "none")
    assert code == 2 and "files of jsplib have one problem" in err
