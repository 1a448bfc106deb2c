"""Nodes of queues, features, distinct and whole nodes, licences: optima against enumeration, the check against a plain one."""

import random
from dataclasses import replace

import pytest
import schedlab as sl
from draws import some_now
from schedlab.backends import Limits, available, run
from schedlab.instances import Instance, load
from schedlab.models import (
    Chunk,
    Dispatch,
    Job,
    NamedNodes,
    NodeGroup,
    Platform,
    ProblemError,
    Profit,
    Queue,
    Running,
    Schedule,
    StepFunction,
)
from schedlab.models.dispatch import NodeSets, NotPlaced, eligible_nodes, least_amounts, read_features
from small_sites import optimum, random_site, violations

FIELDS = ("nodes", "features", "per_node", "whole_nodes", "licences")
MACHINE = Platform(
    [NodeGroup("n", 3, {"cores": 4}, features=("ib",)), NodeGroup("g", 1, {"cores": 4}, features=("gpu", "ib"))],
    {"tool": 2},
)
HALF = Queue("half", 60, nodes=("n-1", "g-1"))
ALL = Queue("all", 60)


def job(name="a", units=1, cores=1, queue="all", **others):
    return Job(name, 0, 10, units, {"cores": cores}, queue, **others)


def problem(*jobs, **others):
    return Dispatch(MACHINE, jobs, [ALL, HALF], "waiting", **others)


def proven(p, method):
    result = sl.solve(p, method=method, time_limit=60, threads=1)
    assert result.status == "optimal", result.message
    assert violations(p, result.schedule) == []
    return result.objective


# --- Optima and bounds.


@pytest.mark.parametrize("seed", some_now(range(30), 10))
def test_cpsat_finds_the_optimum_by_each_formulation(seed):
    p = random_site(seed, fields=(FIELDS[seed % 5],))
    best = pytest.approx(float(optimum(p)), abs=1e-9)
    assert proven(p, "cpsat:counts") == best
    assert proven(p, "cpsat:units") == best


@pytest.mark.parametrize("method", ["highs:counts@pairwise", "highs:counts@time-indexed", "highs:units@time-indexed"])
@pytest.mark.parametrize("seed", range(30, 34))
def test_highs_finds_the_optimum_by_both_lowerings(seed, method):
    p = random_site(seed, 3, fields=(FIELDS[seed % 5],))
    assert proven(p, method) == pytest.approx(float(optimum(p)), abs=1e-6)


@pytest.mark.skipif("cpo" not in available(), reason="CP Optimizer is not installed")
@pytest.mark.parametrize("seed", range(40, 46))
def test_cp_optimizer_finds_the_optimum(seed):
    p = random_site(seed, 3, fields=(FIELDS[seed % 5],))
    assert proven(p, "cpo:counts") == pytest.approx(float(optimum(p)), abs=1e-6)
    assert proven(p, "cpo:units") == pytest.approx(float(optimum(p)), abs=1e-6)


@pytest.mark.parametrize("seed", some_now([60, *range(50, 60), *range(61, 75)], 8))  # 60: whole-node jobs run
def test_the_relaxations_never_exceed_the_optimum(seed):
    """And an optimal schedule is a solution of them."""
    p = random_site(seed, fields=(FIELDS[seed % 5],))
    result = sl.solve(p, method="cpsat:counts", time_limit=60, threads=1)
    for name in ("classes", "pool"):
        encoding = p.formulations[name]()
        assert encoding.model.check(encoding.write(result.schedule)) == []
        bound = run(encoding.model, "cpsat", Limits(60.0, 1))
        assert bound.status == "optimal"
        assert bound.objective <= result.objective + 1e-6


@pytest.mark.parametrize("name", ["counts", "units"])
@pytest.mark.parametrize("seed", some_now(range(80, 90), 4))
def test_a_schedule_is_a_solution_of_the_exact_formulations_and_is_read_back(seed, name):
    p = random_site(seed, fields=("whole_nodes",))
    schedule = sl.solve(p, method="multi-search").schedule
    encoding = p.formulations[name]()
    written = encoding.write(schedule)
    assert encoding.model.check(written) == []
    assert encoding.read(written) == schedule


def test_equal_nodes_stay_one_class_unless_a_set_of_nodes_parts_them():
    machine = Platform([NodeGroup("n", 100, {"cores": 4})])
    part = Queue("part", 60, nodes=machine.nodes[:30])
    p = Dispatch(machine, [job(), job("b", queue="part"), job("c", nodes=machine.nodes[20:40])], [ALL, part])
    assert [len(names) for names in p.node_classes.members] == [20, 10, 10, 60]
    assert len(p.formulations["classes"]().model.integers) == 4 + 2 + 2


