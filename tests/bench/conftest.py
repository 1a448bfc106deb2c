"""The command line, for the tests of the bench."""

import math
import random

import pytest
from schedlab.bench.cli import main


@pytest.fixture
def bench(capsys):
    """Runs a command in this process: (exit code, standard output, standard error)."""

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


SETTINGS = """\
kind = "profit"
description = "A computing centre of four nodes."
scenario = "air,summer,cheap"

[profit]
energy_price = 0.13
until_s = 172800

[profit.cooling.air]
table = "air"
scale = 0.00166

[profit.cooling.hybrid]
table = "hybrid"
scale = 0.00166

[profit.season.summer]
temperatures = "summer.csv"

[profit.season.winter]
temperatures = "winter.csv"

[profit.price.cheap]
core_hour = 0.013

[profit.price.expensive]
core_hour = 0.10

[[platform.groups]]
name = "n"
count = 4
capacity = { cores = 4 }

[[queues]]
name = "batch"
ewt_s = 3600
"""


def profit_folder(folder, jobs=30, seed=1, settings=SETTINGS):
    """An instance of a computing centre: 4 nodes of 4 cores, 2 days, more work than the machine holds."""
    dice = random.Random(seed)
    rows = ["id,queue,submit,units,cores,walltime,runtime,power"]
    for k in range(jobs):
        units, cores, hours = 1 + int(3 * dice.random()), 1 + int(4 * dice.random()), 1 + int(11 * dice.random())
        power = round(units * cores * (7.8 + 3.31 * dice.random()), 2)
        rows.append(f"j{k},batch,{5400 * k},{units},{cores},{7200 * hours},{3600 * hours},{power}")
    folder.mkdir()
    (folder / "instance.toml").write_text(settings)
    (folder / "jobs.csv").write_text("\n".join(rows) + "\n")
    for season, mean in (("summer", 24), ("winter", 4)):
        hours = (f"{3600 * h},{mean + 5 * math.sin(h / 24 * 2 * math.pi):.2f}" for h in range(72))
        (folder / f"{season}.csv").write_text("time_s,temperature_c\n" + "\n".join(hours) + "\n")
    return folder


@pytest.fixture(scope="session")
def centre(tmp_path_factory):
    """The folder of a small profit instance."""
    return profit_folder(tmp_path_factory.mktemp("instances") / "centre")
