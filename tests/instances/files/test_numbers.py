"""All readers of files accept and refuse the same texts as numbers, and tell the file, the line and the field."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import fuzz_seeds as seeds
import pytest
from schedlab import SchedlabError
from schedlab.instances import (
    load,
    read_classic,
    read_events,
    read_fjsplib,
    read_jsplib,
    read_patterson,
    read_psplib,
    read_trace,
    read_weather,
)
from schedlab.instances.files import exact_of, json_number_of, json_whole_of, number_of, span_of, whole_of
from schedlab.instances.files.profile_file import read_series, read_wishes
from schedlab.instances.formats import count_of_hosts, hosts_of, read_cooling
from schedlab.instances.formats.shops import read_flow_shop
from schedlab.instances.sites.machine_state import read_state

NO_NUMBERS = [
    "nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "1_000",
    "٣",
    "\uff11\uff12",
    "²",
    "0x10",
    "9" * 5000,
    "1e400",
    "--1",
    "1 2",
]


@pytest.mark.parametrize("text", [*NO_NUMBERS, "", " 5", "5 ", "+5", "5.0", "1e3", "9" * 400])
def test_no_whole_numbers(text: str) -> None:
    assert whole_of(text) is None
    assert whole_of(text, -(10**9)) is None


@pytest.mark.parametrize("text", [*NO_NUMBERS, "", " 5", "1.2.3", ".", "1e", "1e99999", "9" * 400])
def test_no_numbers(text: str) -> None:
    assert number_of(text) is None
    assert exact_of(text) is None


def test_numbers() -> None:
    assert [whole_of(t) for t in ("0", "007", "10000000000", "10000000001", "-1")] == [0, 7, 10**10, None, None]
    assert [number_of(t) for t in ("5", "-0.5", "+7", "1e3", ".5", "5.")] == [5, -0.5, 7, 1000, 0.5, 5]
    assert number_of("-1", least=0) is None and number_of("11", most=10) is None
    assert [exact_of(t) for t in ("0.1", "3.", ".5", "-1")] == [Fraction(1, 10), 3, Fraction(1, 2), None]
    assert [json_number_of(v) for v in (1, 1.5, math.nan, math.inf, True, None, "1", 10**400, [1])] == [
        1, 1.5, None, None, None, None, None, None, None,
    ]  # fmt: skip
    assert [json_whole_of(v) for v in (1, 1.0, -1)] == [1, None, None]
    assert [span_of(t) for t in ("3", "1-4", "1-9:4", "1-", "a", "٣", "1-2-3", "1:2")] == [
        range(3, 4), range(1, 5), range(1, 10, 4), None, None, None, None, None,
    ]  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A place in a file at which a number stands: ``read`` reads the file ``name`` with ``text``, in which @ stands for the number.

    ``field`` is what an error names; ``line`` None: the format has no lines.
    """

    name: str
    text: str
    read: Callable[[Path], Any]
    line: int | None
    field: str = ""
    usual: str = "1"


def log(path: Path) -> Any:
    return read_trace(path)


_SACCT = "JobID|Submit|Start|End|Elapsed|ElapsedRaw|Timelimit|NNodes|NCPUS|State|AllocTRES|ReqMem"
_SACCT_ROW = "7|2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T09:00:00|01:00:00|{raw}|{limit}|{nodes}|4|COMPLETED|{tres}|{mem}"


def sacct(**cells: str) -> str:
    usual = {"raw": "3600", "limit": "01:00:00", "nodes": "1", "tres": "cpu=4,node=1", "mem": "4G"}
    return f"{_SACCT}\n{_SACCT_ROW.format(**(usual | cells))}\n"


def pbs(old: str, new: str) -> str:
    return seeds.PBS.splitlines()[1].replace(old, new) + "\n"


