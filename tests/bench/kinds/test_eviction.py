"""The bench on eviction problems: instance folders, records for every deadline, table, verification, page."""

import json
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.bench import View, defaults, key_of
from schedlab.bench.cli.app import main
from schedlab.bench.kinds.eviction import EvictionResults, EvictionRow
from schedlab.bench.records import files, read
from schedlab.instances import InstanceError, generators, load, write

SETTINGS = 'kind = "eviction"\nnodes_needed = 100\ndeadline_s = 200\nstep_s = 60\n'
JOBS = "id,nodes,loss,system_s,application_s\na,64,7200,90,\nb,64,3600,300,200.5\nc,10,0,,\n"
pytestmark = pytest.mark.usefixtures("in_process")
METHODS = "dp,greedy,backtracking,cpsat:serial,highs:serial"


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("instances") / "small"
    return written(folder)


def written(folder: Path, settings: str = SETTINGS, jobs: str = JOBS) -> Path:
    folder.mkdir()
    (folder / "instance.toml").write_text(settings)
    (folder / "jobs.csv").write_text(jobs)
    return folder


@pytest.fixture(scope="module")
def results(small, tmp_path_factory) -> Path:
    """Return the folder with the records of five methods."""
    out = tmp_path_factory.mktemp("results")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(small), "--methods", METHODS, "--out", str(out)])
    assert not ended.value.code
    return out


@pytest.fixture(scope="module")
def records(results) -> dict[str, dict]:
    return {r["method"]: r for r in map(read, files(results))}


def faults(folder: Path) -> list[tuple[str, int | None, str]]:
    with pytest.raises(InstanceError) as caught:
        load(folder)
    return [(f.file, f.line, f.field) for f in caught.value.faults]


class TestFolders:
    def test_the_four_numbers_of_each_job(self, small: Path) -> None:
        p = load(small).eviction
        assert [(c.id, c.nodes, c.loss, c.system_s, c.application_s) for c in p.candidates] == [
            ("a", 64, 7200, 90, None), ("b", 64, 3600, 300, 200.5), ("c", 10, 0, None, None),
        ]  # fmt: skip
        assert (p.nodes_needed, p.deadline_s, p.step_s, p.steps) == (100, 200, 60, 3)

    @pytest.mark.parametrize("name", ["theta_12", "theta_16", "theta_24"])
    def test_shipped_moments_are_what_the_generator_makes(self, name: str, tmp_path: Path) -> None:
        shipped = load(name)
        jobs, seed = shipped.generator["jobs"], shipped.generator["seed"]
        again = generators["theta"](jobs, seed)
        assert again.problem == shipped.problem
        p = shipped.eviction
        assert (len(p.jobs), p.nodes_in_use, p.steps) == (int(name.removeprefix("theta_")), 4352, 15)
        assert sorted({p.nodes_needed, *shipped.nodes_compared}) == [512, 1024, 2048]
        write(again, tmp_path / name)
        for file in ("instance.toml", "jobs.csv"):
            assert (tmp_path / name / file).read_bytes() == (shipped.path / file).read_bytes()

    def test_direct_numbers_survive_writing(self, small: Path, tmp_path: Path) -> None:
        write(load(small), tmp_path / "copy")
        assert load(tmp_path / "copy").problem == load(small).problem

    def test_generated_moments_of_other_sizes(self) -> None:
        for jobs, nodes in ((1, 2), (5, 10), (100, 10_000), (200, 4352)):
            p = generators["theta"](jobs, 2, nodes=nodes).problem
            assert (len(p.jobs), p.nodes_in_use) == (jobs, nodes)
        with pytest.raises(ValueError, match="1 to 50 jobs"):
            generators["theta"](51, 1, nodes=100)

    @pytest.mark.parametrize(
        ("old", "new", "place"),
        [
            ("a,64,", "a,-64,", ("jobs.csv", 2, "nodes")),
            ("b,64,3600,300", "b,64,3600,-300", ("jobs.csv", 3, "system_s")),
            ("b,64,3600,300", "b,64,3600,nan", ("jobs.csv", 3, "system_s")),
            ("c,10,0", "c,10,-1", ("jobs.csv", 4, "loss")),
            ("c,10,0", "a,10,0", ("jobs.csv", 4, "id")),
            ("application_s", "app_s", ("jobs.csv", 1, "application_s")),
            ("nodes_needed = 100", "nodes_needed = 139", ("instance.toml", 2, "nodes_needed")),
            ("nodes_needed = 100\n", "", ("instance.toml", None, "nodes_needed")),
            ("step_s = 60", "step_s = 0", ("instance.toml", 4, "step_s")),
            ("step_s = 60", "shared_bandwidth = true", ("instance.toml", None, "problem")),
            ("step_s = 60", "steps = 60", ("instance.toml", 4, "steps")),
        ],
    )
    def test_every_fault_has_its_place(self, tmp_path: Path, old: str, new: str, place: tuple) -> None:
        assert old in SETTINGS + JOBS
        folder = written(tmp_path / "bad", SETTINGS.replace(old, new), JOBS.replace(old, new))
        assert place in faults(folder)

    def test_too_many_nodes_are_reported_with_what_can_be_freed(self, tmp_path: Path) -> None:
        folder = written(tmp_path / "bad", SETTINGS.replace("100", "139"))
        with pytest.raises(InstanceError, match="at most 138 nodes"):
            load(folder)

    def test_a_checkpoint_in_the_future_has_its_place(self, tmp_path: Path) -> None:
        settings = SETTINGS + "now_s = 1000\nfile_system_mb_s = 100\nnode_mb_s = 10.5\n"
        head = "id,nodes,start,last_checkpoint,next_checkpoint,memory_mb,application_share\n"
        good = written(tmp_path / "good", settings, head + "a,150,0,,1500,100,0.5\n")
        assert load(good).eviction.candidates[0].loss == 150_000
        bad = written(tmp_path / "bad", settings, head + "a,150,0,1001,1500,100,0.5\nb,1,0,,900,100,1.5\n")
        assert faults(bad) == [
            ("jobs.csv", 2, "last_checkpoint"), ("jobs.csv", 3, "application_share"), ("jobs.csv", 3, "next_checkpoint"),
        ]  # fmt: skip