def test_a_whole_node_job_takes_at_least_the_amounts_of_its_nodes():
    machine = Platform([NodeGroup("small", 4, {"cores": 4}), NodeGroup("large", 4, {"cores": 10})])
    p = Dispatch(machine, [job("w", 5, 2, whole_nodes=True)], [ALL])
    # two units on 4 cores or five on 10: 2 cores for each unit; three nodes of the small ones have 12
    assert least_amounts(p.node_classes, p.jobs[0], 0, ["cores"]) == [10]
    three = Dispatch(machine, [job("w", 5, 3, whole_nodes=True)], [ALL])
    assert least_amounts(three.node_classes, three.jobs[0], 0, ["cores"]) == [17]  # one unit on 4 cores, three on 10


# --- The check.


@pytest.mark.parametrize("seed", some_now(range(60), 20))
def test_the_check_agrees_with_a_plain_one_on_changed_schedules(seed):
    """Each random change of starts or nodes is a violation for both, or for none."""
    p = random_site(seed)
    rng = random.Random(seed)
    first = sl.solve(p, method="multi-search").schedule
    kinds = set()
    for _ in range(30):
        start, nodes = dict(first.start), {name: dict(on) for name, on in first.nodes.items()}
        name = rng.choice(p.jobs).id
        if rng.random() < 0.6:
            start[name] = max(p.now, start[name] + rng.randint(-2, 2))
        if rng.random() < 0.6:
            units = sum(nodes[name].values())
            nodes[name] = {}
            for node in rng.choices(p.platform.nodes, k=units):
                nodes[name][node] = nodes[name].get(node, 0) + 1
        changed = Schedule(start, nodes)
        kinds.add(bool(violations(p, changed)))
        assert bool(p.verify(changed)) == bool(violations(p, changed)), (changed, violations(p, changed))
    assert kinds


def test_violations_name_the_job_the_node_and_what_is_allowed():
    p = problem(
        job("a", queue="half"), job("b", 2, per_node=1), job("w", whole_nodes=True), job("t", licences={"tool": 2})
    )
    start = dict.fromkeys("abwt", 0)
    told = p.verify(Schedule(start, {"a": {"n-2": 1}, "b": {"n-1": 2}, "w": {"n-1": 1}, "t": {"n-3": 1}}))
    assert [v.message for v in told] == [
        "job 'a' has 1 unit on 'n-2'; it may use the nodes of queue 'half'",
        "job 'b' has 2 units on 'n-1'; at most 1 may be on a node",
        "node 'n-1' at 0: job 'b' runs beside job 'w', which takes whole nodes",
    ]
    other = problem(job("t", licences={"tool": 2}), job("u", licences={"tool": 1}))
    (lack,) = other.verify(Schedule({"t": 0, "u": 9}, {"t": {"n-1": 1}, "u": {"n-2": 1}}))
    assert lack.message == "licences of 'tool' at 9: 3 in use, there are 2 (job 'u' starts)"


def test_running_jobs_keep_their_nodes_and_licences_to_themselves():
    whole = Running(job("r", whole_nodes=True, licences={"tool": 2}), 0, {"n-1": 1}, 7)
    p = problem(job("a", nodes=("n-1",)), job("t", licences={"tool": 1}), running=[whole])
    for method in ("cpsat:counts", "cpsat:units", "multi-search", "lns:rounds=2"):
        assert sl.solve(p, method=method, time_limit=20, threads=1).schedule.start == {"a": 7, "t": 7}


# --- Features.


@pytest.mark.parametrize(
    ("text", "features", "holds"),
    [
        ("a", "a", True),
        ("a&b", "a", False),
        ("a | b", "b", True),
        ("a|b&c", "a", False),  # from left to right, as Slurm
        ("a|(b&c)", "a", True),
        ("((a))&(b|c)", "ac", True),
    ],
)
def test_expressions_of_features(text, features, holds):
    assert read_features(text).holds(features) is holds


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a*2", "'*' (numbers of nodes with a feature) is not supported"),
        ("[a|b]", "XOR) is not supported"),
        ("a,b", "',' between features is not supported"),
        ("!a", "'!' (nodes without a feature) is not supported"),
        ("a&", "the name of a feature is expected at the end"),
        ("(a|b", "a closing parenthesis is missing"),
        ("a)", "')' is not expected there"),
        ("a b", "'b' is not expected there"),
    ],
)
def test_other_expressions_are_refused(text, told):
    with pytest.raises(ProblemError, match="features") as e:
        read_features(text)
    assert told in str(e.value)


