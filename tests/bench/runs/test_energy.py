"""``bench simulate`` with node policies and energy accounts: records, their check, and bad options."""

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import schedlab as sl
from schedlab.bench.pages import node_curves

pytestmark = pytest.mark.usefixtures("in_process")

SUMMER = ["--scenario", "air,summer,cheap"]
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
    on, busy = node_curves(record, folder)
    assert on[1][0] == 8 and min(on[1]) < 8 and busy[1].max() <= 8
    assert (busy[1] <= on[1][np.searchsorted(on[0], busy[0], side="right") - 1]).all()
    assert bench("plot", folder, "--figure", "nodes", "--out", folder / "nodes.svg")[0] == 0
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
        (["--node-policy", "idle:soon"], "expected whole seconds, such as 300, 30min"),
        (["--node-policy", "profile"], "give its file with --desired FILE"),
        (["--boot", "5min"], "--boot: only with --node-policy"),
        (["--dispatchers", "easy,hybrid:100", "--boot", "5min"], "--boot: only with --node-policy"),
        (["--dispatchers", "hybrid:50", *SUMMER, "--boot", "9000h"], "--boot: boot is 32400000 s, beyond the horizon"),
        (["--dispatchers", "hybrid:50"], "dispatcher hybrid:50 plans for profit: expected a profit instance"),
        (["--dispatchers", "planned:every=0", *SUMMER], "planned: every is 0; expected hours"),
        (
            ["--dispatchers", "hybrid:50", *SUMMER, "--prices", "prices.csv"],
            "--prices: the energy prices go from 0 s to 7200 s",
        ),
        (["--dispatchers", "hybrid:50", *SUMMER, "--idle-watts", "50"], "--idle-watts 50: above the power of job"),
        (["--node-policy", "always-on", "--boot", "soon"], "--boot soon: expected a time"),
        (["--node-policy", "idle:30min", "--boot", "9000h"], "beyond the horizon"),
        (["--node-policy", "always-on", "--idle-watts", "50"], "--idle-watts 50: above the power of job"),
        (["--idle-watts", "-1"], "--idle-watts -1: expected watts"),
        (["--scenario", "air,summer,free"], "there is no scenario 'free'"),
        (["--carbon", "short.csv"], "--carbon: the carbon intensities go from 0 s to 7200 s, which does not cover"),
        (
            ["--carbon", "late.csv"],
            "--carbon: the carbon intensities go from 90000 s to 200000 s, which does not cover",
        ),
        (["--carbon", "submissions.csv"], "the least time of any replay of these jobs, in submissions.csv"),
        (["--prices", "prices.csv"], "the least time of any replay of these jobs, in prices.csv"),
    ],
)
def test_bad_options(bench, options: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short.csv").write_text(TARIFF.format(3600))
    Path("late.csv").write_text("time_s,g_co2_per_kwh\n90000,300\n145000,400\n")
    submit = (
        sl.load("profit_small").profit.dispatch.jobs[-1].submit
    )  # covered up to the last submission, not to the ends
    Path("submissions.csv").write_text(f"time_s,g_co2_per_kwh\n0,300\n{submit},400\n{submit + 1},400\n")
    Path("prices.csv").write_text("time_s,euro_per_kwh\n0,0.1\n3600,0.2\n")
    usual = [] if "--dispatchers" in options else ["--dispatchers", "easy"]
    code, _, err = bench("simulate", "profit_small", *usual, *options, "--out", "out")
    assert code == 2 and why in " ".join(err.split())


def test_a_replay_that_takes_longer_than_the_tariff_is_kept(bench, tmp_path: Path) -> None:
    """The file ends at the least time of any replay; under FCFS jobs wait, and the last day of the file is repeated."""
    from schedlab.bench import View
    from schedlab.bench.replays import ReplaySettings, replay_case
    from schedlab.bench.replays.energy import earliest_end

    least = earliest_end(replay_case("eurora_99", View(), ReplaySettings()))
    day = sl.load("eurora_99").dispatch
    work = sum(j.units * j.request["cores"] * j.runtime for j in day.jobs)
    assert least >= max(j.submit + j.runtime for j in day.jobs)
    assert least >= day.jobs[0].submit + work / day.platform.total("cores")
    for name, end in (("short", least - 1), ("enough", least)):
        (tmp_path / f"{name}.csv").write_text(f"time_s,g_co2_per_kwh\n0,300\n{end - 2},300\n{end - 1},300\n")
        options = ["--dispatchers", "fcfs", "--watts-per-core", "10", "--carbon", tmp_path / f"{name}.csv"]
        code, _, err = bench("simulate", "eurora_99", *options, "--out", tmp_path / name)
        assert (code, (tmp_path / name).exists()) == ((2, False) if name == "short" else (0, True)), err
    assert bench("verify", tmp_path / "enough")[0] == 0
    _, record = record_of(tmp_path / "enough")
    last = max(float(j["finish_time"]) for j in csv.DictReader((tmp_path / "enough" / record["jobs_csv"]).open()))
    account = record["energy"]["end"]
    assert last > least
    assert account["kg_co2"] == pytest.approx(0.3 * (account["busy_kwh"] + account["idle_kwh"]), rel=1e-9)


def test_the_hybrid_with_a_forecast_that_has_no_jobs_and_slow_boots(bench, tmp_path: Path) -> None:
    """The times of nodes reach the policy that the dispatcher brings; the other dispatcher switches nothing."""
    code, _, err = bench(
        "simulate", "profit_small", "--load", "0.2", "--dispatchers", "hybrid:50:forecast=weekly-r,easy", "--boot", "10min",
        *SUMMER, "--out", tmp_path,
    )  # fmt: skip
    assert code == 0, err
    assert bench("verify", tmp_path)[0] == 0
    records = {r["method"]: r for r in (json.loads(p.read_text()) for p in tmp_path.glob("*.json"))}
    assert records["easy"]["simulation"]["node_states_csv"] is None
    states = tmp_path / records["hybrid:50:forecast=weekly-r"]["simulation"]["node_states_csv"]
    rows = list(csv.DictReader(states.open()))
    pairs = [
        (a, b) for a in rows for b in rows if a["node"] == b["node"] and (a["state"], b["state"]) == ("booting", "on")
    ]
    after = {
        (a["node"], a["time"]): min(int(b["time"]) for c, b in pairs if c is a and int(b["time"]) >= int(a["time"]))
        for a, _ in pairs
    }
    assert after and all(on - int(began) == 600 for (_, began), on in after.items())
    states.write_text(states.read_text().replace("booting", "off", 1))
    assert bench("verify", tmp_path)[0] == 1


def test_a_node_policy_beside_outages_and_a_power_cap(bench, tmp_path: Path) -> None:
    node = "node-1"
    (tmp_path / "events.csv").write_text(f"time,kind,nodes\n20000,node-down,{node}\n50000,node-up,{node}\n")
    code, _, err = bench(
        "simulate", "profit_small", "--dispatchers", "easy,planned-r", "--node-policy", "idle:10min", *SUMMER, "--load", "0.4",
        "--events", tmp_path / "events.csv", "--out", tmp_path / "a",
    )  # fmt: skip
    assert code == 0, err
    assert bench("verify", tmp_path / "a")[0] == 0
    code, _, err = bench(
        "simulate", "profit_small", "--dispatchers", "easy", "--node-policy", "idle:10min", "--power-cap", "1500", "--out", tmp_path / "b"
    )  # fmt: skip
    assert code == 0, err
    assert bench("verify", tmp_path / "b")[0] == 0


def test_a_node_policy_beside_a_stopped_queue_is_replayed_and_verified(bench, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("time,kind,subject\n20000,stop-queue,default\n40000,start-queue,default\n")
    code, _, err = bench(
        "simulate", "profit_small", "--dispatchers", "easy", "--node-policy", "idle:10min", "--events", tmp_path / "events.csv",
        "--out", tmp_path / "results",
    )  # fmt: skip
    assert code == 0, err
    jobs = list(csv.DictReader(next((tmp_path / "results").glob("*.jobs.csv")).open()))
    starts = [float(j["starting_time"]) for j in jobs]
    assert any(float(j["submission_time"]) <= 20_000 <= at for j, at in zip(jobs, starts, strict=True))
    assert not [at for at in starts if 20_000 <= at < 40_000]
    assert bench("verify", tmp_path / "results")[0] == 0


def test_weather_that_does_not_cover_the_replay_is_refused(bench, tmp_path: Path) -> None:
    """The temperatures end after the first of two days."""
    shutil.copytree(sl.load("profit_small").path, tmp_path / "short")
    file = tmp_path / "short" / "summer.csv"
    lines = file.read_text().replace("172800", "86400").splitlines()
    file.write_text("\n".join(x for x in lines if not x[0].isdigit() or int(x.split(",")[0]) < 86400) + "\n")
    code, _, err = bench(
        "simulate", tmp_path / "short", "--dispatchers", "hybrid:50-r", *SUMMER, "--out", tmp_path / "out"
    )
    assert code == 2 and "summer.csv, time_s: expected values from 0 s to 171480 s" in " ".join(err.split())
