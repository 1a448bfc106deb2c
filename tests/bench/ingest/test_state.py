"""States of machines from small samples of the JSON of Slurm (23.02 to 24.11) and PBS Professional."""

import json

import pytest
from schedlab.instances.sites.machine_state import read_state

NOW = 1_755_290_400


def n(value):
    return {"set": True, "infinite": False, "number": value}


UNSET = {"set": False, "infinite": False, "number": 0}
JOBS = {
    "last_update": n(NOW),
    "jobs": [
        {
            "job_id": 42, "job_state": ["RUNNING"], "partition": "cpu", "nodes": "c[01-02]", "cpus": n(6),
            "node_count": n(2), "start_time": n(NOW - 60), "submit_time": n(NOW - 90), "time_limit": n(10),
            "tres_alloc_str": "cpu=6,mem=4G,node=2,billing=6", "user_name": "ada", "name": "sim",
            "job_resources": {"nodes": {"allocation": [
                {"name": "c01", "cpus": {"count": 4}, "memory": {"used": 0, "allocated": 3000}},
                {"name": "c02", "cpus": {"count": 2}, "memory": {"used": 0, "allocated": 1000}},
            ]}},
        },
        {
            "job_id": 43, "job_state": ["RUNNING"], "partition": "gpu", "nodes": "g01", "cpus": n(3),
            "node_count": n(1), "start_time": n(NOW - 60), "submit_time": n(NOW - 90),
            "time_limit": {"set": True, "infinite": True, "number": 0},
            "tres_alloc_str": "cpu=3,mem=2000M,node=1,gres/gpu=1,gres/gpu:l40s=1", "array_job_id": n(40),
            "array_task_id": n(7),
        },
        {
            "job_id": 50, "job_state": ["PENDING"], "partition": "cpu", "cpus": n(8), "node_count": n(2), "nodes": "",
            "submit_time": n(NOW - 50), "eligible_time": n(NOW - 50), "time_limit": n(60), "state_reason": "Resources",
            "tres_req_str": "cpu=8,mem=2000M,node=2,billing=8", "start_time": UNSET, "user_name": "bob",
        },
        {
            "job_id": 51, "job_state": ["PENDING"], "partition": "gpu", "cpus": n(1), "node_count": n(1),
            "submit_time": n(NOW - 40), "time_limit": n(5), "state_reason": "Dependency",
            "tres_req_str": "cpu=1,mem=100M,node=1,gres/gpu=2", "array_task_string": "1-3%1", "array_job_id": n(51),
        },
        {"job_id": 52, "job_state": ["COMPLETING"], "partition": "cpu", "nodes": "c03"},
    ],
}  # fmt: skip
NODES = {
    "nodes": [
        {"name": f"c0{k}", "cpus": 8, "alloc_cpus": used, "real_memory": 16000, "alloc_memory": memory, "gres": "",
         "gres_used": "", "state": state, "partitions": ["cpu"]}
        for k, used, memory, state in [
            (1, 4, 3000, ["MIXED"]), (2, 2, 1000, ["MIXED"]), (3, 5, 0, ["IDLE", "COMPLETING"]),
            (4, 0, 0, ["IDLE", "DRAIN"]), (5, 0, 0, ["DOWN", "NOT_RESPONDING"])]
    ] + [{"name": "g01", "cpus": 8, "alloc_cpus": 3, "real_memory": 16000, "alloc_memory": 2000,
          "gres": "gpu:l40s:4(S:0-1)", "gres_used": "gpu:l40s:1(IDX:0)", "state": ["MIXED"], "partitions": ["gpu"]}]
}  # fmt: skip


def imported(bench, folder, jobs, nodes, *options):
    for name, values in (("jobs", jobs), ("nodes", nodes)):
        (folder / f"{name}.json").write_text(json.dumps(values))
    code, out, err = bench(
        "import", "state", folder / "jobs.json", folder / "nodes.json", "--out", folder / "state.json", *options
    )
    assert code == 0, err
    return read_state(folder / "state.json"), out


def test_licences_of_slurm_come_from_a_file_of_their_own(bench, tmp_path):
    job = {
        "job_id": 1, "job_state": ["PENDING"], "state_reason": "Licenses", "partition": "p", "node_count": 1, "time_limit": 60,
        "submit_time": 1_700_000_000, "priority": 5, "tres_req_str": "cpu=1,node=1", "licenses": "matlab:2",
    }  # fmt: skip
    node = {"name": "c1", "cpus": 4, "real_memory": 1000, "state": ["IDLE"], "partitions": ["p"]}
    (tmp_path / "jobs.json").write_text(json.dumps({"jobs": [job], "last_update": 1_700_000_060}))
    (tmp_path / "nodes.json").write_text(json.dumps({"nodes": [node]}))
    (tmp_path / "lic.txt").write_text("LicenseName=matlab\n    Total=20 Used=18 Free=2 Reserved=0 Remote=no\n")
    (tmp_path / "odd.txt").write_text("LicenseName=matlab Total=20\n")
    words = ["import", "state", tmp_path / "jobs.json", tmp_path / "nodes.json", "--out", tmp_path / "state.json"]
    for more, starts in (((), 0), (("--licences", tmp_path / "lic.txt"), 1)):
        assert bench(*words, *more)[0] == 0
        code, out, err = bench("decide", tmp_path / "state.json")
        assert code == 0 and len(json.loads(out)["starts"]) == starts, err
    code, out, err = bench(*words, "--licences", tmp_path / "odd.txt")
    assert code == 2 and "licence 'matlab': Free is ''; expected a number" in err
    code, out, err = bench(*words, "--licences", tmp_path / "none.txt")
    assert code == 2 and "none.txt" in err


