"""Suites, folders and files as arguments of ``bench run``: what is run, and what is refused before anything runs."""

import json
from pathlib import Path

import pytest
import schedlab as sl
from schedlab.backends import UnknownName
from schedlab.bench import BestKnown, RunRequest, WrongUse, choose, collected, new_bests, read_suite, shipped_suites
from schedlab.bench.cli.run import plans_of
from schedlab.bench.runs import suites
from schedlab.instances import load
from shared_data import DATA

EXAMPLES = suites.SHIPPED / "examples"
OWN = """\
seeds = [1, 2]
threads = 1

[[runs]]
instances = ["shops/*.*"]
methods = ["multi-sgs", "cpsat:modes"]
time_limit = 5

[[best_known]]
source = "a guess"
values = { small_project = 23, "small_modes.mm" = 9 }
"""


def suite(folder, text=OWN, names=("small_project.sm", "small_modes.mm")):
    (folder / "shops").mkdir(exist_ok=True)
    for name in names:
        (folder / "shops" / name).write_bytes((EXAMPLES / name).read_bytes())
    (folder / "own.toml").write_text(text)
    return str(folder / "own.toml")


def planned(words, request=None, has_seeds=False, data=None):
    notes = []
    chosen = choose(words, request or RunRequest(), has_seeds, data, load)
    plans = plans_of(chosen, lambda instance: Path("out"), notes)
    return [run for _, runs in plans for run in runs], [*chosen.notes, *notes]


def test_a_suite_has_its_instances_methods_limits_and_seeds(tmp_path):
    runs, _ = planned([suite(tmp_path)])
    assert {r.instance for r in runs} == {"small_project", "small_modes"}
    assert sorted((r.method, r.seed) for r in runs if r.instance == "small_modes") == [
        ("cpsat:modes", 1), ("cpsat:modes", 2), ("multi-sgs", 1),  # it draws nothing: one seed
    ]  # fmt: skip
    assert {(r.time_limit, r.threads) for r in runs} == {(5, 1)}


def test_a_method_for_one_part_of_a_suite_is_not_run_on_the_others():
    runs, notes = planned(["classic"], RunRequest(methods=["multi-sgs", "highs:items"]))
    assert {r.method for r in runs if r.instance == "small_knapsack"} == {"highs:items"}
    assert {r.method for r in runs if r.instance != "small_knapsack"} == {"multi-sgs"}
    assert "small_time_lags" not in {r.instance for r in runs}
    assert any(note.startswith("multi-sgs is not run on project-max problems") for note in notes)
    with pytest.raises(UnknownName, match="lsn"):
        planned(["classic"], RunRequest(methods=["multi-sgs", "lsn"]))


def test_options_of_the_command_line_come_first(tmp_path):
    given = RunRequest(methods=["multi-sgs"], time_limit=2.0, seeds=(7,), threads=2)
    runs, _ = planned([suite(tmp_path)], given, has_seeds=True)
    assert {(r.method, r.seed, r.time_limit, r.threads) for r in runs} == {("multi-sgs", 7, 2.0, 2)}


def test_seed_1_on_the_command_line_is_not_the_default(tmp_path):
    runs, _ = planned([suite(tmp_path)], RunRequest(seeds=(1,)), has_seeds=True)
    assert {r.seed for r in runs} == {1}


def test_a_folder_is_run_file_by_file_and_other_files_are_named(tmp_path):
    suite(tmp_path)
    (tmp_path / "shops" / "SOURCE.txt").write_text("from a book\n")
    runs, notes = planned([str(tmp_path / "shops")], RunRequest(methods=["multi-sgs"]))
    assert [r.instance for r in runs] == ["small_modes", "small_project"]
    assert [n for n in notes if "no instance: SOURCE.txt" in n]


@pytest.mark.parametrize("name", shipped_suites())
def test_a_shipped_suite_can_be_planned(name):
    runs, notes = planned([name])
    assert runs and not notes


def test_the_smoke_suite_takes_two_minutes_at_most():
    from schedlab.bench.runs.progress import worst_case

    assert worst_case(planned(["smoke"])[0], 1) <= 120


