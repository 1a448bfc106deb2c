"""The documentation: its code runs, its commands exist, its links and references lead somewhere, its pages are short."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import pydoc
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import schedlab
import typer
from schedlab.backends import base
from schedlab.bench.cli.app import app
from schedlab.heuristics import HEURISTICS
from schedlab.models.kind import FORMULATIONS

ROOT = Path(schedlab.__file__).parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
MOST_LINES = {"README.md": 170, "CHANGELOG.md": 150}
MOST_PAGES = 14  # for users, in docs; reference and appendix are folders of their own
MOST_WORDS = 2000  # of such a page
CODE = ("models", "instances", "heuristics", "backends", "methods", "simulation", "bench", "benchmarks", "tests")
PAGE_NAME = re.compile(r"\bdocs/[\w/]+\.md\b")
FILE_NAME = re.compile(r"(?<![\w/.-])[\w/]+\.py\b")
MODULES = [
    "/" + p.relative_to(ROOT).as_posix()
    for p in (*ROOT.glob("*.py"), *(p for top in CODE for p in (ROOT / top).rglob("*.py")))
]
KEY = re.compile(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?|AccaSim)[\],]")


OWN_FILE = "# my_module.py\n"  # first line of a block that is also the file of that name
PRINTS = "  # prints "  # what follows is compared with what the statement prints; "..." stands for any text


def matches(claimed: str, text: str) -> bool:
    """Return whether a printed text is the claimed one, in which "..." stands for any text."""
    return re.fullmatch(".*".join(map(re.escape, claimed.split("..."))), text, flags=re.S) is not None


def _first_line(block: str, number: int) -> int:
    """Return the first line of the smallest statement that a line belongs to."""
    statements = [n for n in ast.walk(ast.parse(block)) if isinstance(n, ast.stmt)]
    around = [n for n in statements if n.lineno <= number <= (n.end_lineno or n.lineno)]
    return max(n.lineno for n in around)


def _id(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """The fenced code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def commands() -> list[str]:
    """The lines of all pages that call ``bench``."""
    lines = [line.split("#")[0] for p in PAGES for block in blocks(p, "sh") for line in block.splitlines()]
    return sorted({line.strip() for line in lines if line.startswith("bench ")})


SLOW_PAGES = tuple(
    f"docs/reference/{name}" for name in ("formulations", "own_formulations", "own_methods", "own_problems")
)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, id=_id(p), marks=[pytest.mark.slow] if _id(p) in SLOW_PAGES else [])
        for p in PAGES
        if blocks(p, "python")
    ],
)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(base, "_registered", {})
    module = ModuleType("page")  # dataclasses look their module up
    monkeypatch.setitem(sys.modules, "page", module)
    space = module.__dict__
    known = list(HEURISTICS)
    formulations = list(FORMULATIONS)
    printed: dict[int, list[str]] = {}

    def record(*values: object, sep: str = " ", **_: object) -> None:
        printed.setdefault(sys._getframe(1).f_lineno, []).append(sep.join(map(str, values)))

    space["print"] = record
    for block in blocks(page, "python"):
        printed.clear()
        if block.startswith(OWN_FILE):
            (tmp_path / "my_module.py").write_text(block, encoding="utf-8")
        exec(compile(block, str(page), "exec"), space)
        for number, line in enumerate(block.splitlines(), 1):
            if PRINTS in line:
                claimed = line.split(PRINTS)[1]
                texts = printed.get(_first_line(block, number), [])
                assert texts, f"line {number} prints nothing: {line.strip()}"
                assert [t for t in texts if not matches(claimed, t)] == [], f"not what is printed: {line.strip()}"
    for name in set(HEURISTICS) - set(known):
        HEURISTICS.unregister(name)  # of the page; its module ends with the test
    for name in set(FORMULATIONS) - set(formulations):
        FORMULATIONS.unregister(name)
    sys.modules.pop("my_module", None)