PLACES = {
    "sacct elapsed": Place("a.txt", sacct(raw="@"), log, 2, "ElapsedRaw"),
    "sacct limit": Place("a.txt", sacct(limit="@"), log, 2, "Timelimit"),
    "sacct nodes": Place("a.txt", sacct(tres="cpu=4", nodes="@"), log, 2, "NNodes"),
    "sacct cpus": Place("a.txt", sacct(tres="cpu=@,node=1"), log, 2, "AllocTRES"),
    "sacct memory": Place("a.txt", sacct(tres="cpu=4,mem=@M,node=1"), log, 2, "AllocTRES"),
    "sacct requested memory": Place("a.txt", sacct(tres="cpu=4", mem="@Gn"), log, 2, "ReqMem"),
    "pbs cores": Place("a.log", pbs("ncpus=8", "ncpus=@"), log, 1, "ncpus"),
    "pbs memory": Place("a.log", pbs("mem=14gb", "mem=@gb"), log, 1, "mem"),
    "pbs time": Place("a.log", pbs("ctime=1711958400", "ctime=@"), log, 1, "ctime", "1711958400"),
    "pbs walltime": Place("a.log", pbs("=02:00:00", "=@:00:00"), log, 1, "walltime"),
    "eurora cores": Place("a.csv", seeds.EURORA.replace("0,55,1,1,0", "0,55,@,1,0"), log, 2, "cores_per_node"),
    "eurora power": Place("a.csv", seeds.EURORA.replace("9.0", "@"), log, 2, "power_pred_w"),
    "table units": Place("a.csv", seeds.JOB_TABLE.replace("a,day,0,2,", "a,day,0,@,"), log, 2, "units"),
    "table runtime": Place("a.csv", seeds.JOB_TABLE.replace("60.5", "@"), log, 2, "runtime"),
    "swf": Place("a.swf", seeds.SWF.replace("1 0 10 60.5 24", "1 0 10 60.5 @"), log, 9, "allocated processors"),
    "psplib": Place("a.sm", seeds.PSPLIB.replace("  R 1  N 1\n    2", "  R 1  N 1\n    @"), read_psplib, 26, usual="2"),
    "patterson": Place("a.rcp", seeds.PATTERSON.replace("\n5\n", "\n@\n"), read_patterson, 2, usual="5"),
    "jsplib": Place("a.txt", seeds.JOB_SHOP.replace("0 3 1 2", "0 @ 1 2"), read_jsplib, 3),
    "fjsplib": Place("a.fjs", seeds.FLEXIBLE.replace("2 1 1 3", "2 1 1 @"), read_fjsplib, 2),
    "mean machines": Place("a.fjs", seeds.FLEXIBLE.replace("1.5", "@"), read_fjsplib, 1),
    "knapsack": Place("a", seeds.KNAPSACK.replace("3.5 6.25", "@ 6.25"), read_classic, 3),
    "flow shop": Place("a", seeds.FLOW_SHOP.replace("4 5 6", "@ 5 6"), read_flow_shop, 4),
    "taillard": Place("a", seeds.TAILLARD.replace("1 2\n3 4", "1 2\n@ 4"), read_classic, 5),
    "progen": Place("a", seeds.TIME_LAGS.replace("[3]", "[@]"), read_classic, 3),
    "cooling": Place("a.csv", seeds.COOLING.replace("20,0,0,", "20,0,@,"), read_cooling, 3, "cooling_power_w"),
    "prices": Place("a.csv", seeds.PRICES.replace("0,0.1", "0,@"), read_series, 3, "euro_per_kwh"),
    "weather": Place("a.csv", seeds.WEATHER_SECONDS.replace("0,20", "0,@"), read_weather, 3, "temperature_c"),
    "profile": Place("a.csv", seeds.PROFILE.replace("28800", "@"), read_wishes, 4, "time_s", "28800"),
    "profile head": Place("a.csv", seeds.PROFILE.replace("86400", "@"), read_wishes, 1, "period_s", "86400"),
    "events": Place("a.csv", seeds.EVENTS.replace("40000", "@"), read_events, 2, "time"),
}  # fmt: skip