def test_the_nodes_of_a_job_are_those_of_its_queue_that_it_names_with_its_features():
    assert eligible_nodes(MACHINE, [ALL, HALF], job(queue="half", features="ib&gpu")) == ("g-1",)
    assert eligible_nodes(MACHINE, [ALL, HALF], job(nodes=("n-3", "g-1"))) == ("n-3", "g-1")
    assert eligible_nodes(MACHINE, [ALL, HALF], job(queue="half", nodes=("n-3",))) == ()
    sets = NodeSets.of(MACHINE, [ALL, HALF], [job(), job(queue="half"), job(features="gpu"), job(nodes=("g-1",))])
    assert sets.number.tolist() == [0, 1, 2, 2]


# --- Contradictions.


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: problem(job(nodes=("n-9",))), "job 'a': there is no node 'n-9'"),
        (lambda: problem(job(nodes="n-1")), "job 'a': nodes is 'n-1'; a tuple of names of nodes is expected"),
        (lambda: Dispatch(MACHINE, [job()], [ALL, Queue("x", 1, nodes=("z",))]), "queue 'x': there is no node 'z'"),
        (lambda: problem(job(features="gup")), "job 'a': no node has the feature 'gup'; did you mean gpu?"),
        (
            lambda: problem(job(queue="half", nodes=("n-3",))),
            "job 'a': it may use the nodes n-3 of queue 'half': there is no such",
        ),
        (
            lambda: problem(job(units=3, queue="half", per_node=1)),
            "hold only 2 of them (it may use the nodes of queue 'half')",
        ),
        (lambda: problem(job(per_node=0)), "job 'a': per_node is 0; at least 1, or None, is expected"),
        (lambda: problem(job(per_node=1.5)), "job 'a': per_node is 1.5; a whole number, or None, is expected"),
        (lambda: problem(job(whole_nodes="yes")), "job 'a': whole_nodes is 'yes'; True or False is expected"),
        (lambda: problem(job(licences={"tool": 3})), "job 'a': asks for 3 licences of 'tool', the platform has 2"),
        (lambda: problem(job(licences={"tol": 1})), "job 'a': there is no licence 'tol'; did you mean tool?"),
        (
            lambda: problem(job(licences={"tool": -1})),
            "job 'a': asks for -1 licences of 'tool'; at least 0 is expected",
        ),
        (lambda: Queue("q", 1, nodes="n-1"), "queue 'q': nodes is 'n-1'; a tuple of names of nodes is expected"),
        (lambda: NodeGroup("n", 1, {}, features="ib"), None),
        (
            lambda: Platform([NodeGroup("n", 1, {}, features="ib")]),
            "node group 'n': features is 'ib'; a tuple of names",
        ),
        (
            lambda: Platform([NodeGroup("n", 1, {})], {"tool": 1.5}),
            "licences of 'tool' is 1.5; a whole number is expected",
        ),
        (lambda: Platform([NodeGroup("n", 1, {})], {"tool": -1}), "licences of 'tool' is -1; at least 0 is expected"),
    ],
)
def test_contradictions_are_told_at_construction(made, told):
    if told is None:
        made()
        return
    with pytest.raises(ProblemError) as e:
        made()
    assert told in str(e.value)


def test_what_is_not_supported_together_is_refused_by_name():
    chunks = (Chunk(1, {"cores": 1}), Chunk(1, {"cores": 2}))
    with pytest.raises(ProblemError, match="whole_nodes is not supported for a heterogeneous job"):
        problem(job(whole_nodes=True, chunks=chunks))
    warm = StepFunction([0], [20.0], 10**6)
    with pytest.raises(ProblemError, match="profit problems do not support nodes of queues"):
        Profit(
            problem(job(queue="half")),
            warm,
            sl.models.Cooling("none", (20,), (0, 10**6), ((0, 0),)),
            0.01,
            0.1,
            watts_per_core=1.0,
        )
    with pytest.raises(NotPlaced, match="a rule does not obey nodes of queues and whole_nodes; use another method"):
        sl.solve(problem(job(queue="half"), job("b", whole_nodes=True)), method="rule:est")
    with pytest.raises(NotPlaced, match="does not support whole_nodes beside job 'b', which requests nothing"):
        sl.solve(problem(job(whole_nodes=True), job("b", cores=0)), method="relaxation-search")


