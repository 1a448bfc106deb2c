"""Files of benchmark libraries: their format is recognised by the content, and a wrong file is explained."""

from pathlib import Path

import pytest
import schedlab
from schedlab.instances import (
    FormatError,
    is_classic,
    load,
    read_classic,
    read_fjsplib,
    read_jsplib,
    read_knapsack,
    read_patterson,
    read_progen_max,
    read_psplib,
)
from schedlab.instances.formats.shops import read_flow_shop
from schedlab.models import ProblemError
from shared_data import DATA

EXAMPLES = Path(schedlab.__file__).parent / "bench/suites/examples"
READERS = {
    "small_job_shop.txt": read_jsplib,
    "small_flexible.fjs": read_fjsplib,
    "small_patterson.rcp": read_patterson,
    "small_project.sm": read_psplib,
    "small_modes.mm": read_psplib,
    "small_flow_shop.txt": read_flow_shop,
    "small_time_lags.sch": read_progen_max,
    "small_knapsack.kp": read_knapsack,
}


@pytest.mark.parametrize("name", READERS)
def test_the_content_tells_the_format(name, tmp_path):
    file = tmp_path / "a_name_without_meaning"
    file.write_bytes((EXAMPLES / name).read_bytes())
    found = load(file)
    expected = READERS[name](EXAMPLES / name)
    assert found.problem == expected
    assert (found.name, found.kind, found.path) == ("a_name_without_meaning", expected.kind, file)


def test_every_example_is_tried():
    assert {p.name for p in EXAMPLES.iterdir()} == set(READERS)


def test_a_flexible_job_shop_with_rows_as_long_as_those_of_a_job_shop(tmp_path):
    """Rows of 10 numbers for 5 machines: three steps with one machine each; a job shop visits each machine once."""
    file = tmp_path / "rows.txt"
    file.write_text("2 5\n3 1 1 4 1 2 6 1 3 2\n3 1 2 5 1 1 3 1 4 4\n")
    assert [t.name for t in load(file).project.tasks] == [f"job {j} step {k}" for j in (1, 2) for k in (1, 2, 3)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3 50\n10 5\n20.5 7\n3 x\n", "one of the formats"),
        ("3 50\n10 5\n20.5 7\n3 9\n4 4\n", "line 5: expected the end of the file after 3 items"),
        ("3 2 1 9 9\nprocessing times :\n1 2 3\n4 5 6\n3 2 1 9 9\n1 1 1\n", "line 5: expected the end of the file"),
        ("1 1 0 0\n0 1 1 1 [2]\n1 1 1 2\n2 1 0\n0 1 0 0\n1 1 3 1\n2 1 0 0\n1\n", "line 3: expected activity 1, mode 1"),
        ("1 1 0 0\n0 1 1 1 [2]\n1 1 1 2 [3]\n2 1 0\n0 1 0 0\n", "expected 8 lines"),
        ("2 2\n0 3 1 2\n1 4\n", "as job shop: line 3"),
        ("; UnixStartTime: 0\n1 0 0 5\n", "one of the formats"),
        ("", "a text"),
    ],
)
def test_a_file_of_no_format_is_explained(text, words, tmp_path):
    file = tmp_path / "wrong.txt"
    file.write_text(text)
    with pytest.raises(FormatError, match=r"wrong\.txt, line") as e:
        read_classic(file)
    assert words in str(e.value)
    assert not is_classic(file)


def test_a_fault_of_a_project_file_is_that_of_its_reader(tmp_path):
    file = tmp_path / "broken.sm"
    file.write_text(
        (EXAMPLES / "small_project.sm").read_text().replace("  2      1     4       3    1", "  2      1     4       3")
    )
    with pytest.raises(FormatError) as own:
        read_psplib(file)
    with pytest.raises(FormatError) as found:
        load(file)
    assert str(found.value) == str(own.value)


@pytest.mark.skipif(not DATA.exists(), reason="../shared/data is missing")
def test_real_files_are_recognised():
    sample = [
        "jsp/ft10.txt",
        "fjsp/kacem1.txt",
        "fjsp/fattahi1.txt",
        "mmrcpsp_mmlib/J5011_5.txt",
        "rcpsp_psplib/j30/j301_1.sm",
        "knapsack/low-dimensional/f8_l-d_kp_23_10000",
    ]
    forms = [load(DATA / name).source.split()[0] for name in sample]
    assert forms == ["jsplib", "fjsplib", "fjsplib", "psplib", "psplib", "knapsack"]


def test_a_flow_shop_without_words_is_none_of_the_other_formats(tmp_path):
    file = tmp_path / "shop"
    file.write_text("3 2\n1 2 3\n4 5 6\n")
    shop = load(file).project
    assert [t.shortest for t in shop.tasks] == [1, 4, 2, 5, 3, 6] and len(shop.precedences) == 3
    file.write_text("2 2\n0 3 1 2\n1 4 0 1\n")  # a job shop: twice as many numbers as machines
    assert [list(t.modes[0].demands) for t in load(file).project.tasks[:2]] == [["machine 0"], ["machine 1"]]


def test_a_file_of_time_lags_with_a_task_that_can_never_run(tmp_path):
    file = tmp_path / "wrong.sch"
    file.write_text("1 1 0 0\n0 1 1 1 [2]\n1 1 1 2 [3]\n2 1 0\n0 1 0 0\n1 1 3 9\n2 1 0 0\n1\n")
    with pytest.raises(ProblemError, match=r"wrong\.sch: task '1' can never run"):
        read_classic(file)
