"""Every option of the commands that write records: the record is read, verified, drawn, and not run again.

The options come from the commands themselves: a new option without a case fails ``test_every_option_has_a_case``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from itertools import chain

import pytest
from schedlab.bench.cli.app import _command
from schedlab.bench.records import files, read
from schedlab.bench.records.store import REPLAY, fault_of, first_fault
from schedlab.bench.replays import ReplaySettings
from shared_data import DATA

pytestmark = pytest.mark.usefixtures("in_process")

LOG = "; UnixStartTime: 0\n; MaxProcs: 8\n" + "\n".join(
    f"{k} {600 * k} {60 * (k % 3)} {1800 + 60 * k} {1 + k % 4} -1 100 {1 + k % 4} 7200 200 1 {k % 3 + 1} 1 1 {k % 2 + 1} {k % 2 + 1} "
    f"{k - 1 if k % 5 == 0 else -1} -1"
    for k in range(1, 41)
)
SACCT = "\n".join(
    f"{k}|2024-05-01T08:{k:02}:05|2024-05-01T08:{k:02}:05|2024-05-01T09:05:00|02:00:00|1|2|COMPLETED"
    for k in range(1, 12)
)
STUDY = """\
reference = "Made2020"
dispatchers = ["fcfs", "sjf"]
decision_time = 0.1
charge = true