def told(place: Place, path: Path) -> str | None:
    """What the reader says of the file; None if it reads all of it."""
    try:
        found = place.read(path)
    except SchedlabError as e:
        return str(e)
    return str(found.report.bad_lines[0]) if getattr(found, "report", None) and found.report.bad_lines else None


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_every_reader_refuses_what_is_no_number(tmp_path: Path, place: Place) -> None:
    path = tmp_path / place.name
    # sacct has nan for what is not known, and spaces are between numbers
    for text in [t for t in NO_NUMBERS if " " not in t and (t.lower() != "nan" or not place.text.startswith("JobID"))]:
        path.write_text(filled(place, text))
        message = told(place, path)
        assert message is not None, text
        assert path.name in message and f"line {place.line}" in message, message
        assert place.field in message and len(message) < 1500, message
    path.write_text(filled(place, place.usual))
    assert told(place, path) is None


def filled(place: Place, number: str) -> str:
    before, _, after = place.text.rpartition("@")
    return f"{before}{number}{after}"


NEGATIVE = ("sacct nodes", "sacct cpus", "pbs cores", "pbs time", "eurora cores", "table units", "psplib", "patterson",
            "jsplib", "fjsplib", "knapsack", "flow shop", "taillard", "eurora power")  # fmt: skip


@pytest.mark.parametrize("name", NEGATIVE)
def test_a_negative_amount_is_refused(tmp_path: Path, name: str) -> None:
    place = PLACES[name]
    path = tmp_path / place.name
    path.write_text(filled(place, "-1"))
    message = told(place, path)
    assert message is not None and f"line {place.line}" in message


@pytest.mark.parametrize("column", ["submit", "units", "cores", "runtime", "power"])
@pytest.mark.parametrize("text", ["1_0", "٣", "nan", "1e400", "9" * 5000])
def test_instance_folders_refuse_them_too(tmp_path: Path, column: str, text: str) -> None:
    for file, data in seeds.DISPATCH.items():
        (tmp_path / file).write_bytes(data)
    head, row, *rest = seeds.DISPATCH["jobs.csv"].decode().splitlines()
    cells = dict(zip(head.split(","), row.partition(',"')[0].split(","), strict=False)) | {column: text}
    line = ",".join(cells.get(c, "") for c in head.split(","))
    (tmp_path / "jobs.csv").write_text("\n".join([head, line, *rest]) + "\n")
    with pytest.raises(SchedlabError, match=rf"jobs.csv, line 2, {column}.*: expected"):
        load(tmp_path)


@pytest.mark.parametrize("value", [math.nan, math.inf, True, "5", 1.5, -1, 10**400, [1], None])
def test_states_refuse_json_that_is_no_whole_number(tmp_path: Path, value: Any) -> None:
    state = json.loads(seeds.STATE)
    state["waiting"][0]["walltime"] = value
    path = tmp_path / "state.json"
    path.write_text(json.dumps(state))
    with pytest.raises(SchedlabError, match=r"waiting\[1\]\.walltime .*: expected a whole number"):
        read_state(path)


def test_a_list_of_hosts_takes_no_more_memory_than_it_may_have_names() -> None:
    assert count_of_hosts("n[1-99999]") == 99_999
    assert hosts_of("r[1-2]n[08-10],x") == ["r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10", "x"]
    for text in ("n[0-99999]x[0-99999]", "n[1-2]" * 4000, "n[1-100000],m[1-100000]"):
        with pytest.raises(SchedlabError, match="more than 100,000 names"):
            hosts_of(text)
    for text in ("[" * 100_000, "n[1-2", "n1]", "n[1-[2]]", "n[1,a]", "n[]"):
        with pytest.raises(SchedlabError, match="expected"):
            hosts_of(text)