def test_the_optima_of_our_examples_are_true():
    values = collected(read_suite("classic").best)
    assert set(values) == {p.stem for p in EXAMPLES.iterdir()}
    for file in EXAMPLES.iterdir():
        found = sl.solve(load(file).problem, backend="cpsat", time_limit=20, threads=1, seed=1)
        assert (found.status, found.objective) == ("optimal", values[file.stem].value)


def test_a_method_runs_on_the_instances_whose_kind_knows_it(tmp_path):
    file = suite(
        tmp_path, OWN.replace('"shops/*.*"', '"shops/*.*", "eurora_99"').replace("cpsat:modes", "multi-search")
    )
    runs, notes = planned([file])
    assert {(r.kind, r.method) for r in runs} == {("project", "multi-sgs"), ("dispatch", "multi-search")}
    assert any("multi-search is not run on project problems" in n for n in notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the suite is empty"),
        ("[[runs]]\n", "expected instances"),
        ('[[runs]]\ninstances = []\n', "at least one text"),
        ('[[runs]]\ninstances = ["nowhere/*.sm"]\n', "nowhere/*.sm: no instance"),
        ('[[runs]]\ninstances = ["shops/*"]\nmethods = ["dp", "greedy"]\n', "'dp'"),
        ('[[runs]]\ninstances = ["shops/*"]\nmethod = ["multi-sgs"]\n', "did you mean methods"),
        ('[[runs]]\ninstances = ["shops/*"]\ntime_limit = "long"\n', "time_limit: expected a whole number or a number"),
        ('[[runs]]\ninstances = ["shops/*"]\ntime_limit = -1\n', "at least 0.001"),
        ('[[runs]]\ndata = ["shops/*"]\n', "give it with --data DIR"),
        ('[[runs]]\ninstances = ["shops/*"]\n[[best_known]]\nvalues = { a = 1 }\n', "expected source"),
        ('[[runs]]\ninstances = ["shops/*"]\n[[best_known]]\nsource = "x"\nvalues = { a = "b" }\n', "expected a number"),
        ("[[runs]\n", "not a suite"),
    ],
)  # fmt: skip
def test_a_wrong_suite_is_refused_before_anything_runs(text, words, tmp_path):
    with pytest.raises((WrongUse, UnknownName)) as e:
        planned([suite(tmp_path, text)])
    assert words in str(e.value)


def test_a_folder_without_instances_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing\n")
    with pytest.raises(WrongUse, match="no instance"):
        planned([str(tmp_path)])


def test_a_pattern_in_quotes_stands_for_its_paths(tmp_path):
    suite(tmp_path)
    runs, _ = planned([str(tmp_path / "shops" / "*.sm"), str(tmp_path / "sh?ps" / "small_project.sm")])
    assert {r.instance for r in runs} == {"small_project"} and len({r.key for r in runs}) == len(runs)
    with pytest.raises(WrongUse, match=r"no instance or suite '.*\*\.jsp'"):
        planned([str(tmp_path / "*.jsp")])


def test_an_unknown_word_names_the_suites():
    with pytest.raises(WrongUse, match="the shipped suites are classic, eurora, profit, smoke, theta"):
        planned(["xyzzy"])


def test_data_are_for_suites(tmp_path):
    with pytest.raises(WrongUse, match="bench run classic"):
        planned(["eurora_99"], data=tmp_path)


def test_files_of_the_data_folder_take_the_place_of_the_examples(tmp_path):
    (tmp_path / "jsp").mkdir()
    text = '[[runs]]\ninstances = ["eurora_99"]\ndata = ["jsp/*.txt"]\nmethods = ["multi-sgs"]\n'
    text += '[[best_known]]\nsource = "s"\nfile = "jsp/best.csv"\ninstance = "file"\nvalue = "ub"\nbound = "lb"\n'
    (tmp_path / "own.toml").write_text(text)
    (tmp_path / "jsp" / "a.txt").write_bytes((EXAMPLES / "small_job_shop.txt").read_bytes())
    (tmp_path / "jsp" / "best.csv").write_text("file,lb,ub\na.txt,18,20\n")
    runs, _ = planned([str(tmp_path / "own.toml")], data=tmp_path)
    assert [r.instance for r in runs] == ["a"]
    assert collected(read_suite(str(tmp_path / "own.toml"), tmp_path).best) == {"a": BestKnown(20, 18, "s")}


