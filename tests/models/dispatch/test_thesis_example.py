"""The example of the thesis: five jobs on the 64 nodes of Eurora and a feasible schedule [Bridi2018, tables 3.2 and 3.3].

Row 001 of table 3.3 is damaged in print; the text says that the job starts at 0 on node 0. Memory is in KB.
"""

import pytest
from schedlab.models import Dispatch, Job, NodeGroup, Platform, Queue, Schedule

GB = 1_000_000
EURORA = Platform(
    [
        NodeGroup("gpu", 32, {"cores": 16, "gpus": 2, "mics": 0, "memory": 16 * GB}),
        NodeGroup("mic", 32, {"cores": 16, "gpus": 0, "mics": 2, "memory": 16 * GB}),
    ]
)
TABLE_3_2 = [  # units, cores, GPUs, MICs, memory, duration
    ("000", 32, 4, 1, 0, 1_000_000, 14_000),
    ("001", 1, 14, 1, 0, 400_000, 600),
    ("002", 2, 4, 1, 0, 200_000, 14_400),
    ("003", 32, 16, 0, 0, 400_000, 800),
    ("004", 32, 3, 0, 2, 800_000, 400),
]
JOBS = [
    Job(name, 0, d, units, {"cores": c, "gpus": g, "mics": m, "memory": mem}, "parallel")
    for name, units, c, g, m, mem, d in TABLE_3_2
]
NODES = EURORA.nodes
MICS = {NODES[k]: 1 for k in range(32, 64)}
TABLE_3_3 = Schedule(
    {"000": 0, "001": 0, "002": 600, "003": 0, "004": 800},
    {
        "000": {NODES[1]: 2, **{NODES[k]: 1 for k in range(2, 32)}},
        "001": {NODES[0]: 1},
        "002": {NODES[0]: 2},
        "003": MICS,
        "004": MICS,
    },
)


def example(objective="makespan", **limits):
    return Dispatch(EURORA, JOBS, [Queue("parallel", 700)], objective, limits=limits)


def test_the_schedule_of_table_3_3_is_feasible_and_has_the_values_of_its_starts():
    assert example().verify(TABLE_3_3) == []
    assert example("makespan").value(TABLE_3_3) == 15_000  # job 002
    assert example("late-jobs").value(TABLE_3_3) == 1  # job 004 waits 800 s
    assert example("weighted-tardiness").value(TABLE_3_3) == pytest.approx(100 / 700)


@pytest.mark.parametrize("formulation", ["units", "counts", "classes", "pool"])
def test_every_formulation_accepts_it(formulation):
    problem = example("makespan", **{"late-jobs": 1, "weighted-tardiness": 1 / 7})
    encoding = problem.formulations[formulation]()
    assert encoding.model.check(encoding.write(TABLE_3_3)) == []
    tighter = example("makespan", **{"late-jobs": 0})
    encoding = tighter.formulations[formulation]()
    assert encoding.model.check(encoding.write(TABLE_3_3)) != []


@pytest.mark.parametrize(("job", "start", "words"), [("002", 599, "16"), ("004", 799, "cores in use")])
def test_one_second_earlier_is_not_feasible(job, start, words):
    early = Schedule({**TABLE_3_3.start, job: start}, TABLE_3_3.nodes)
    assert any(words in v.message for v in example().verify(early))
