"""``bench simulate`` with node policies and energy accounts: records, their check, and bad options."""

import csv
import json
from pathlib import Path

import pytest

TARIFF = "time_s,g_co2_per_kwh\n0,300\n{},400\n"


@pytest.fixture
def folder(bench, tmp_path: Path) -> Path:
    """The folder of a replay with a node policy and accounts."""
    (tmp_path / "carbon.csv").write_text(TARIFF.format(1_000_000))
    code, _, err = bench(
        "simulate", "profit_small", "--dispatchers", "easy", "--node-policy", "idle:10min", "--boot", "5min", "--scenario",
        "air,summer,cheap", "--carbon", tmp_path / "carbon.csv", "--out", tmp_path / "results",
    )  # fmt: skip
    assert code == 0, err
    return tmp_path / "results"


def record_of(folder: Path) -> tuple[Path, dict]:
    path = next(p for p in folder.glob("*.json"))
    return path, json.loads(path.read_text())


def test_the_account_is_that_of_jobs_and_node_states(folder: Path) -> None:
    """Recomputed second by second from the two CSV files, for IT energy and carbon."""
    _, record = record_of(folder)
    jobs = list(csv.DictReader((folder / record["jobs_csv"]).open()))
    states = list(csv.DictReader((folder / record["simulation"]["node_states_csv"]).open()))
    assert {s["state"] for s in states} == {"shutting down", "off", "booting", "on"}
    begin = min(int(j["submission_time"]) for j in jobs)
    end = max(int(float(j["finish_time"])) for j in jobs)
    cores = record["simulation"]["platform"][0]["capacity"]["cores"]
    count = record["simulation"]["platform"][0]["count"]
    changes = {begin: [0, 0], end: [0, 0]}  # second -> change of the cores that are away (off), that boot or shut down
    last = dict[str, str]()
    kinds = {"on": (0, 0), "off": (1, 0), "booting": (1, 1), "shutting down": (1, 1)}
    for s in states:
        old, new = kinds[last.get(s["node"], "on")], kinds[s["state"]]
        there = changes.setdefault(int(s["time"]), [0, 0])
        for k in range(2):
            there[k] += cores * (new[k] - old[k])
        last[s["node"]] = s["state"]
    used, meta = dict[int, int](), "request=cores:"
    for j in jobs:
        own = int(j["metadata"].split(meta)[1].split(";")[0].split()[0]) * int(j["requested_number_of_resources"])
        for time, sign in ((j["starting_time"], 1), (j["finish_time"], -1)):
            used[int(float(time))] = used.get(int(float(time)), 0) + sign * own
    away = boot = busy = 0
    idle_joules = boot_joules = 0.0
    times = sorted({*changes, *used})
    for t, later in zip(times, [*times[1:], times[-1]], strict=True):
        away, boot = away + changes.get(t, (0, 0))[0], boot + changes.get(t, (0, 0))[1]
        busy += used.get(t, 0)
        idle_joules += 3.9 * (cores * count - away - busy) * (later - t)
        boot_joules += 3.9 * boot * (later - t)
    found = record["energy"]["end"]
    assert found["idle_kwh"] * 3.6e6 == pytest.approx(idle_joules, rel=1e-9)
    assert found["boot_kwh"] * 3.6e6 == pytest.approx(boot_joules, rel=1e-9)
    assert sum(d["cost"] for d in record["energy"]["daily"]) == pytest.approx(found["cost"], rel=1e-9)
    total = found["busy_kwh"] + found["idle_kwh"] + found["boot_kwh"] + found["cooling_kwh"]
    assert found["kg_co2"] == pytest.approx(0.3 * total, rel=1e-9)


def test_verify_finds_a_changed_account_and_changed_states(bench, folder: Path) -> None:
    assert bench("verify", folder)[0] == 0
    path, record = record_of(folder)
    record["energy"]["end"]["idle_kwh"] += 1
    path.write_text(json.dumps(record))
    code, out, _ = bench("verify", folder)
    assert code == 1 and "idle_kwh" in out
    states = folder / record["simulation"]["node_states_csv"]
    lines = states.read_text().splitlines()
    states.write_text("\n".join([lines[0], *lines[2:]]) + "\n")
    code, out, _ = bench("verify", folder)
    assert code == 1 and "off after on" in out


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--node-policy", "idel:5s"], "node policy"),
        (["--node-policy", "idle:soon"], "expected a time such as idle:300s"),
        (["--node-policy", "profile"], "give its file with --desired FILE"),
        (["--boot", "5min"], "--boot: only with --node-policy"),
        (["--node-policy", "always-on", "--boot", "soon"], "--boot soon: expected a time"),
        (["--node-policy", "idle:30min", "--boot", "9000h"], "beyond the horizon"),
        (["--node-policy", "always-on", "--idle-watts", "50"], "--idle-watts 50: above the power of job"),
        (["--idle-watts", "-1"], "--idle-watts -1: expected watts"),
        (["--scenario", "air,summer,free"], "there is no scenario 'free'"),
        (["--carbon", "short.csv"], "--carbon: the carbon intensities go from 0 s to 7200 s, which does not cover"),
    ],
)
def test_bad_options(bench, options: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.csv").write_text(TARIFF.format(3600))
    code, _, err = bench("simulate", "profit_small", "--dispatchers", "easy", *options, "--out", "out")
    assert code == 2 and why in " ".join(err.split())