# --- Files, tables, explanations.


def test_an_instance_folder_keeps_all_of_it(tmp_path):
    machine = Platform(
        [NamedNodes("thin", 2, {"cores": 4}, ("r1", "r2"), features=("ib", "ssd")), NodeGroup("n", 2, {"cores": 8})],
        {"tool": 2, "ansys": 1},
    )
    queues = [Queue("all", 60), Queue("r", 60, nodes=("r1", "n-2"))]
    jobs = [
        job("a", 2, queue="r", per_node=1, licences={"tool": 1, "ansys": 1}),
        job("b", whole_nodes=True, nodes=("r1", "r2"), features="ib&(ssd|x)".replace("|x", "|ib")),
        job("c"),
    ]
    running = [Running(job("d", whole_nodes=True, licences={"tool": 1}), -5, {"n-1": 1}, 5)]
    p = Dispatch(machine, jobs, queues, "waiting", 0, running)
    sl.instances.write(Instance("day", "dispatch", p, tmp_path / "day", "", "", {}, {}), tmp_path / "day")
    assert load(tmp_path / "day").problem == p


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        ("jobs.csv", ("r1 r2", "r1 r3"), "allowed_nodes"),
        ("jobs.csv", ("ib&ssd", "ib&sdd"), "features"),
        ("jobs.csv", ("ib&ssd", "ib&"), "features"),
        ("jobs.csv", ("tool:1", "tool"), "licences"),
        ("jobs.csv", ("tool:1", "tol:1"), "licences"),
        ("instance.toml", ('"r2",', '"r1",'), "platform.groups[1].nodes"),
        ("instance.toml", ('    "r1",\n]\n', '    "r7",\n]\n'), "queues[1].nodes"),
    ],
)
def test_faults_of_a_folder_name_file_line_and_column(tmp_path, file, change, told):
    machine = Platform([NamedNodes("thin", 2, {"cores": 4}, ("r1", "r2"), features=("ib", "ssd"))], {"tool": 2})
    p = Dispatch(
        machine,
        [job(nodes=("r1", "r2"), features="ib&ssd", licences={"tool": 1}, queue="r")],
        [Queue("r", 9, nodes=("r1",))],
    )
    sl.instances.write(Instance("day", "dispatch", p, tmp_path / "day", "", "", {}, {}), tmp_path / "day")
    path = tmp_path / "day" / file
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    with pytest.raises(sl.instances.InstanceError) as e:
        load(tmp_path / "day")
    assert told in str(e.value) and file in str(e.value)


def test_a_table_of_pandas_has_the_fields_as_columns():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(
        {
            "id": ["a", "b"], "submit": [0, 0], "walltime": [9, 9], "cores": [1, 1], "queue": ["all", "half"],
            "nodes": ["n-1 n-2", None], "features": ["ib", None], "per_node": [1, None], "whole_nodes": [True, False],
            "licences": ["tool:2", None],
        }
    )  # fmt: skip
    first, second = Dispatch.from_pandas(MACHINE, table, [ALL, HALF]).jobs
    assert (first.nodes, first.features, first.per_node, first.whole_nodes) == (("n-1", "n-2"), "ib", 1, True)
    assert first.licences == {"tool": 2}
    assert (second.nodes, second.features, second.per_node, second.whole_nodes, second.licences) == (
        (),
        "",
        None,
        False,
        {},
    )


def test_an_explanation_names_what_excludes_each_other():
    late = {"deadline": 15}
    nodes = problem(*(job(name, cores=4, queue="half", nodes=("n-1",), **late) for name in "ab"))
    told = str(sl.explain(nodes))
    assert "a uses the nodes n-1 only" in told and "b uses the nodes n-1 only" in told
    licences = problem(*(job(name, licences={"tool": 2}, **late) for name in "ab"))
    assert "the machine has 2 licences of tool" in str(sl.explain(licences))
    whole = problem(*(job(name, 3, 4, whole_nodes=True, per_node=1, **late) for name in "ab"))
    assert sl.explain(whole) is not None


def test_a_batsim_workload_refuses_nodes_of_queues(tmp_path):
    workload = sl.instances.Workload.of(problem(replace(job(queue="half"), runtime=5)))
    with pytest.raises(sl.instances.WorkloadError, match="a queue with nodes of its own asks for nodes"):
        sl.instances.write_batsim(workload, 4, tmp_path / "w.json")
    assert not (tmp_path / "w.json").exists()
