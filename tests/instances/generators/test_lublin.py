"""Workloads after Lublin and Feitelson: load, shares of the model, reproducibility; the log that is written."""

import numpy as np
import pytest
import schedlab as sl
from schedlab.instances import generators, lublin_workload, read_swf, write_swf


def test_the_shares_of_the_model_are_met():
    made = lublin_workload(50_000, seed=3, nodes=1024, load=0.7)
    platform = sl.Platform([sl.NodeGroup("n", 1024, {"cores": 1})])
    assert made.load(platform) == pytest.approx(0.7, rel=0.01)
    serial = np.mean(made.units == 1)
    power = np.mean((made.units > 1) & (made.units & (made.units - 1) == 0))
    assert serial == pytest.approx(0.244, abs=0.01)  # [Lublin2003]; some powers of two are larger than the machine
    assert 0.476 < power < 0.676
    assert made.units.max() <= 1024 and made.runtime.min() >= 1 and (made.runtime <= made.walltime).all()
    by_hour = np.bincount(made.submit % 86_400 // 3600, minlength=24)
    assert by_hour[10:18].mean() > 3 * by_hour[2:5].mean()  # the daily cycle
    large, small = made.runtime[made.units > 100], made.runtime[made.units == 1]
    assert np.median(large) > 5 * np.median(small)


def test_the_seed_decides():
    one, again, other = (lublin_workload(200, seed=k, nodes=32) for k in (1, 1, 2))
    assert one.submit.tolist() == again.submit.tolist() and one.walltime.tolist() == again.walltime.tolist()
    assert one.runtime.tolist() != other.runtime.tolist()


def test_an_instance_and_a_log_have_the_same_jobs(tmp_path):
    made, log = generators["lublin"](jobs=80, seed=5, nodes=40, cores=4), tmp_path / "log.swf"
    jobs = lublin_workload(80, seed=5, nodes=40, cores=4)
    write_swf(jobs, 40, log, cores=4)
    again = read_swf(log, cores=4)
    assert [j.units for j in made.jobs] == again.units.tolist()
    for name in ("submit", "runtime", "walltime", "request", "user"):
        assert getattr(again, name).shape == getattr(jobs, name).shape
    assert again.submit.tolist() == jobs.submit.tolist() == [j.submit for j in made.jobs]
    assert again.request.tolist() == jobs.request.tolist()


@pytest.mark.parametrize("wrong", [{"nodes": 1}, {"load": 0}, {"largest": 100}, {"longest": 10}, {"users": 0}])
def test_numbers_outside_of_their_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        lublin_workload(10, **{"seed": 1, "nodes": 64} | wrong)


def test_the_command_writes_an_instance_or_a_log(tmp_path):
    from schedlab.bench.cli.app import app
    from typer.testing import CliRunner

    for name in ("jobs", "jobs.swf"):
        out = tmp_path / name
        given = ["generate", "lublin", "--jobs", "30", "--nodes", "16", "--out", str(out)]
        assert CliRunner().invoke(app, given).exit_code == 0
    assert len(sl.load(tmp_path / "jobs").jobs) == len(read_swf(tmp_path / "jobs.swf")) == 30
