"""``bench show --composition``: jobs per queue, with accelerators, and by cores [Bridi2018, table 3.6]."""

from schedlab.bench.tables import Composition


def rows(out: str) -> dict[str, list[str]]:
    lines = [line.split() for line in out.splitlines() if line.strip()[-1:].isdigit()]
    return {" ".join(words[:-1]): words[-1:] for words in lines}


def test_jobs_are_counted_by_the_cores_of_all_their_units():
    jobs = [
        ("a", 2, {"cores": 4, "gpus": 1}),
        ("a", 1, {"cores": 8}),
        ("b", 3, {"cores": 1, "gpus": 0}),
        ("b", 9, {"cores": 1}),
    ]
    found = Composition.of(jobs)
    assert (found.jobs, found.queues, found.resources) == (4, {"a": 2, "b": 2}, {"gpus": 1})
    assert {label: n for label, n in found.cores.items() if n} == {"8": 2, "other": 1, ">8": 1}


def test_the_composition_of_an_instance(bench):
    code, out, err = bench("show", "eurora_700", "--composition")
    assert code == 0, err
    found = rows(out)
    assert found["all"] == ["700"] and found["queue debug"] == ["189"] and found["queue parallel"] == ["504"]
    cores = [n for label, (n,) in found.items() if label.endswith(("core", "cores"))]
    assert sum(map(int, cores)) == 700


def test_the_composition_of_a_log(bench, tmp_path):
    log = tmp_path / "log.swf"
    sizes = {1: 1, 2: 2, 3: 7, 4: 64}
    log.write_text(
        "; MaxNodes: 64\n; MaxProcs: 64\n"
        + "".join(f"{k} 0 0 60 {n} -1 -1 {n} 60 -1 1 1 1 1 {k % 2} -1 -1 -1\n" for k, n in sizes.items())
    )
    code, out, err = bench("show", log, "--composition")
    assert code == 0, err
    found = rows(out)
    assert [found[label] for label in ("all", "1 core", "2 cores", "other cores", ">8 cores")] == [
        ["4"],
        ["1"],
        ["1"],
        ["1"],
        ["1"],
    ]


def test_instances_without_such_jobs_and_pictures_are_refused(bench, tmp_path):
    code, _, err = bench("show", "theta_12", "--composition")
    assert code == 2 and "expected jobs on a platform" in err
    code, _, err = bench("show", "eurora_99", "--composition", "--plot", tmp_path / "x.svg")
    assert code == 2 and "leave out --plot" in err
