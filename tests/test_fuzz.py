"""Sixty damaged files of all formats: an error of the project, or what the file holds (``make known``: thousands)."""

from pathlib import Path

import fuzzing
import pytest


def test_sixty_damaged_files() -> None:
    assert fuzzing.batch(fuzzing.cases(60)) == []


@pytest.mark.slow
def test_whole_files_that_are_damaged_in_the_same_ways() -> None:
    """A directory, nothing, a byte order mark, other line ends, a half, NUL, no UTF-8, all twice, lines twice."""
    assert fuzzing.batch(fuzzing.fixed_cases(whole_files_only=True)) == []


def test_what_the_fuzzer_has_found() -> None:
    assert fuzzing.batch([("swf-header", 78), ("jobs", 59)]) == []


def test_the_fuzzer_finds_what_it_looks_for(tmp_path: Path) -> None:
    """A reader that fails in each of the ways is caught: a wrong exception, an error without a place, a hang, memory."""
    readers = {
        "wrong": "lambda path: {}[path]",
        "placeless": "lambda path: (_ for _ in ()).throw(WorkloadError('something is wrong'))",
        "hang": "lambda path: [None for _ in iter(int, 1) if False]",
        "memory": "lambda path: bytearray(2**31)",
        "dead": "lambda path: os._exit(9)",
        "good": "lambda path: path.read_bytes()",
    }
    module = tmp_path / "planted.py"
    module.write_text(
        "import os\nimport fuzzing\nfrom schedlab.instances import WorkloadError\nfuzzing.SECONDS = 1\n"
        f"for name, reader in {{{', '.join(f'{name!r}: {reader}' for name, reader in readers.items())}}}.items():\n"
        "    def seldom(path, reader=reader):\n"  # the undamaged file is read well
        "        return reader(path) if path.read_bytes() != b'1 2 3' else None\n"
        "    fuzzing.FORMATS[name] = fuzzing._single('x.txt', b'1 2 3', seldom)\n"
        "fuzzing._main(['--batch'])\n"
    )
    found = fuzzing.batch([(name, 1) for name in readers], module)
    assert [f.partition(" 1: ")[0] for f in found] == ["wrong", "placeless", "hang", "memory", "dead"]
    causes = ["KeyError", "says only", "more than 1 s", "MemoryError", "ended with 9"]
    assert all(cause in f for cause, f in zip(causes, found, strict=True))