def test_a_new_best_is_reported_and_its_schedule_kept(bench, in_process, tmp_path):
    out = tmp_path / "out"
    code, text, said = bench("run", suite(tmp_path), "--methods", "multi-sgs", "--seeds", "1", "--out", out)
    assert code == 0
    assert "new best of small_project: 22 by multi-sgs" in said
    assert "new 4.3%" in text and "10.0%" in text
    kept = out / "new_best" / "small_project.json"
    assert bench("verify", kept, "--instance", tmp_path / "shops" / "small_project.sm")[:2] == (
        0,
        "verified, objective 22\n",
    )
    assert json.loads(kept.read_text())["objective"] == 22
    assert suites.known_values(out)["small_modes"] == BestKnown(9, None, "a guess")
    assert bench("verify", out)[0] == 0


def test_a_schedule_below_a_proven_bound_is_a_contradiction(tmp_path):
    view = {"at": None, "first": None, "durations": "walltime", "objective": None}
    r = {"instance": "a", "view": view, "replay": None, "objective": 17, "verified": True, "sense": "minimize"}
    (new,) = new_bests([r], {"a": BestKnown(20, 18, "s")})
    assert new.refuted
    part = {**r, "view": {**view, "first": 10}}
    assert new_bests([part, {**r, "verified": False}, {**r, "objective": 20}], {"a": BestKnown(20, 18, "s")}) == []


def mixed(folder):
    """Write files of all formats, and some that are none, side by side."""
    for file in EXAMPLES.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / "notes.md").write_text("# Notes\n")
    (folder / "nodes.txt").write_text("0 2 0 2 5 0\n1 2 0 2 5 0\n")  # it begins as a project without tasks would
    (folder / "empty.txt").write_text("")
    (folder / "picture.txt").write_bytes(bytes(range(256)))
    return folder


def test_classic_runs_every_file_of_a_flat_folder(tmp_path):
    runs, notes = planned(["classic"], data=mixed(tmp_path))
    assert {r.instance for r in runs} == {file.name.rpartition(".")[0] for file in EXAMPLES.iterdir()}
    assert {r.method for r in runs if r.instance == "small_knapsack"} == {"cpsat:items", "highs:items"}
    assert {r.method for r in runs if r.instance == "small_time_lags"} == {"cpsat:modes"}
    (note,) = (note for note in notes if "left out" in note)
    assert "8 instances; 4 left out, no instance: " in note and all(
        name in note for name in ("notes.md", "nodes.txt", "empty.txt", "picture.txt")
    )