[[exhibits]]
name = "Table 1"
caption = "waits"
dispatchers = ["fcfs", "sjf"]
drawing = "bars"
quantities = [{ figure = "wait_mean", heading = "wait, s", values = { fcfs = 25, sjf = 100 } }]
"""
FILES = {
    "log.swf": LOG,
    "sacct.txt": SACCT,
    "jobs.txt": SACCT.replace("|COMPLETED", "|COMPLETED|batch"),
    "slurm.conf": "ClusterName=lab\nNodeName=n[1-2] CPUs=16\nPartitionName=batch Nodes=n[1-2] Default=YES",
    "wish.csv": "time_s,resource,share\n0,cores,0.5\n",
    "whole.csv": "time_s,resource,share\n0,cores,1\n",
    "events.csv": "time,kind,nodes\n3600,node-down,node-1\n7200,node-up,node-1\n",
    "prices.csv": "time_s,euro_per_kwh\n0,0.1\n9000000,0.2\n",
    "carbon.csv": "time_s,g_co2_per_kwh\n0,300\n9000000,400\n",
    "study.toml": STUDY,
}
COLUMNS = "JobID,Submit,Start,End,Timelimit,NNodes,NCPUS,State"
MACHINE = "--nodes 8 --cores 1"
# command: name of a case -> the words of the command line
CASES: Mapping[str, Mapping[str, str]] = {
    "simulate": {
        "machine": f"log.swf --format swf {MACHINE} --memory 1000 --first 20 --dispatchers fcfs,easy --seeds 1-2 --jobs 1 --starts starts.csv",
        "columns of the log": f"log.swf {MACHINE} --queue-from partition --partition 1,2 --dependencies --latest-start mean-wait",
        "load": f"log.swf {MACHINE} --load 0.9,1.1 --kill --period 600 --bsld-floor 60 --by user",
        "window": f"log.swf {MACHINE} --window 1970-01-01T01:00:3h --busy reset --time-limit 100",
        "sacct": f"sacct.txt --zone Europe/Rome --columns {COLUMNS} --nodes 2 --cores 16 --per-node gpus=2",
        "site": f"jobs.txt --site slurm.conf --on-unknown skip --cancelled --columns {COLUMNS},Partition",
        "rules of the site": f"jobs.txt --site slurm.conf --columns {COLUMNS},Partition --dispatchers slurm:bf_interval=15,easy",
        "batch": f"{DATA}/eurora_2014/eurora_jobs_unique.csv --batch 1 --first 20 --dispatchers easy",
        "decision in seconds": "eurora_99 --first 8 --dispatchers hcp3@cpsat --decision-time 0.05 --objective makespan --threads 1",
        "decision in units": "eurora_99 --first 8 --dispatchers hcp3@cpsat --deterministic 0.1 --max-stretch 50",
        "no stretch": "eurora_99 --first 8 --dispatchers pcp3@cpsat --deterministic 0.1 --max-stretch off",
        "nodes": "eurora_99 --first 20 --allocator first-fit --predictor last-two --charge --drop-impossible --explain",
        "events": f"log.swf {MACHINE} --events events.csv --requeue checkpoint:600",
        "users": f"log.swf {MACHINE} --users di:seed=2 --dispatchers easy",
        "power": f"log.swf {MACHINE} --power-cap 100W,60W --watts-per-core 10 --dispatchers easy",
        "desired": f"log.swf {MACHINE} --desired wish.csv --dispatchers easy,easy-profile",
        "on demand": f"log.swf {MACHINE} --on-demand stream:rate=40:start_within=900:seed=1 --evictor kill,dp --checkpoints fixed:600 "
        "--restart 60 --shared-bandwidth --dispatchers easy",
        "failures": f"log.swf {MACHINE} --failures 50:repair=600:seed=1 --dispatchers easy",
        "switched": f"log.swf {MACHINE} --node-policy idle:10min --boot 100s --shut-down 30s --min-off 5min --idle-watts 3 "
        "--boot-watts 4 --watts-per-core 10 --prices prices.csv --carbon carbon.csv --dispatchers easy",
        "scenario": "profit_small --scenario air,summer,cheap --node-policy idle:10min --dispatchers easy",
        "study": f"log.swf {MACHINE} --study study.toml",
    },
    "run": {
        "snapshot": "eurora_99 --at 12:00 --first 8 --durations runtime --objective makespan --methods multi-search "
        "--time-limit 2 --threads 1 --seeds 2-3 --jobs 1 --memory 8 --drop-impossible --explain",
        "kept": "eurora_99 --at 12:00 --first 8 --objective makespan --keep weighted-tardiness=1.5 --methods multi-search "
        "--time-limit 4 --threads 1",
        "desired, hard": "eurora_99 --at 12:00 --first 8 --desired whole.csv --profile hard --methods multi-search --time-limit 2",
        "desired, soft": "eurora_99 --at 12:00 --first 8 --desired wish.csv --profile soft:0.5 --methods multi-search --time-limit 2",
        "nodes needed": "theta_12 --nodes-needed 400 --methods dp,greedy --time-limit 2",
        "scenario": "profit_small --scenario air,summer,cheap --methods rule:est --time-limit 2",
        "replays": "eurora_99 --first 8 --methods easy,hcp3@cpsat --time-limit 30",
        "data": "classic --data shops --methods multi-sgs --time-limit 2 --known literature --log",
    },
    "dardis": {
        "network": "log.swf --nodes 8 --cores 1 --setups first/min-start --transport simulate --processes 3 --lost 0.01 --late 0.02 "
        "--fault 2@500 --seeds 1-2 --jobs 1 --time-limit 100 --drop-impossible --explain",
        "log": f"log.swf --format swf {MACHINE} --memory 1000 --first 20 --queue-from partition --partition 1,2 --dependencies "
        "--latest-start 3600 --load 0.9 --bsld-floor 60 --by user --starts starts.csv --desired wish.csv --processes 2",
        "window": f"log.swf {MACHINE} --window 1970-01-01T01:00:3h --kill --processes 2",
        "events": f"log.swf {MACHINE} --events events.csv --requeue drop --processes 2",
        "sacct": f"sacct.txt --zone Europe/Rome --columns {COLUMNS} --nodes 2 --cores 16 --per-node gpus=2 --processes 2",
    },
}
RENDERED = {next(iter(cases)) for cases in CASES.values()}  # of the other pages, the figures are made and not rendered
LEFT_OUT = {  # options that do not change what a record says, and why
    "out": "every case has it",
    "dry_run": "writes no record",
    "as_json": "prints the same records",
    "retry": "runs failed runs again",
    "again": "runs all runs again",
    "executor": "where a run is performed is no part of its record",
    "dask": "as executor",
    "slurm": "as executor",
    "timer": "for mpi and dask alone; test_dardis has records of these",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Make a folder with all input files the current one."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text + "\n")
    (tmp_path / "shops").mkdir()
    (tmp_path / "shops" / "two.txt").write_text("2 2\n0 3 1 2\n1 4 0 1\n")
    return tmp_path


@pytest.mark.parametrize("command", CASES)
def test_every_option_has_a_case(command):
    used = set(re.findall(r"(?<= )--[a-z-]+", " ".join(CASES[command].values())))
    options = [p for p in _command(command).params if p.param_type_name == "option" and p.name not in LEFT_OUT]
    assert [p.opts[0] for p in options if not used.intersection(p.opts)] == []
    known = set(chain.from_iterable(p.opts for p in _command(command).params))
    assert used <= known


@pytest.mark.parametrize(("command", "case"), [(command, case) for command, cases in CASES.items() for case in cases])
def test_a_record_is_read_verified_drawn_and_not_made_again(bench, here, request, command, case):
    if case not in RENDERED:
        request.getfixturevalue("unrendered")
    words = CASES[command][case].split()
    if words[0].startswith(str(DATA)) and not DATA.is_dir():
        pytest.skip("the log of Eurora is not on this machine")
    code, out, err = bench(command, *words, "--out", "out")
    assert code == 0, out + err
    paths = files(here / "out")
    assert paths
    before = {path.name: path.read_bytes() for path in paths}
    for path in paths:
        assert first_fault(json.loads(path.read_text())) is None
    code, out, err = bench("verify", "out")
    assert code == 0, out + err
    # the report draws replays as the page of plot does
    replayed = any(read(path)["replay"] is not None for path in paths)
    for reader in ("plot", "report") if replayed and case in RENDERED else ("report",):
        code, out, err = bench(reader, "out", "--out", f"{reader}.html")
        assert code == 0 and (here / f"{reader}.html").stat().st_size > 1000, out + err
    code, out, err = bench(command, *words, "--out", "out")
    assert code == 0 and err.count("(kept)") == len(paths) and "run again" not in err, err
    assert {path.name: path.read_bytes() for path in files(here / "out")} == before


def test_the_form_of_a_replay_has_every_setting():
    assert fault_of(REPLAY, ReplaySettings(trace=True, batch=2).fields) is None
    wrong = [fault_of(REPLAY, {field.name: {}}).where for field in fields(ReplaySettings)]
    assert wrong == [field.name for field in fields(ReplaySettings)]
