"""Files of benchmark libraries: their format is recognised by the content, and a wrong file is explained."""

from pathlib import Path

import pytest
import schedlab.bench.suites
from schedlab.instances import FormatError, load, read_fjsplib, read_jsplib, read_patterson, read_psplib
from schedlab.instances.classic.recognition import is_classic, read_classic
from shared_data import DATA

EXAMPLES = Path(schedlab.bench.suites.__file__).parent / "examples"
READERS = {
    "small_job_shop.txt": read_jsplib,
    "small_flexible.fjs": read_fjsplib,
    "small_patterson.rcp": read_patterson,
    "small_project.sm": read_psplib,
    "small_modes.mm": read_psplib,
}


def content(project):
    return project.tasks, project.resources, project.precedences


@pytest.mark.parametrize("name", READERS)
def test_the_content_tells_the_format(name, tmp_path):
    file = tmp_path / "a_name_without_meaning"
    file.write_bytes((EXAMPLES / name).read_bytes())
    found = load(file)
    assert content(found.project) == content(READERS[name](EXAMPLES / name))
    assert (found.name, found.kind, found.path) == ("a_name_without_meaning", "project", file)


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
        ("3 50\n10 5\n20.5 7\n3 9\n", "a knapsack"),
        ("2 2\n0 3 1 2\n1 4\n", "as job shop: line 3"),
        ("3 1 0 0\n0 1 1 1 [0]\n", "one of the formats job shop, flexible job shop"),
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
    ]
    forms = [load(DATA / name).source.split()[0] for name in sample]
    assert forms == ["jsplib", "fjsplib", "fjsplib", "psplib", "psplib"]