def test_classic_finds_files_in_folders_and_leaves_out_hidden_ones(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    for place in ("a/b/small_modes.mm", ".git/small_project.sm"):
        (tmp_path / place).write_bytes((EXAMPLES / Path(place).name).read_bytes())
    runs, notes = planned(["classic"], RunRequest(methods=["multi-sgs"]), data=tmp_path)
    assert {r.instance for r in runs} == {"small_modes"} and notes == []


def test_the_list_of_the_literature_and_files_that_extend_it(tmp_path):
    known = suites.given(["literature"])
    assert known["ft10"] == BestKnown(930, 930, "github.com/ScheduleOpt/benchmarks, commit 79f0edc, 2026-06-01")
    assert known["ta33"] == known["ta33js"] and (known["dmu45"].value, known["dmu45"].bound) == (3266, 3217)
    assert known["tai4_4_1"].value == known["ta4x4_1os"].value == 193 and known["mk06"].value == 57
    assert known["j301_1"] == BestKnown(43, None, "solutionsupdate.ugent.be, 2024-09-18")
    assert len(known) > 1000 and all(each.source for each in known.values())
    assert all(each.bound is None or each.bound <= each.value for each in known.values())
    own = tmp_path / "mine.csv"
    own.write_text("instance,value,source,date\nft10.txt,929,a thesis,2026-01-31\nnew,7,,\n")
    both = suites.given(["literature", str(own)])
    assert both["ft10"] == BestKnown(929, None, "a thesis, 2026-01-31") and both["new"] == BestKnown(
        7, None, "mine.csv"
    )
    assert both["la01"] == known["la01"]
    for wrong, told in (("instance\nft10\n", "value"), ("instance,value\nft10,many\n", "many")):
        own.write_text(wrong)
        with pytest.raises((WrongUse, ValueError), match=told):
            suites.given([str(own)])
    with pytest.raises(WrongUse, match="there is no such file; expected a CSV file, or literature"):
        suites.given(["nowhere.csv"])


def test_a_run_is_compared_with_a_list(bench, in_process, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("instance,value,source\nsmall_project,20,a guess\nother,3,a guess\n")
    options = ["--methods", "multi-sgs,cpsat:modes", "--time-limit", 5, "--known", "mine.csv", "--out", "out"]
    code, _out, err = bench("run", EXAMPLES / "small_project.sm", *options)
    assert code == 0 and "new best of small_project: 19" in err and "a guess" in err
    assert list(suites.known_values(tmp_path / "out")) == ["small_project"]
    text = " ".join(bench("statistics", "out")[1].split())
    assert "project problems: best-known values" in text and "better than the best-known values" in text
    assert bench("report", "out", "--out", "r.html", "--latex", "paper")[0] == 0
    rows = (tmp_path / "paper" / "better-project.csv").read_text().splitlines()
    assert rows[0] == "problem,method,objective,best known,gain %" and "small_project,cpsat:modes,19,20,5" in rows
    assert "best-known values of 1 instance: a guess" in (tmp_path / "paper" / "report.tex").read_text()
    code, _, err = bench("run", EXAMPLES / "small_project.sm", "--known", "nowhere.csv")
    assert code == 2 and "--known nowhere.csv" in err


def test_classic_on_a_flat_folder_takes_the_best_known_values_beside_it(bench, in_process, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ft.txt").write_bytes((EXAMPLES / "small_job_shop.txt").read_bytes())
    (tmp_path / "data" / "best_known.csv").write_text("file,lb,ub\nft.txt,20,20\n")
    out = tmp_path / "out"
    code, text, err = bench("run", "classic", "--data", tmp_path / "data", "--methods", "cpsat:modes", "--out", out)
    assert code == 0 and "ft" in text and "best_known.csv" in err
    assert suites.known_values(out)["ft"].value == 20


@pytest.mark.parametrize("names", [[], ["notes.md"], ["notes.md", "log.swf"]])
def test_a_data_folder_without_instances_is_wrong_use(bench, tmp_path, names):
    for name in names:
        (tmp_path / name).write_text("; a comment\nwords\n")
    code, out, err = bench("run", "classic", "--data", tmp_path)
    assert (
        code == 2
        and f"none of its {len(names)} file{'s' * (len(names) != 1)} is an instance" in err
        and "Traceback" not in out + err
    )


def test_two_files_of_one_name_are_refused(bench, tmp_path):
    (tmp_path / "x.sm").write_bytes((EXAMPLES / "small_project.sm").read_bytes())
    (tmp_path / "x.mm").write_bytes((EXAMPLES / "small_modes.mm").read_bytes())
    for words in (["classic", "--data", tmp_path], [tmp_path]):
        code, _, err = bench("run", *words, "--dry-run")
        assert code == 2 and "are both called x" in err


@pytest.mark.skipif(not (DATA / "jsp").is_dir(), reason="the job shops are not on this machine")
def test_classic_reads_a_flat_folder_of_job_shops():
    runs, notes = planned(["classic"], RunRequest(methods=["cpsat:modes"]), data=DATA / "jsp")
    assert len(runs) == 21 and "2 left out, no instance: SOURCE.txt, best_known.csv" in notes[0]