def test_slurm(bench, tmp_path):
    state, out = imported(bench, tmp_path, JOBS, NODES)
    assert "left out: 1 job in state COMPLETING" in out
    assert state.now == NOW and state.states == ("up", "up", "up", "draining", "down", "up")
    cores = dict(zip(state.platform.nodes, (v[0] for v in state.platform.capacity.values()), strict=True))
    assert cores == {"c01": 8, "c02": 8, "c03": 3, "c04": 8, "c05": 8, "g01": 8}, "c03: 5 cores of the job that ends"
    held = {(r.job.id, node): dict(r.job.request) for r in state.running for node in r.nodes}
    assert held["42", "c01"] == {"cores": 4, "memory": 3000} and held["42+1", "c02"] == {"cores": 2, "memory": 1000}
    assert held["40_7", "g01"] == {"cores": 3, "memory": 2000, "gpus": 1}
    assert {r.job.id: r.end - NOW for r in state.running}["42"] == 540
    (job,) = state.waiting
    assert (job.id, job.units, job.walltime, job.user) == ("50", 2, 3600, "bob")
    assert (job.request, job.queue, job.per_node) == ({"cores": 4, "memory": 1000}, "cpu", 1)
    assert {q.name: q.nodes for q in state.queues}["cpu"] == ("c01", "c02", "c03", "c04", "c05")
    assert state.left_out == {f"51_{k}": "Dependency" for k in (1, 2, 3)}


@pytest.mark.parametrize("files", ["slurm", "pbs"])
@pytest.mark.parametrize("now", ["17", "0", str(10**11), str(10**25), "-1", "noon", "1.5"])
def test_a_wrong_time_of_the_state_is_an_error(bench, tmp_path, files, now):
    """What is written can be read by bench decide: no job runs since a later time."""
    pair = (JOBS, NODES) if files == "slurm" else (PBS_JOBS, PBS_NODES)
    for name, values in zip(("jobs", "nodes"), pair, strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(values))
    out = tmp_path / "state.json"
    code, _, err = bench(
        "import", "state", tmp_path / "jobs.json", tmp_path / "nodes.json", "--out", out, f"--now={now}"
    )
    assert code == 2 and "--now" in err and not out.exists()
    if now in ("17", "0"):
        assert f"--now {now} is before the start of job" in err


def test_a_job_stays_in_its_partition(bench, tmp_path):
    """c01 and c02 have 4 and 6 free cores; g01 has 5, in another partition."""
    imported(bench, tmp_path, JOBS, NODES)
    code, out, err = bench("decide", tmp_path / "state.json")
    assert code == 0, err
    assert set(json.loads(out)["starts"][0]["nodes"]) == {"c01", "c02"}


def test_nodes_from_sinfo(bench, tmp_path):
    sinfo = [
        {
            "partition": {"name": node["partitions"][0]}, "node": {"state": node["state"]},
            "nodes": {"nodes": [node["name"]], "total": 1}, "gres": {"total": node["gres"], "used": node["gres_used"]},
            "cpus": {"allocated": node["alloc_cpus"], "total": 8, "minimum": 8, "maximum": 8},
            "memory": {"minimum": 16000, "maximum": 16000, "allocated": node["alloc_memory"]},
        }
        for node in NODES["nodes"]
    ]  # fmt: skip
    assert imported(bench, tmp_path, JOBS, {"sinfo": sinfo})[0] == imported(bench, tmp_path, JOBS, NODES)[0]


def test_slurm_without_allocations_shares_in_equal_parts(bench, tmp_path):
    """Versions before 24.05 and other select plugins give no cores per node."""
    jobs = json.loads(json.dumps(JOBS))
    jobs["jobs"][0] |= {"job_resources": {"nodes": "c[01-02]", "allocated_hosts": 2}, "job_state": "RUNNING"}
    state, _ = imported(bench, tmp_path, jobs, NODES)
    assert {r.job.id: r.job.request["cores"] for r in state.running if r.job.id.startswith("42")} == {"42": 3}


