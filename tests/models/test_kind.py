"""The registry of problem kinds: ours, and those that a third party registers by an entry point."""

import ast
from pathlib import Path

import pytest
import schedlab as sl
from made_heuristics import made
from schedlab.heuristics import HEURISTICS, NotForThisProblem, NothingFound, answer
from schedlab.models import PluginError
from schedlab.models import kind as kinds
from schedlab.models.kind import ProblemKind

ROOT = Path(sl.__file__).parent
BY_KIND = (ROOT / "bench", ROOT / "solve.py", ROOT / "methods", ROOT / "heuristics" / "registry.py")


class Line:
    """Jobs on one machine, one after another, for the least sum of ends; ``sizes`` in seconds."""

    kind, sense = "line", "minimize"

    def __init__(self, sizes):
        self.sizes = dict(sizes)

    @property
    def formulations(self):
        return {"intervals": self._intervals}

    def _intervals(self):
        from schedlab.models import Encoding

        m = sl.Model("line")
        jobs = {name: m.interval(name, size=size) for name, size in self.sizes.items()}
        m.add(sl.no_overlap(list(jobs.values())))
        m.minimize(sl.sum([v.end for v in jobs.values()]))
        return Encoding(
            m,
            lambda a: sl.Schedule({name: a[v].start for name, v in jobs.items()}),
            lambda s: sl.Assignment(m, {v: s.start[name] for name, v in jobs.items()}),
        )

    def verify(self, schedule):
        return []

    def value(self, schedule):
        return sum(start + self.sizes[name] for name, start in schedule.start.items())

    def read(self, data):
        return sl.Schedule.from_json(data)


def shortest_first(problem: Line, request: object) -> sl.Result:
    starts, now = {}, 0
    for name, size in sorted(problem.sizes.items(), key=lambda job: job[1]):
        starts[name], now = now, now + size
    return answer(problem, sl.Schedule(starts), message="shortest first")


@pytest.fixture
def register():
    """Return the function that registers a kind in this process; it is forgotten after the test."""
    yield kinds.KINDS.register
    if "line" in kinds.KINDS:
        kinds.KINDS.unregister("line")
    if "shortest-first" in HEURISTICS:
        HEURISTICS.unregister("shortest-first")


@pytest.mark.parametrize("name", kinds.OWN)
def test_each_kind_of_ours_has_its_problem_class_and_parts_that_exist(name):
    kind = kinds.find(name)
    assert kind.problem.kind == name
    parts = (
        kind.reader,
        kind.writer,
        kind.allocator,
        kind.bench,
        kind.bound,
        kind.bound_warm_up,
        *kind.warm_up,
        *kind.solver_warm_up,
        *kind.solver_warm_up_late,
    )
    places = [p for p in parts if p is not None]
    assert all(kinds.resolve(place) is not None for place in places)
    assert kind.start is None or callable(HEURISTICS[kind.start].run)


def test_an_unknown_kind_names_similar_ones():
    with pytest.raises(kinds.UnknownKind, match="did you mean eviction"):
        kinds.find("evictions")


def test_a_kind_of_a_third_party_is_solved_with_its_start(register):
    HEURISTICS.register("shortest-first", made(shortest_first, kinds=("line",), name="shortest-first"))
    register("line", ProblemKind("line", Line, start="shortest-first"))
    assert "line" in kinds.names() and "line" not in kinds.having("reader")
    line = Line({"a": 3, "b": 1})
    r = sl.solve(line, method="cpsat:intervals+warm", time_limit=60, threads=1)
    assert (r.status, r.objective, r.warm_start.fate) == ("optimal", 5, "accepted")
    assert sl.solve(line, method="shortest-first").objective == 5


def test_a_kind_without_a_usual_start_says_so():
    with pytest.raises(sl.UnknownName, match="usual start of line problems"):
        sl.solve(Line({"a": 3}), method="cpsat:intervals+warm")


def test_what_is_no_kind_of_its_name_is_an_error(register):
    with pytest.raises(PluginError, match=r"the problem kind line is .*; expected a schedlab.models.kind.ProblemKind"):
        register("line", Line)
    register("line", ProblemKind("other", Line))
    with pytest.raises(PluginError, match="the problem kind line has the name 'other'; expected 'line'"):
        kinds.find("line")
    assert "eviction" in kinds.having("reader")  # a faulty kind does not hide the others


def test_heuristics_state_which_problems_they_take():
    line, day = Line({"a": 3}), sl.load("eurora_99").problem
    short = made(shortest_first, takes=lambda problem: hasattr(problem, "sizes"))
    assert short.takes(line) and not short.takes(day)
    assert HEURISTICS["multi-search"].takes(day) and not HEURISTICS["multi-search"].takes(line)
    with pytest.raises(NotForThisProblem, match="multi-search does not support line problems"):
        HEURISTICS["multi-search"]().solve(line)
    assert not issubclass(NothingFound, NotForThisProblem)


def names_of(node):
    """The names and texts in an expression."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
        elif isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def comparisons_of_kinds(source):
    """The lines of a source that compare a problem kind by its name, or a problem by its class."""
    classes = {kinds.find(name).problem.__name__ for name in kinds.OWN}
    for node in ast.walk(ast.parse(source)):
        said = set()
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            literal = [side for side in sides if isinstance(side, (ast.Constant, ast.Tuple, ast.List, ast.Set))]
            said = {name for side in literal for name in names_of(side)} & set(kinds.OWN)
            said |= {name for side in sides for name in names_of(side)} & classes
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("isinstance", "issubclass"):
                said = set(names_of(node.args[1])) & classes
        elif isinstance(node, ast.match_case):
            said = set(names_of(node.pattern)) & (classes | set(kinds.OWN))
        elif isinstance(node, ast.Dict):
            keys = {name for key in node.keys if isinstance(key, ast.Constant) for name in names_of(key)}
            said = keys if keys and keys <= set(kinds.OWN) and len(keys) > 1 else set()
        if said:
            yield (node.pattern if isinstance(node, ast.match_case) else node).lineno, sorted(said)


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(problem, Dispatch)",
        "isinstance(problem, (Dispatch, models.Profit))",
        "type(problem) is Eviction",
        "problem.kind == 'profit'",
        "kind not in ('dispatch', 'line')",
        "match problem:\n    case Project():\n        pass",
        "match problem.kind:\n    case 'project':\n        pass",
        "{'dispatch': 1, 'eviction': 2}[problem.kind]",
    ],
)
def test_comparisons_of_kinds_are_found(source):
    assert list(comparisons_of_kinds(source))


def test_bench_solve_and_the_registry_of_heuristics_do_not_compare_kinds():
    files = [file for place in BY_KIND for file in ([place] if place.is_file() else sorted(place.rglob("*.py")))]
    assert len(files) > 60
    found = {str(f.relative_to(ROOT)): list(comparisons_of_kinds(f.read_text(encoding="utf-8"))) for f in files}
    assert {name: lines for name, lines in found.items() if lines} == {}