class TestRuns:
    def test_the_record_of_each_method(self, records: dict[str, dict]) -> None:
        exact = [[0, 10800, 0], [60, 10800, 0], [120, 3600, 120], [180, 3600, 120]]
        for method in METHODS.split(","):
            r = records[method]
            assert (r["objective"], r["verified"]) == ([3600, 120], True)
            in_vain = "kill" if method == "greedy" else "keep"  # it begins to kill where least is lost
            assert r["schedule"] == {"a": "sys", "b": "kill", "c": in_vain}
            assert r["deadlines"] == exact
            assert [row[0] for row in r["response_s"]] == [0, 60, 120, 180]
            assert r["all_deadlines_s"] > 0 and r["nodes_needed"] == 100
            assert r["status"] == ("feasible" if method == "greedy" else "optimal")
        assert records["dp"]["bound"] == [3600, 120] and records["dp"]["gap"] == [0, 0]
        assert records["greedy"]["bound"] is None

    def test_records_hold_and_a_changed_one_does_not(self, bench, results: Path, tmp_path: Path) -> None:
        assert bench("verify", results)[0] == 0
        r = next(r for r in map(read, files(results)) if r["method"] == "dp")
        changes = {
            "better than the optimum": {"deadlines": [[120, 0, 0], [180, 3600, 120]]},
            "as the optimum for the deadline 120 s": {"deadlines": [[120, 7200, 0], [180, 3600, 120]]},
            "job 'a' cannot take": {"schedule": {"a": "app", "b": "kill", "c": "keep"}},
            "its schedule has (10800, 0)": {"schedule": {"a": "kill", "b": "kill", "c": "keep"}},
            "its bound": {"bound": [3600, 180]},
        }
        for said, change in changes.items():
            (tmp_path / "dp.json").write_text(json.dumps(r | change))
            code, out, _ = bench("verify", tmp_path)
            assert code == 1 and said in out, said

    def test_somebody_elses_plan(self, bench, small: Path, tmp_path: Path) -> None:
        plan = tmp_path / "plan.json"
        plan.write_text('{"a": "sys", "b": "kill", "c": "keep"}')
        code, out, _ = bench("verify", plan, "--instance", small)
        assert code == 0 and "objective (3600, 120)" in out
        plan.write_text('{"a": "sys", "b": "keep", "c": "keep"}')
        code, out, _ = bench("verify", plan, "--instance", small)
        assert code == 1 and "64 nodes are freed" in out
        plan.write_text('{"a": "stop"}')
        code, _, err = bench("verify", plan, "--instance", small)
        assert code == 2 and "keep, kill, app, sys" in err

    def test_the_table(self, bench, small: Path, results: Path) -> None:
        code, out, _ = bench("run", small, "--methods", METHODS, "--out", results)  # all are kept
        assert code == 0
        row = next(line.split() for line in out.splitlines() if line.startswith("dp"))
        assert row[:5] == ["dp", "optimal", "1.0", "120", "0.0"] and row[-1] == "yes" and "4/4" in row
        assert "3.0 node-h in 0 s, 1.0 node-h in 120 s" in " ".join(out.split())

    def test_another_number_of_nodes(self, bench, small: Path, tmp_path: Path) -> None:
        code, out, _ = bench("run", small, "--methods", "dp", "--nodes-needed", 64, "--out", tmp_path, "--json")
        r = json.loads(out)
        assert code == 0 and r["nodes_needed"] == 64 and r["view"]["nodes_needed"] == 64
        assert r["objective"] == [0, 120]
        assert key_of(r) == r["key"]
        assert bench("verify", tmp_path)[0] == 0
        code, _, err = bench("run", small, "--methods", "dp", "--nodes-needed", 999, "--out", tmp_path)
        assert code == 2 and "at most 138" in err
        assert bench("run", "eurora_99", "--methods", "multi-search", "--nodes-needed", 1)[0] == 2

    def test_a_dispatcher_has_no_business_here(self, bench, small: Path) -> None:
        assert bench("run", small, "--methods", "multi-search")[0] == 2
        code, _, err = bench("run", small, "--methods", "easy")
        assert code == 2 and "easy is a dispatcher" in err

    def test_what_is_run_by_default(self) -> None:
        known = defaults(load("theta_24"))
        assert list(known) == [View(), View(nodes_needed=512), View(nodes_needed=1024)]
        assert [d.method for d in known[View()]] == [
            "auto",
            "dp",
            "greedy",
            "backtracking",
            "cpsat:serial",
            "highs:serial",
            "cpo:serial",
        ]

    def test_side_by_side(self, bench, tmp_path: Path) -> None:
        jobs = "id,nodes,loss,system_s,application_s,wait_s,mb_s\n" + "".join(f"{x},2,100,60,,,100\n" for x in "abc")
        settings = (
            'kind = "eviction"\nnodes_needed = 4\ndeadline_s = 60\nfile_system_mb_s = 200\nshared_bandwidth = true\n'
        )
        folder = written(tmp_path / "shared", settings, jobs)
        code, out, _ = bench("run", folder, "--methods", "dp,cpsat:shared+warm", "--out", tmp_path / "out", "--json")
        dp, cpsat = (json.loads(line) for line in out.splitlines())
        assert code == 0 and (dp["objective"], dp["status"]) == ([100, 60], "feasible")
        assert (cpsat["objective"], cpsat["status"]) == ([0, 60], "optimal")
        assert cpsat["deadlines"] == [[0, 200, 0], [60, 0, 60]]
        assert sorted(str(e) for e in cpsat["schedule"].values()).count("keep") == 1
        assert bench("verify", tmp_path / "out")[0] == 0

    def test_list_and_show(self, bench) -> None:
        code, out, _ = bench("list")
        assert code == 0 and "theta_24" in out and "4352" in out
        code, out, _ = bench("show", "theta_24")
        assert code == 0 and "2,048 of 4,352 nodes within 900 s" in out


