"""The settings that exclude each other: the table of the documentation, and that each pair is refused with its reason."""

import re
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.models.profiles import power_cap
from schedlab.simulation import CPDispatcher, Dardis, OnDemandJob, Preemption
from schedlab.simulation import errors as table

pytestmark = pytest.mark.usefixtures("in_process")

SHARED = sl.Platform([sl.NodeGroup("n", 2, {"cores": 4})])
LOG = "\n".join(f"{k} {600 * k} 0 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1" for k in range(1, 4)) + "\n"
STOPPED = "time,kind,nodes,subject,value\n1200,stop-queue,,1,\n"


def test_the_documentation_has_the_table():
    text = Path(sl.__file__).with_name("docs").joinpath("simulation.md").read_text()
    _, section = text.split("## Settings that exclude each other\n")
    assert table.exclusion_table() in section.partition("\n## ")[0]
    assert len(table.EXCLUSIONS) <= 8 and len(set(table.EXCLUSIONS)) == len(table.EXCLUSIONS)


def several_chunks() -> sl.Dispatch:
    job = sl.Job.of_chunks("a", 0, 10, [(1, {"cores": 1}), (1, {"cores": 2})], "q", runtime=5)
    return sl.Dispatch(SHARED, [job], [sl.Queue("q", 60)])


IN_PYTHON = {
    "ONE_REQUEST": lambda: sl.simulate(several_chunks(), dispatcher="dardis:throughput"),
    "WHOLE_NODES": lambda: sl.simulate(several_chunks(), preemption=Preemption([OnDemandJob("u", 0, 1, 0, 1)])),
    "ONE_LIMIT": lambda: CPDispatcher("hcp", 3, limit=1, deterministic=1),
    "NO_POWER": lambda: sl.simulate(
        "eurora_99", dispatcher=Dardis("profile", power_cap(sl.load("eurora_99").platform, 9.0))
    ),
    "NO_ROOM": lambda: CPDispatcher("hcp", 1, profile=True),
}
ON_THE_COMMAND_LINE = {
    "OTHER_TIMES": ["--events", "events.csv", "--load", "1"],
    "ONE_LIMIT": ["--decision-time", "1", "--deterministic", "1"],
    "OWN_WINDOW": ["--batch", "1", "--window", "1d"],
    "NO_STRETCH": ["--dispatchers", "cpmodel@cpsat", "--max-stretch", "9"],
}


@pytest.mark.parametrize("name", IN_PYTHON)
def test_a_pair_is_refused_with_its_reason(name: str) -> None:
    with pytest.raises(sl.SchedlabError, match=re.escape(str(getattr(table, name)))):
        IN_PYTHON[name]()


@pytest.mark.parametrize("name", ON_THE_COMMAND_LINE)
def test_a_pair_is_refused_on_the_command_line(name, bench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("log.swf").write_text(LOG)
    Path("events.csv").write_text(STOPPED)
    code, out, err = bench("simulate", "log.swf", "--nodes", "2", "--cores", "1", *ON_THE_COMMAND_LINE[name])
    assert code == 2 and str(getattr(table, name)) in " ".join((out + err).split())


def test_each_pair_is_tried():
    tried = {getattr(table, name) for name in {**IN_PYTHON, **ON_THE_COMMAND_LINE}}
    assert tried == set(table.EXCLUSIONS)
