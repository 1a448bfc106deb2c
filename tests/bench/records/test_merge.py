"""Merging of folders, and their manifests: nothing is lost, doubled, mixed or changed without being named."""

import json

import pytest
from report_records import made
from schedlab.bench.records import NAME, Store, faults_of_manifest, files, name_of, read, write_manifest
from schedlab.bench.records.store import read_manifest

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes records into a folder."""

    def write(name, *records):
        with Store(tmp_path / name) as store:
            for r in records:
                store.write(r)
        return tmp_path / name

    return write


def versions(folder):
    return sorted((r["instance"], r["method"], r["seed"], r["objective"]) for r in map(read, files(folder)))


def changed(record, **fields):
    """A record with other fields and the key that belongs to them."""
    from schedlab.bench import key_of

    found = record | fields
    return found | {"key": key_of(found)}


def test_the_records_of_two_machines_in_one_folder(bench, folder, tmp_path):
    a = folder("a", made("p", "m", 1, 5.0), made("p", "m", 2, 6.0))
    b = folder("b", made("p", "n", 1, 7.0))
    code, out, _ = bench("merge", a, b, "--out", tmp_path / "c")
    assert (code, out.splitlines()[-1]) == (0, f"{tmp_path / 'c'}: 3 records of 2 folders")
    assert versions(tmp_path / "c") == [("p", "m", 1, 5.0), ("p", "m", 2, 6.0), ("p", "n", 1, 7.0)]
    assert len(read_manifest(tmp_path / "c")) == 3 and not faults_of_manifest(tmp_path / "c")
    assert bench("merge", a, b, "--out", tmp_path / "c")[0] == 2  # it is not empty
    assert not list(tmp_path.glob(".*"))


def test_a_run_that_is_there_twice_is_kept_once_by_its_start_and_not_by_its_objective(bench, folder, tmp_path):
    early, late = made("p", "m", 1, 9.0), made("p", "m", 1, 5.0) | {"started": "2026-01-02T00:00:00+00:00"}
    failed = made("p", "m", 1, None) | {"started": "2025-01-01T00:00:00+00:00"}
    places = [folder(name, r) for name, r in (("a", late), ("b", early), ("c", failed))]
    code, out, _ = bench("merge", *places, "--out", tmp_path / "all")
    assert code == 0 and versions(tmp_path / "all") == [("p", "m", 1, 9.0)]
    names = [str(p / name_of(early)) for p in places]
    assert f"p, m, seed 1: kept {names[1]}, not {names[0]}, {names[2]}" in out
    assert "1 record of 3 folders, 1 run present several times" in out


@pytest.mark.parametrize(
    "fields, reason",
    [
        ({"content": "0123"}, "the files of instance p differs: p in"),
        ({"version": "9.15"}, "the version of schedlab differs"),
        ({"schedlab": "9.0"}, "the version of schedlab for the method m differs"),
        ({"source": "abc"}, "the source of the method m differs"),
    ],
)
def test_other_data_and_versions_are_refused(bench, folder, tmp_path, fields, reason):
    a, b = folder("a", made("p", "m", 1, 5.0)), folder("b", changed(made("p", "m", 2, 5.0), **fields))
    code, _, err = bench("merge", a, b, "--out", tmp_path / "c")
    said = " ".join(err.split())
    assert code == 2 and reason in said and "run one of them again" in said
    assert not (tmp_path / "c").exists()


def test_damaged_records_are_named_with_their_reasons_and_nothing_is_written(bench, folder, tmp_path):
    a, b = folder("a", made("p", "m", 1, 5.0)), folder("b", made("p", "m", 2, 5.0), made("p", "m", 3, 5.0))
    one, two = files(b)
    one.write_text("{")
    two.write_text(json.dumps(read(two) | {"seed": 4}))
    code, out, _ = bench("merge", a, b, "--out", tmp_path / "c")
    lines = out.splitlines()
    assert (
        code == 1 and lines[0].startswith(f"{one}: not JSON") and lines[1].startswith(f"{two}: its key does not match")
    )
    assert lines[2] == "2 files with faults; nothing was written" and not (tmp_path / "c").exists()
    assert bench("merge", a, a, "--out", tmp_path / "c")[0] == 2
    assert bench("merge", a, tmp_path / "nowhere", "--out", tmp_path / "c")[0] == 2


def test_best_known_values_are_merged_and_must_agree(bench, folder, tmp_path):
    a, b = folder("a", made("p", "m", 1, 5.0)), folder("b", made("q", "m", 1, 5.0))
    (a / "best_known.csv").write_text("instance,value,bound,source\np,6,4,book\n")
    (b / "best_known.csv").write_text("instance,value,bound,source\nq,5,,book\n")
    assert bench("merge", a, b, "--out", tmp_path / "c")[0] == 0
    assert (tmp_path / "c" / "best_known.csv").read_text() == "instance,value,bound,source\np,6,4,book\nq,5,,book\n"
    assert read(tmp_path / "c" / "new_best" / "p.json")["objective"] == 5.0
    assert set(read_manifest(tmp_path / "c")) == {p.name for p in files(tmp_path / "c")} | {
        "best_known.csv",
        "new_best/p.json",
    }
    (b / "best_known.csv").write_text("instance,value,bound,source\np,7,,paper\n")
    code, _, err = bench("merge", a, b, "--out", tmp_path / "d")
    assert code == 2 and "best-known value of p differs: 6" in " ".join(err.split())


class TestManifest:
    def test_missing_changed_and_further_files_are_named(self, folder):
        place = folder("a", *(made("p", "m", seed, 5.0) for seed in (1, 2, 3)))
        first, second, third = files(place)
        assert write_manifest(place) == 3 and faults_of_manifest(place) == []
        first.unlink()
        second.write_text(second.read_text().replace("5.0", "4.0", 1))
        third.write_text(third.read_text() + "\n")
        (place / "extra.csv").write_text("")
        (place / "report.html").write_text("a page that is made from the records")
        size = len(third.read_text())
        assert faults_of_manifest(place) == [
            (first.name, "it is missing, but manifest.json lists it"),
            (second.name, "it was changed after manifest.json was written"),
            (third.name, f"it was changed after manifest.json was written: {size - 1:,} bytes then, {size:,} now"),
            ("extra.csv", "it is not in manifest.json"),
        ]

    def test_a_bench_that_writes_renews_it_but_hides_no_earlier_change(self, folder):
        place = folder("a", made("p", "m", 1, 5.0))
        (kept,) = files(place)
        assert read_manifest(place) is None
        write_manifest(place)
        folder("a", made("p", "m", 2, 5.0))
        assert faults_of_manifest(place) == [] and len(read_manifest(place)) == 2
        kept.write_text(kept.read_text() + " ")
        (place / "extra.csv").write_text("")
        folder("a", made("p", "m", 3, 5.0))
        assert [name for name, _ in faults_of_manifest(place)] == [kept.name, "extra.csv"]

    def test_a_damaged_one_is_named_and_nothing_is_written_beside_it(self, bench, folder):
        place = folder("a", made("p", "m", 1, 5.0))
        for text, reason in (("{", "not JSON"), ('{"files": {"a": {"size": 1}}}', "files.a.sha256 is missing")):
            (place / NAME).write_text(text)
            ((name, fault),) = faults_of_manifest(place)
            assert name == NAME and reason in fault
        from schedlab.bench import WrongUse

        with pytest.raises(WrongUse, match="remove it"), Store(place):
            pass
        (place / NAME).unlink()
        with Store(place):  # the lock was released
            pass

    def test_the_command_writes_it_and_checks_it(self, bench, tmp_path):
        out = tmp_path / "r"
        run = ("run", "project_small", "--methods", "serial-sgs:spt", "--time-limit", "1", "--out", out)
        assert bench(*run)[0] == 0
        code, text, _ = bench("verify", out, "--manifest")
        assert code == 0 and f"{out / NAME}: 1 file" in text
        assert bench("verify", out)[0] == 0
        (path,) = files(out)
        path.write_text(path.read_text() + "\n")
        code, text, _ = bench("verify", out, "--manifest")
        assert code == 1 and f"{path.name}: it was changed" in text and "0 valid, 1 not valid" in text
        assert bench("verify", path, "--manifest")[0] == 2