class TestResults:
    def test_a_bound_that_a_plan_refutes(self, records: dict[str, dict]) -> None:
        assert EvictionResults(list(records.values())).contradiction is None
        wrong = records["dp"] | {"method": "wrong", "objective": None, "verified": None, "bound": [3600, 180]}
        assert "wrong" in str(EvictionResults([*records.values(), wrong]).contradiction)
        open_ended = wrong | {"bound": [3600, None]}
        assert EvictionResults([*records.values(), open_ended]).contradiction is None

    def test_seeds_share_a_line(self, records: dict[str, dict]) -> None:
        worse = records["dp"] | {"objective": [7200, 0], "deadlines": [[180, 7200, 0]]}
        line = EvictionRow("dp", [worse, records["dp"]])
        assert line.answer == (3600, 120) and line.deadlines[180] == (3600, 120)


class TestPage:
    def test_losses_extra_losses_and_response_times(self, bench, results: Path, tmp_path: Path) -> None:
        code, out, _ = bench("plot", results, "--out", tmp_path / "a.html")
        page = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert code == 0 and "5 runs" in out
        assert page.count("<svg ") == 3
        for said in (
            "Least loss",
            "Extra loss of greedy",
            "Response time, 100 nodes to free",
            "loss, node-hours",
            "greedy",
        ):
            assert said in page
        assert "mathdefault" not in page  # the powers of ten of the log scale are plain numbers
        bench("plot", results, "--out", tmp_path / "b.html")
        assert (tmp_path / "b.html").read_text(encoding="utf-8") == page


def test_the_problem_of_the_folder_is_the_problem_of_the_library(small: Path) -> None:
    assert sl.solve(load(small).problem, method="dp").objective == (3600, 120)
