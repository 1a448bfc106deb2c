"""The pages for users of other packages: ours next to theirs, counted, and theirs run where their package is installed.

``SIDE_BY_SIDE_PYTHON`` names the Python of an environment with pyjobshop, docplex and cpmpy; what theirs prints is then
compared with what the page says that ours prints.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import schedlab
from schedlab.backends import backend

REFERENCE = Path(schedlab.__file__).parent / "docs" / "reference"
PAGES = ["from_pyjobshop", "from_docplex", "from_cpmpy"]
OTHER = os.environ.get("SIDE_BY_SIDE_PYTHON")
MOST_WORDS = 2000


def parts(page: str) -> dict[str, list[tuple[str, str]]]:
    """Return the code blocks (language, code) of a page by its headings; "py" is theirs, "python" is ours or data."""
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    _, *some = re.split(r"^## ", text, flags=re.M)
    return {part.splitlines()[0]: blocks(part) for part in [text.split("\n## ")[0], *some]}


def blocks(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^```(py|python)\n(.*?)^```", text, flags=re.M | re.S)


def is_data(language: str, code: str) -> bool:
    return language == "python" and "sl." not in code and "import" not in code


def lines(of: list[tuple[str, str]], language: str) -> int:
    """Return the number of lines of code, without those of data."""
    own = [code for kind, code in of if kind == language and not is_data(kind, code)]
    return sum(bool(line.strip()) for code in own for line in code.splitlines())


def compared(page: str) -> dict[str, tuple[int, int]]:
    """Return the lines of theirs and ours under each heading that has both; the functions at the top are not counted."""
    counts = {title: (lines(of, "py"), lines(of, "python")) for title, of in list(parts(page).items())[1:]}
    return {title: count for title, count in counts.items() if all(count)}


@pytest.mark.parametrize("page", PAGES)
def test_ours_has_at_most_as_many_lines(page: str) -> None:
    counts = compared(page)
    assert len(counts) >= 5
    assert {title: count for title, count in counts.items() if count[1] > count[0]} == {}


def test_the_nine_classes_of_pyjobshop_have_the_lines_that_the_page_says() -> None:
    text = (REFERENCE / "from_pyjobshop.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| (\d+) \|$", text, flags=re.M)
    assert len(rows) == 9
    assert {title: (int(theirs), int(ours)) for title, theirs, ours in rows} == compared("from_pyjobshop")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_short(page: str) -> None:
    assert len((REFERENCE / f"{page}.md").read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.skipif(OTHER is None, reason="SIDE_BY_SIDE_PYTHON names no environment with pyjobshop, docplex and cpmpy")
@pytest.mark.parametrize("page", PAGES)
def test_theirs_prints_what_ours_prints(page: str, tmp_path: Path) -> None:
    every = [block for of in parts(page).values() for block in of]
    code = "\n".join(code for kind, code in every if kind == "py" or is_data(kind, code))
    if page == "from_docplex":
        engine = backend("cpo").availability()
        if not engine.ok:
            pytest.skip("CP Optimizer is not installed")
        from schedlab.backends.cpo import find_engine

        code = f"from docplex.cp.config import context\ncontext.solver.local.execfile = {find_engine()!r}\n" + code
    script = tmp_path / "theirs.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([str(OTHER), str(script)], capture_output=True, text=True, check=True)
    said = [line for line in done.stdout.splitlines() if re.fullmatch(r"[\d ]+", line)]
    ours = re.findall(r"# prints ([\d ]+)$", "\n".join(code for kind, code in every if kind == "python"), flags=re.M)
    assert said == [text.split(" ")[0] if page == "from_docplex" else text for text in ours]