PBS_JOBS = {
    "timestamp": 1479277336, "pbs_version": "14.1", "pbs_server": "vbox",
    "Jobs": {
        "1.vbox": {
            "Job_Name": "STDIN", "Job_Owner": "root@vbox", "job_state": "R", "queue": "workq",
            "ctime": "Wed Nov 16 06:20:05 2016", "stime": "Wed Nov 16 06:21:16 2016", "Hold_Types": "n",
            "exec_vnode": "(a:ncpus=2:mem=1048576kb)+(a:ncpus=2:mem=1048576kb)+(b:ncpus=2)",
            "Resource_List": {"ncpus": 6, "nodect": 3, "select": "2:ncpus=2:mem=1gb+1:ncpus=2", "walltime": "01:00:00"},
        },
        "2.vbox": {
            "job_state": "Q", "queue": "workq", "Job_Owner": "ada@vbox", "ctime": "Wed Nov 16 06:00:00 2016",
            "Hold_Types": "n", "Resource_List": {"select": "2:ncpus=4:ngpus=1", "walltime": "00:30:00"},
        },
        "3[].vbox": {
            "job_state": "B", "queue": "workq", "ctime": "Wed Nov 16 06:00:00 2016", "Hold_Types": "n",
            "array": "True", "array_indices_remaining": "2-3", "Resource_List": {"select": "1:ncpus=1"},
        },
        "4.vbox": {
            "job_state": "H", "queue": "workq", "ctime": "Wed Nov 16 06:00:00 2016", "Hold_Types": "u",
            "Resource_List": {"ncpus": 1, "nodect": 1},
        },
    },
}  # fmt: skip
PBS_NODES = {
    "timestamp": 1479277336,
    "nodes": {
        name: {"state": state, "pcpus": 8, "resources_available": {"ncpus": 8, "mem": "16777216kb", "ngpus": 1},
               "resources_assigned": assigned}
        for name, state, assigned in [
            ("a", "free", {"ncpus": 4, "mem": "2097152kb"}), ("b", "job-exclusive", {"ncpus": 2}),
            ("c", "free", {}), ("d", "offline,job-busy", {}), ("e", "down", {})]
    },
}  # fmt: skip


def test_pbs(bench, tmp_path):
    state, _ = imported(bench, tmp_path, PBS_JOBS, PBS_NODES)
    assert state.now == 1479277336 and state.states == ("up", "up", "up", "draining", "down")
    held = {node: dict(r.job.request) for r in state.running for node in r.nodes}
    assert held == {"a": {"cores": 4, "memory": 2048}, "b": {"cores": 8, "memory": 16384, "gpus": 1}}
    assert state.running[0].end == state.now - 60 + 3600, "started at 06:21:16 UTC, a minute before"
    assert [(j.id, j.units, j.walltime) for j in state.waiting] == [
        ("2.vbox", 2, 1800), ("3[2].vbox", 1, 31536000), ("3[3].vbox", 1, 31536000)
    ]  # fmt: skip
    assert state.waiting[0].request == {"cores": 4, "gpus": 1, "memory": 0} and state.left_out == {"4.vbox": "held (u)"}
    rome, _ = imported(bench, tmp_path, PBS_JOBS, PBS_NODES, "--zone", "Europe/Rome")
    assert rome.waiting[0].submit == state.waiting[0].submit - 3600


@pytest.mark.parametrize(
    ("jobs", "nodes", "why"),
    [
        (JOBS, PBS_NODES, "the files are squeue and pbsnodes"),
        (JOBS, {"x": 1}, "neither jobs nor nodes"),
        (JOBS, {"nodes": []}, "there are no nodes"),
        ({"jobs": []}, NODES, "expected --now SECONDS"),
        ({"jobs": [{"job_state": ["PENDING"]}], "last_update": 1}, NODES, "a field is missing"),
        (PBS_JOBS | {"Jobs": {"1": {"job_state": "Q", "ctime": "x"}}}, PBS_NODES, "expected a time such as"),
    ],
)
def test_what_is_not_understood_is_said(bench, tmp_path, jobs, nodes, why):
    for name, values in (("jobs", jobs), ("nodes", nodes)):
        (tmp_path / f"{name}.json").write_text(json.dumps(values))
    code, _, err = bench(
        "import", "state", tmp_path / "jobs.json", tmp_path / "nodes.json", "--out", tmp_path / "state.json"
    )
    assert code == 2 and why in err


def test_jobs_and_nodes_of_two_machines_are_refused_and_jobs_on_a_part_of_the_nodes_are_told(
    bench, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    job = {
        "job_id": 1, "job_state": ["RUNNING"], "partition": "p", "cpus": 4, "node_count": 2, "nodes": "n[1-2]", "start_time": 90,
        "submit_time": 80, "time_limit": 60, "tres_alloc_str": "cpu=4,node=2",
    }  # fmt: skip
    (tmp_path / "jobs.json").write_text(json.dumps({"jobs": [job], "last_update": 100}))
    for first, code, said in ((3, 2, "not of one machine: 1 job runs, and none of them on a node of the list (n3 and n4)"),
                              (2, 0, "left out: 1 part of running jobs, on nodes that are not in the list"), (1, 0, "")):  # fmt: skip
        nodes = [
            {"name": f"n{k}", "cpus": 4, "real_memory": 10, "state": ["IDLE"], "partitions": ["p"]}
            for k in (first, first + 1)
        ]
        (tmp_path / "nodes.json").write_text(json.dumps({"nodes": nodes}))
        done, out, err = bench("import", "state", "jobs.json", "nodes.json", "--out", "state.json")
        assert done == code, out + err
        assert said in " ".join((out + err).split())
        assert said or "part of" not in out