@pytest.mark.parametrize("line", commands())
def test_the_options_of_a_command_exist(line: str) -> None:
    command: Any = typer.main.get_command(app)
    _, *words = shlex.split(line)
    while hasattr(command, "commands"):  # a group of commands
        command = command.commands[words.pop(0)]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line) for line in re.findall(r"^#+ (.*)$", text, flags=re.M)]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=_id)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_pages_that_code_names_exist() -> None:
    files = [*ROOT.glob("*.py"), ROOT / "Makefile", *(p for top in CODE for p in (ROOT / top).rglob("*.py"))]
    named = {name for p in files if p.exists() for name in PAGE_NAME.findall(p.read_text(encoding="utf-8"))}
    assert named - {"docs/x.md"} > set()  # docs/x.md: of a test
    assert [name for name in sorted(named - {"docs/x.md"}) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_modules_and_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = sorted(set(re.findall(r"\bschedlab(?:\.\w+){2,}", text)))  # of one part: also groups of entry points
    assert [name for name in names if pydoc.locate(name) is None] == []
    files = sorted(set(FILE_NAME.findall(text)) - {"my_module.py", "script.py"})  # of the reader
    assert [name for name in files if not any(path.endswith("/" + name) for path in MODULES)] == []


def test_every_page_is_listed() -> None:
    listed = re.findall(r"\]\(([^)#]+\.md)\)", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    assert {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")} - set(listed) == {
        "index.md"
    }


def test_pages_for_users_are_few_and_short() -> None:
    words = {p.name: len(p.read_text(encoding="utf-8").split()) for p in (ROOT / "docs").glob("*.md")}
    assert len(words) <= MOST_PAGES
    assert {name: count for name, count in words.items() if count > MOST_WORDS} == {}


def test_sources_that_are_cited_are_listed() -> None:
    listed = set(KEY.findall((ROOT / "docs" / "appendix" / "references.md").read_text(encoding="utf-8")))
    files = [
        *PAGES,
        *(
            p
            for top in ("models", "instances", "heuristics", "backends", "simulation", "bench")
            for p in (ROOT / top).rglob("*.py")
        ),
    ]
    cited = {key for p in files for key in KEY.findall(p.read_text(encoding="utf-8"))}
    assert cited - listed == set()


@pytest.mark.parametrize("name", MOST_LINES)
def test_readme_and_changelog_are_short(name: str) -> None:
    assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= MOST_LINES[name]


def exported() -> list[tuple[str, Any]]:
    """All functions and classes of the package that an ``__all__`` names."""
    found: dict[Any, str] = {}
    packages = ["schedlab", *(m.name for m in pkgutil.walk_packages([str(ROOT)], "schedlab.") if m.ispkg)]
    for name in packages:
        if name.split(".")[1:2] in (
            [],
            ["models"],
            ["instances"],
            ["heuristics"],
            ["backends"],
            ["simulation"],
            ["bench"],
        ):
            module = importlib.import_module(name)
            for public in getattr(module, "__all__", ()):
                value = getattr(module, public)
                if callable(value) and str(getattr(value, "__module__", "")).startswith("schedlab"):
                    found.setdefault(value, f"{name}.{public}")
    return [(name, value) for value, name in found.items()]


def missing_sections(value: Any) -> str:
    """What the docstring of a function or class lacks; empty if nothing."""
    text = inspect.getdoc(value) or ""
    if not text:
        return "a docstring"
    if inspect.isclass(value) and (issubclass(value, BaseException) or getattr(value, "_is_protocol", False)):
        return ""
    signature = inspect.signature(value)
    if [p for p in signature.parameters if p != "self"] and not re.search(r"(Parameters|Attributes)\n-{10}", text):
        return "Parameters"
    returns = inspect.isfunction(value) and signature.return_annotation not in ("None", None)
    return "Returns" if returns and not re.search(r"Returns\n-{7}|Yields\n-{6}", text) else ""


def test_what_is_exported_is_documented_in_sections() -> None:
    assert {name: missing for name, value in exported() if (missing := missing_sections(value))} == {}


@pytest.mark.parametrize(
    ("claimed", "text", "same"),
    [("8", "8", True), ("8", "13", False), ("{'a': ...}", "{'a': 1}", True), ("8", "8.0", False)],
)
def test_claims_of_printed_values_are_compared(claimed: str, text: str, same: bool) -> None:
    assert matches(claimed, text) is same
