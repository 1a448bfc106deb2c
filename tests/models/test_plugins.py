"""Names of third parties in groups of entry points, and the hash of their source."""

import sys

import pytest
from schedlab.models import PluginError, is_module
from schedlab.models.registry import Registry, source_hash

GROUP = "schedlab.colours"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package with entry points in a folder of its own, before all others."""

    def installed(name, entries, module=""):
        folder = tmp_path / name
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *(f"{k} = {v}" for k, v in entries.items())]))
        (folder / f"{name}.py").write_text(module)
        monkeypatch.syspath_prepend(folder)
        return folder

    yield installed
    for name in ("red_paint", "other_paint"):
        sys.modules.pop(name, None)


def colours():
    return Registry("colour", GROUP, {"black": 0, "white": "sys:maxsize"}, check)


def check(label, found):
    if not isinstance(found, int):
        raise PluginError(f"{label} is no colour")


def test_names_of_third_parties_follow_our_own_and_cannot_replace_them(install):
    install("red_paint", {"red": "red_paint:RED", "black": "red_paint:BLACK"}, "RED = 7\nBLACK = 8\n")
    found = colours()
    assert list(found) == ["black", "white", "red"] and len(found) == 3
    assert (found["black"], found["white"], found["red"]) == (0, sys.maxsize, 7)
    assert [entry.value for entry in found.ignored] == ["red_paint:BLACK"]
    assert "blue" not in found and found.get("blue") is None
    with pytest.raises(KeyError):
        found["blue"]


def test_a_name_that_two_packages_give_to_different_parts_cannot_be_used(install):
    install("red_paint", {"red": "red_paint:RED", "green": "red_paint:GREEN"}, "RED = 7\nGREEN = 2\n")
    install("other_paint", {"red": "other_paint:RED"}, "RED = 9\n")
    found = colours()
    both = r"the colour red is registered twice: red of other_paint 1.0 .* and red of red_paint 1.0 .*; name .* other_paint:RED"
    with pytest.raises(PluginError, match=both):
        found["red"]
    assert found["green"] == 2 and found.get_named("red_paint:RED") == 7


def test_what_cannot_be_used_is_named_and_the_others_can_be_used(install):
    entries = {"red": "red_paint:RED", "blue": "red_paint:BLUE", "wrong": "red_paint:WRONG", "gone": "not_there:X"}
    install("red_paint", entries, "RED = 7\nWRONG = 'text'\n")
    found = colours()
    assert dict(found.usable()) == {"black": 0, "white": sys.maxsize, "red": 7}
    for name, why in (
        ("blue", r"the colour blue of red_paint 1.0 \(red_paint:BLUE\) cannot be imported: AttributeError"),
        ("wrong", r"the colour wrong of red_paint 1.0 \(red_paint:WRONG\) is no colour"),
        ("gone", r"cannot be imported: ModuleNotFoundError: No module named 'not_there'"),
    ):
        with pytest.raises(PluginError, match=why):
            found[name]


def test_a_name_can_be_added_for_this_process_and_removed_again(install):
    install("red_paint", {"red": "red_paint:RED"}, "RED = 7\n")
    found = colours()
    found.register("green", 5)
    assert found["green"] == 5 and list(found) == ["black", "white", "green", "red"]
    assert found.source("green") is None and found.source("black") is None
    assert found.source("red") == source_hash("red_paint")
    found.unregister("green")
    assert "green" not in found


def test_the_hash_covers_the_package_and_the_modules_beside_it_that_are_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text("")
    (tmp_path / "shop" / "first.py").write_text("import json\nfrom one_more.deeper import X\nfrom . import second\n")
    (tmp_path / "shop" / "second.py").write_text("import beside\n")
    (tmp_path / "beside.py").write_text("import shop, not_written_yet\n")
    (tmp_path / "one_more").mkdir()
    (tmp_path / "one_more" / "__init__.py").write_text("")
    (tmp_path / "one_more" / "deeper.py").write_text("X = 1\n")
    (tmp_path / "stranger.py").write_text("X = 1\n")
    before = source_hash("shop.first")
    for name in ("shop/first.py", "shop/second.py", "beside.py", "one_more/deeper.py"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(f"{text}# changed\n")
        assert source_hash("shop.first") != before, name
        (tmp_path / name).write_text(text)
    (tmp_path / "stranger.py").write_text("X = 2\n")
    assert source_hash("shop.first") == before == source_hash("shop")


def test_a_module_is_found_without_importing_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "never_imported.py").write_text("raise SystemExit")
    assert (
        is_module("never_imported")
        and is_module("json.decoder")
        and not is_module("not_there")
        and not is_module("__main__")
    )
