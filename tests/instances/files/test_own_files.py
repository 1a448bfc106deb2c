"""The files of an instance: only regular files inside its folder, all of them part of the content hash."""

import os
import re
import shutil

import pytest
import schedlab as sl
from schedlab.instances import InstanceError, load, write
from schedlab.instances.files import ForeignFile, content_of, own_file

SETTINGS = """\
kind = "profit"
scenario = "air,summer,cheap"
[profit]
energy_price = 0.13
[profit.cooling]
air = { table = "air" }
hybrid = { table = "hybrid" }
[profit.season]
summer = { temperatures = "summer.csv" }
winter = { temperatures = "winter.csv" }
[profit.price]
cheap = { core_hour = 0.013 }
[[platform.groups]]
name = "n"
count = 1
capacity = { cores = 2 }
[[queues]]
name = "batch"
ewt_s = 3600
"""
JOBS = "id,queue,submit,units,cores,walltime,runtime,power\na,batch,0,1,1,60,60,9\nb,batch,60,1,2,60,60,18\n"
SECRET = "root:x:0:0:a line that stands in no message"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "outside.csv").write_text(f"{SECRET}\n{SECRET}\n")
    made = tmp_path / "centre"
    made.mkdir()
    (made / "instance.toml").write_text(SETTINGS)
    (made / "jobs.csv").write_text(JOBS)
    for season in ("summer", "winter"):
        (made / f"{season}.csv").write_text("time_s,temperature_c\n0,20\n3600,21\n")
    return made


NAMES = {
    "upwards": "../outside.csv",
    "absolute": "/etc/passwd",
    "a device": "/dev/zero",
    "a link outside": "link.csv",
    "a link to a device": "device.csv",
    "through a linked folder": "up/outside.csv",
    "a folder": "sub",
    "a pipe": "pipe.csv",
    "hidden, so not hashed": ".hidden.csv",
    "a link to a hidden one": "shown.csv",
    "a loop of links": "loop.csv",
    "too long": "x" * 3000,
    "a null character": "a\\u0000.csv",
    "up and in again": "../centre/summer.csv",
    "a long way": "/".join([".."] * 40) + "/etc/passwd",
}
VALUES = {
    "temperatures": ('temperatures = "summer.csv"', 'temperatures = "{}"'),
    "table": ('table = "air"', 'table = "{}"'),
    "energy_price": ("energy_price = 0.13", 'energy_price = "{}"'),
}


@pytest.mark.parametrize("key", VALUES)
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_file_that_an_instance_names_is_a_regular_one_of_its_folder(folder, key, name):
    (folder / "link.csv").symlink_to("../outside.csv")
    (folder / "device.csv").symlink_to("/dev/zero")
    (folder / "up").symlink_to("..")
    (folder / "sub").mkdir()
    os.mkfifo(folder / "pipe.csv")
    shutil.copy(folder / "summer.csv", folder / ".hidden.csv")
    (folder / "shown.csv").symlink_to(".hidden.csv")
    (folder / "loop.csv").symlink_to("loop.csv")
    old, new = VALUES[key]
    (folder / "instance.toml").write_text(SETTINGS.replace(old, new.format(name)))
    with pytest.raises(InstanceError) as e:
        load(folder)
    assert f"{key}: expected" in str(e.value) and "root:" not in str(e.value)
    assert len(str(e.value)) < 1000
    content_of(folder)  # neither hangs nor reads what is outside


@pytest.mark.parametrize("name", ["jobs.csv", "instance.toml"])
def test_the_tables_of_an_instance_do_not_lie_elsewhere(folder, name):
    (folder / name).rename(folder.parent / name)
    (folder / name).symlink_to(folder.parent / name)
    with pytest.raises(InstanceError, match=f"{name}, file: expected a regular file of .* outside"):
        load(folder)


def test_links_within_the_folder_and_shipped_tables_are_fine(folder):
    (folder / "data").mkdir()
    (folder / "summer.csv").rename(folder / "data" / "july.csv")
    (folder / "summer.csv").symlink_to("data/july.csv")
    (folder / "sub").symlink_to("data")
    (folder / "instance.toml").write_text(SETTINGS.replace('"winter.csv"', '"sub/july.csv"'))
    found = load(folder)
    assert found.scenario("air,winter,cheap").temperature == found.scenario("hybrid,summer,cheap").temperature
    assert found.centre.cooling["air"].text == ""


