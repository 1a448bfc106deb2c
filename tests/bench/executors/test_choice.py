"""The choice of an executor on the command line, and executors of third parties."""

import pytest
from schedlab.backends import UnknownName
from schedlab.bench import WrongUse
from schedlab.bench.cli import Place
from schedlab.bench.runs.executors import EXECUTORS, LocalExecutor, Where

RUN = ("run", "eurora_99", "--at", "12:00", "--first", "12", "--methods", "first-solution:est", "--time-limit", "2")


def test_options_choose_their_executor():
    assert Place().where() == Where()
    assert Place(dask="tcp://a:1").where() == Where("dask", {"address": "tcp://a:1"})
    assert Place("slurm", slurm=["partition=p,pack=60", "qos=q"]).where().options == {
        "partition": "p",
        "pack": "60",
        "qos": "q",
    }
    assert Place("slurm,pack=60").where().options == {"pack": "60"}
    with pytest.raises(WrongUse, match="--slurm is for --executor slurm; expected one executor"):
        Place("dask", slurm=["pack=60"]).where()
    with pytest.raises(WrongUse, match="expected one executor"):
        Place(dask="tcp://a:1", slurm=["pack=60"]).where()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--executor", "dusk"), "there is no executor 'dusk'; did you mean dask?"),
        (("--slurm", "pak=60"), "option of the executor slurm 'pak'; did you mean pack?"),
        (("--slurm", "short"), "--executor slurm: 'short': expected OPTION=VALUE"),
        (("--executor", "local,pack=1"), "--executor local: it takes no option"),
        (("--slurm", "pack=0"), "--slurm pack=0: expected at least 1 second"),
        (("--dask", "tcp://127.0.0.1:9"), "--dask tcp://127.0.0.1:9: cannot be reached within 5 s"),
        (("--executor", "slurm"), "there is no command scontrol: start bench where SLURM is"),
    ],
)
def test_wrong_use_ends_with_code_2_before_anything_runs(bench, tmp_path, monkeypatch, options, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = bench(*RUN, *options, "--out", "r")
    assert code == 2 and said in err and "Traceback" not in err and not out
    assert not list(tmp_path.glob("r/*.json"))


def test_an_executor_of_a_third_party_performs_runs(bench, tmp_path, request):
    heard = []

    class Own(LocalExecutor):
        options = ("note",)

        def __init__(self, setting):
            super().__init__(setting)
            heard.append((setting.jobs, dict(setting.options)))

    EXECUTORS.register("own", Own)
    request.addfinalizer(lambda: EXECUTORS.unregister("own"))
    code, _, err = bench(*RUN, "--executor", "own,note=x", "--jobs", "2", "--out", tmp_path / "r")
    assert code == 0 and heard == [(2, {"note": "x"})] and len(list(tmp_path.glob("r/*.json"))) == 1, err


def test_an_unknown_executor_is_named():
    with pytest.raises(UnknownName, match="executor"):
        Where.parse(["slrum"])
