"""The commands of docs/centre.md on the recording of a real Slurm, as a reader at a centre gives them."""

import gzip
import re
import shlex
import shutil
from pathlib import Path

import pytest
import schedlab
from shared_data import DATA

LAB = DATA / "slurm_lab" / "full"
FILES = ("slurm.conf", "gres.conf", "dump.cfg", "qos.txt", "events.txt")
# what the page's command prints of the reservation that actions.json has
RESERVATIONS = """Name|TimeStart|TimeEnd|NodeName|Flags
maint1|2026-11-25T04:01:52|2026-11-25T04:05:52|n[9-10]|MAINT,SPEC_NODES
"""


def commands():
    text = Path(schedlab.__file__).with_name("docs").joinpath("centre.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.M | re.S)
    return [line for block in blocks for line in block.splitlines() if line.startswith("bench ")]


@pytest.mark.slow
@pytest.mark.skipif(not LAB.exists(), reason="the recordings are not here")
def test_the_commands_of_the_page_end_with_an_answer(bench, in_process, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        shutil.copy(LAB / name, name)
    Path("res.txt").write_text(RESERVATIONS)
    with gzip.open(LAB / "sacct_duplicates.txt.gz", "rb") as packed:
        Path("jobs.txt").write_bytes(packed.read())
    told = {}
    listed = commands()
    assert len(listed) <= 10
    for line in listed:
        code, out, err = bench(*shlex.split(line)[1:])
        assert code == 0, f"{line}\n{out}\n{err}"
        told[shlex.split(line)[1]] = " ".join(out.split())
    assert re.search(r"(good|usable): one step precision 0\.9", told["calibrate"])
    assert re.search(r"nodes\.batch \* 1\.2 .* shorter", told["whatif"])
    assert all(Path(name).exists() for name in ("calibration.html", "answer.html", "board.html"))
