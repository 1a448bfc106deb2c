"""Atomic writing: a file is complete or as it was before, it is synced, and no other module writes files of users."""

import ast
import os
import stat
from pathlib import Path

import pytest
import schedlab
from schedlab.instances.files import move_whole, to_csv, to_toml, whole_file, write_files, write_whole

ROOT = Path(schedlab.__file__).parent
# measurements write logs of their own, and the log of a solver is written while it runs
OWN = ("instances/files/writing.py", "benchmarks/", "bench/terminal.py", "bench/runs/worker.py")
WRITERS = ("open", "write_text", "write_bytes", "tofile", "to_csv_file")


@pytest.fixture
def synced(monkeypatch):
    """Return the list of what is synced and renamed, in order."""
    order, fsync, rename = [], os.fsync, os.replace

    def sync(number):
        order.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file")
        fsync(number)

    def replace(path, target):
        order.append("rename")
        rename(path, target)

    monkeypatch.setattr("os.fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    return order


def test_a_file_is_synced_before_it_is_renamed_and_its_folder_after(tmp_path, synced):
    write_whole(tmp_path / "a.json", "text ü \udcff\n")
    assert synced == ["file", "rename", "folder"]
    assert (tmp_path / "a.json").read_bytes() == "text ü \\udcff\n".encode()
    (tmp_path / "made").write_bytes(b"by a library")
    move_whole(tmp_path / "made", tmp_path / "b")
    assert synced[3:] == ["file", "rename", "folder"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "b"]


def test_the_files_of_an_instance_are_synced_before_the_first_is_renamed(tmp_path, synced):
    write_files(tmp_path / "new", {"a.csv": "1\n", "b.csv": "2\n"}, lambda folder: synced.append("read"))
    last_of_all_renames = [k for k, what in enumerate(synced) if what == "rename"][-2:]
    assert synced.count("file") == 2 and max(k for k, what in enumerate(synced) if what == "file") < synced.index(
        "read"
    )
    assert synced.index("read") < last_of_all_renames[0] and synced[-1] == "folder"


@pytest.mark.parametrize("moment", ["write", "sync"])
def test_a_file_that_cannot_be_written_leaves_the_old_one_and_nothing_beside_it(tmp_path, monkeypatch, moment):
    path = tmp_path / "a.json"
    write_whole(path, "old")
    if moment == "sync":
        monkeypatch.setattr("os.fsync", lambda number: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(OSError, match="no space"), whole_file(path) as f:
        f.write("new")
        if moment == "write":
            raise OSError("no space")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_synced_is_no_error(tmp_path, monkeypatch):
    opened = os.open
    denied = PermissionError("folders cannot be opened")  # as on Windows

    def no_folders(path, *arguments, **options):
        if os.path.isdir(path):
            raise denied
        return opened(path, *arguments, **options)

    monkeypatch.setattr("os.open", no_folders)
    write_whole(tmp_path / "a", b"1")
    assert (tmp_path / "a").read_bytes() == b"1"


def test_a_file_that_only_has_to_survive_the_process_is_not_synced(tmp_path, synced):
    with whole_file(tmp_path / "a", "wb", durable=False) as f:
        f.write(b"1")
    assert synced == ["rename"] and (tmp_path / "a").read_bytes() == b"1"


def test_no_other_module_writes_files():
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith((*OWN, "tests/", ".", "build/")):
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(f"{word}(" in text for word in WRITERS) else ():
            if isinstance(node, ast.Call) and _writes(node):
                found += [f"{name}:{node.lineno}"]
    assert found == []


def _writes(call):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in WRITERS[1:]:
        return True
    first = (
        call.args[:1] if isinstance(call.func, ast.Attribute) else call.args[1:2]
    )  # Path.open(mode), open(path, mode)
    modes = [*first, *(k.value for k in call.keywords if k.arg == "mode")]
    return name == "open" and any(isinstance(m, ast.Constant) and set(str(m.value)) & set("wax") for m in modes)


def test_line_ends_and_quotes_in_cells_are_quoted():
    assert to_csv(["a", "b"], [["x\ry", None], ['"', 1.5], ["\r\n", True]]) == ('a,b\n"x\ry",\n"""",1.5\n"\r\n",True\n')


def test_settings_are_written_in_their_order_after_the_comment():
    text = to_toml({"b": 1, "t": {"z": [1, 2], "y": 0.5}, "a": True}, "One\n\nTwo")
    assert text == "# One\n#\n# Two\nb = 1\na = true\n\n[t]\nz = [\n    1,\n    2,\n]\ny = 0.5\n"
