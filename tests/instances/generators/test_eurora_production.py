"""The generated week of Eurora in production: reproducible files, its parts, and replays."""

from collections import Counter
from pathlib import Path

import pytest
import schedlab as sl
from schedlab import WrongValue
from schedlab.bench.cli.app import main
from schedlab.instances import generators, load
from schedlab.models.server_events import ServerEvent

DAY = 86400  # seconds

WEEK = "eurora_production"


@pytest.fixture(scope="module")
def week():
    return load(WEEK)


def test_the_shipped_week_is_generated_again_byte_for_byte(week, tmp_path):
    given = {name: str(value) for name, value in week.generator.items() if name in ("jobs", "seed")}
    with pytest.raises(SystemExit) as e:
        main(
            [
                "generate",
                "eurora-production",
                *(w for k, v in given.items() for w in (f"--{k}", v)),
                "--out",
                str(tmp_path / "w"),
            ]
        )
    assert e.value.code in (0, None)
    for file in ("instance.toml", "jobs.csv", "events.csv"):
        assert (tmp_path / "w" / file).read_bytes() == (Path(str(week.path)) / file).read_bytes()


def test_the_week_has_all_that_production_has(week):
    jobs = week.jobs
    assert max(j.submit for j in jobs) < 7 * DAY
    arrays = Counter(j.array for j in jobs if j.array)
    assert len(arrays) > 5 and min(arrays.values()) > 1
    chunks = [j for j in jobs if j.chunks]
    assert len(chunks) == 6 and {j.queue for j in chunks} == {"course"}
    days = Counter(j.submit // DAY for j in jobs if j.queue != "course" and not j.array)
    assert days[6] < 0.6 * days[0]
    assert [len(r.occurrences()) for r in week.reservations] == [3, 1, 1, 1]
    kinds = {e.kind for e in week.events}
    assert kinds == {
        "stop-queue", "start-queue", "delete", "move", "walltime", "cancel-reservation", "node-down", "node-up", "node-drain"
    }  # fmt: skip


@pytest.mark.parametrize(
    "dispatcher",
    ["easy", *(pytest.param(name, marks=pytest.mark.slow) for name in ("fcfs", "conservative", "pbs-fifo"))],
)
def test_replays_of_the_week_are_valid_and_reservations_start_in_time(dispatcher):
    run = sl.simulate(WEEK, dispatcher=dispatcher)
    assert run.violations == []
    made = run.production
    outcomes = {b.label: b.outcome for b in made.bookings}
    assert outcomes == {
        "course#1": "over", "course#2": "over", "course#3": "over", "demo": "over", "benchmark": "refused",
        "workshop": "cancelled",
    }  # fmt: skip
    assert len(made.private) == 15  # the three long jobs of the course leave
    assert {run.workload.ids[p.row] for p in made.private if run.workload.chunks.get(p.row)} == {
        f"{day}{k}" for day in ("mon", "wed", "fri") for k in (1, 4)
    }
    stopped = next(e.time for e in load(WEEK).events if isinstance(e, ServerEvent) and e.kind == "stop-queue")
    queue = [q.name for q in run.workload.queues].index("parallel")
    assert not ((run.workload.queue == queue) & (run.start >= stopped) & (run.start < stopped + 3 * 3600)).any()
    assert run.history is not None  # jobs on nodes that failed


def test_seeds_and_sizes():
    generate = generators["eurora-production"]
    assert generate(60, 1).problem == generate(60, 1).problem != generate(60, 2).problem
    with pytest.raises(WrongValue, match="at least 50"):
        generate(49, 1)
