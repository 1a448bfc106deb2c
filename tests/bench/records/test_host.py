"""The machine in the records, and records of another form."""

import json
import platform

import psutil
import pytest
from schedlab.bench import Run, WrongUse, read_results
from schedlab.bench.pages.plot import plot
from schedlab.bench.records import Store, faults_of_form, read
from schedlab.bench.records import record as machine
from schedlab.bench.records.record import record

RUN = Run("day", "day", "c", "multi-search", kind="dispatch")


def written(folder, **changes):
    with Store(folder) as store:
        path = store.write(record(RUN, {"status": "unknown"}, "2026-01-01T00:00:00+00:00"))
    found = json.loads(path.read_text())
    found.update(changes)
    path.write_text(json.dumps({name: value for name, value in found.items() if value != "absent"}))
    return path


def test_a_record_has_the_machine(tmp_path):
    host = read(written(tmp_path))["host"]
    assert host["cores"] == psutil.cpu_count() and platform.machine() in host["system"]
    assert host["memory_gb"] == pytest.approx(psutil.virtual_memory().total / 2**30, abs=0.1)
    assert host["cpu"] == machine.cpu_model() != ""
    assert read_results(tmp_path)["host.cpu"].tolist() == [host["cpu"]]


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("processor\t: 0\nmodel name\t: EPYC 7452: 32 cores\n", "EPYC 7452: 32 cores"),
        ("Processor\t: rev 4\nHardware\t: BCM2835\n", "BCM2835"),
        ("", platform.processor() or platform.machine()),
    ],
)
def test_the_model_of_the_processor(tmp_path, monkeypatch, text, model):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(machine, "CPU_INFO", tmp_path / "cpuinfo")
    assert machine.cpu_model() == model


def test_without_proc_the_model_is_that_of_the_platform_module(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "CPU_INFO", tmp_path / "none")
    assert machine.cpu_model() == (platform.processor() or platform.machine())


def test_records_of_schedlab_0_1_0_lack_the_machine_and_are_read(tmp_path):
    assert faults_of_form(read(written(tmp_path, host="absent"))) == []


@pytest.mark.parametrize(("schema", "said"), [(0, "schema 0"), ("absent", "no schema"), (None, "no schema")])
def test_records_of_another_schema_are_refused(tmp_path, schema, said):
    path = written(tmp_path, schema=schema)
    with pytest.raises(ValueError, match="reads schema 1; run it again with --again") as refused:
        read(path)
    assert str(path) in str(refused.value) and f"it has {said}" in str(refused.value)
    with pytest.raises(WrongUse, match=f"it has {said}"):
        plot(tmp_path)


@pytest.mark.parametrize(
    ("kind", "said"), [("flow-shop", "kind: expected one of dispatch, "), ("absent", "kind is missing")]
)
def test_records_of_an_unknown_kind_are_refused(tmp_path, kind, said):
    with pytest.raises(ValueError, match=said):
        read(written(tmp_path, kind=kind))


def test_the_extra_fields_of_a_kind_are_checked(tmp_path):
    assert read(written(tmp_path, kind="dispatch", deadlines="none"))["deadlines"] == "none"  # not a field of its kind
    with pytest.raises(ValueError, match="deadlines: expected a list"):
        read(written(tmp_path, kind="eviction", deadlines="none"))