@pytest.mark.parametrize("name", ["sub/summer.csv", "sub/jobs.csv"])
def test_a_copy_keeps_files_of_one_name_apart(folder, name):
    """The copy has no subfolders, so two files of the same name would overwrite each other."""
    (folder / "sub").mkdir()
    (folder / name).write_text("time_s,temperature_c\n0,-5\n3600,-4\n")
    (folder / "instance.toml").write_text(SETTINGS.replace('"winter.csv"', f'"{name}"'))
    with pytest.raises(ValueError, match="needs another name"):
        write(load(folder), folder.parent / "copy")
    assert not (folder.parent / "copy").exists()


def test_a_linked_instance_is_an_instance(folder, tmp_path):
    (tmp_path / "again").symlink_to(folder)
    assert load(tmp_path / "again").problem.jobs == load(folder).problem.jobs
    assert content_of(tmp_path / "again") == content_of(folder)


@pytest.mark.parametrize("name", ["jobs.csv", "summer.csv", "instance.toml", "plant/own.csv"])
def test_every_file_that_is_read_is_part_of_the_content(folder, name):
    (folder / "plant").mkdir()
    (folder / "plant" / "own.csv").write_text("temperature_c,it_power_w,cooling_power_w\n0,1000,100\n50,1000,300\n")
    (folder / "instance.toml").write_text(SETTINGS.replace('table = "hybrid"', 'table = "plant/own.csv"'))
    assert load(folder).centre.cooling["hybrid"].cooling.most == 1000
    before = content_of(folder)
    (folder / name).write_text((folder / name).read_text() + "# changed\n")
    assert content_of(folder) != before


def test_a_link_that_leads_to_another_folder_changes_the_content(folder):
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "t.csv").write_text(name)
    (folder / "seasons").symlink_to("one")
    before = content_of(folder)
    (folder / "seasons").unlink()
    (folder / "seasons").symlink_to("two")
    assert content_of(folder) != before


def test_a_file_outside_is_not_read_for_the_content(folder):
    (folder / "link.csv").symlink_to("../outside.csv")
    before = content_of(folder)
    (folder.parent / "outside.csv").write_text("another text")
    assert content_of(folder) == before


def test_why_a_file_does_not_belong_to_a_folder(tmp_path):
    with pytest.raises(ForeignFile, match="outside"):
        own_file(tmp_path, "../x")
    with pytest.raises(FileNotFoundError):
        own_file(tmp_path, "x")


DEEP = "[" * 3000 + "]" * 3000
BROKEN = {
    "deep lists": f"source = {DEEP}",
    "deep tables": "[generator." + ".".join("a" * 1000) + "]",
    "a huge number": f"seed = {'9' * 5000}",
    "a huge hexadecimal number": f"scenario = 0x{'f' * 6000}",
    "control characters": 'scenario = "\\u001b[31m\\r\\u202e"',
    "a long value": f'scenario = "{"x" * 100_000}"',
    "a long key": f"{'k' * 100_000} = 1",
    "a long list": f"scenario = {['abc'] * 10_000}",
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
def test_settings_that_cannot_be_used_are_told_in_short_lines(folder, line):
    (folder / "instance.toml").write_text(SETTINGS.replace('scenario = "air,summer,cheap"', line))
    with pytest.raises(InstanceError) as e:
        load(folder)
    assert max(map(len, str(e.value).split("\n"))) < 1500
    assert str(e.value).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("x" * 10**6, "duration is 'xxx"),
        (["x"] * 10**5, "'x', 'x', "),
        ("a\x1b\r\u202eb", r"'a\x1b\r\u202eb'"),
    ],
    ids=["letters", "list", "controls"],
)
def test_a_value_of_an_error_is_cut_at_200_characters(value, words):
    with pytest.raises(sl.ProblemError, match=re.escape(words)) as e:
        sl.Project([sl.Task.single("a", value)], [])
    assert len(str(e.value)) < 300
