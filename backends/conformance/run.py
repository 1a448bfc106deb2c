"""The conformance command: solve random small models with each backend and compare the answers with enumeration."""

from __future__ import annotations

import math
import multiprocessing
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ...errors import WrongArgument
from ...models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Comparison,
    Constraint,
    Cumulative,
    DirectTransitions,
    ForbidExtent,
    Integer,
    Interval,
    Level,
    Linear,
    Model,
    NoIdle,
    NoOverlap,
    Order,
    Precedence,
    SameSequence,
    Stated,
    StateFunction,
    Synchronize,
)
from ...models.language import Table as AllowedTuples
from ...models.language.constraints import StateUse
from ...models.language.expressions import (
    Atom,
    Attribute,
    Element,
    Entry,
    Function,
    Holds,
    Max,
    Min,
    Neighbours,
    Overlap,
    Piecewise,
    Product,
    Quotient,
    Remainder,
)
from ...models.language.text_forms import kind_and_values
from ...models.words import UnknownName, how_many
from ..base import Limits, backend, names
from ..decompositions.decomposition import Copy
from .agreement import Case, Contender, Verdict, examine, examine_one, judge, shrink
from .enumeration import EnumerationError, Truth, brute_force, variables_of
from .planted import FAULTS, PARAMETERS, caught_by, faulty, known_to_be_wrong
from .random_models import random_model

# --- The constructs of the modelling language that must occur in the random models; ``run`` counts them.

CONSTRUCTS = (
    "fixed size", "variable size", "zero size", "size from zero", "start windows", "optional", "default horizon",
    "negative time", "integer", "negative integer", "boolean", "alternative of 1", "alternative of several",
    "optional alternative", "cumulative constant", "cumulative stepwise", "variable demand", "affine demand",
    "no_overlap", "synchronize", "end_before_start", "start_before_start", "end_before_end", "start_before_end",
    "delay", "negative delay", "maximum lag", "cycle of lags", "all_or_none", "forbid_extent", "transitions",
    "no triangle inequality", "implies", "<=", "==", ">=", "<", "range", "real comparison", "sum", "max", "min",
    "positive_part", "holds", "overlap", "element", "piecewise", "nested", "minimize", "maximize", "real objective",
    "lexicographic", "first optimum 0", "large coefficients", "no objective", "crew", "shared machine",
    "master on the machine", "points in a sequence", "transitions of points", "arithmetic", "product", "abs", "//", "%",
    "variable divisor", "element of expressions", "conditions", "!=", "and", "or", "not", "precedence as condition",
    "presence as condition", "relations", "all_different", "table", "count", "levels", "at_start", "at_end", "pulse",
    "step_at", "level always", "level in a window", "level during", "variable height", "sequences",
    "direct transitions", "place in a sequence", "no idle time", "same sequence", "transition costs", "types of neighbours",
    "states", "transitions of states", "constant state", "alignment", "batches", "structures", "intensity", "domain", "span",
    "isomorphism", "variable capacity", "variable lag",
)  # fmt: skip


# --- Python code that declares a given model, for error reports that can be copied and run.


def declaration(model: Model) -> str:
    """Return Python code that declares the model. Variables that no constraint and no objective uses are left out.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3); m.add(a.start >= 2, "late"); m.minimize(a.end)
    >>> print(declaration(m))
    m = sl.Model('one', horizon=5)
    v0 = m.interval('a', size=3, start=(0, 5))
    m.add(v0.start >= 2, 'late')
    m.minimize(v0.end)
    """
    used = {v for part in (*(c.constraint for c in model.constraints), *model.objectives) for v in variables_of(part)}
    lines = [f"m = sl.Model({model.name!r}, horizon={model.horizon})"]
    lines += [f"{_name(v)} = {_interval(v)}" for v in model.intervals if v in used]
    lines += [f"{_name(x)} = m.integer({x.name!r}, {x.lo}, {x.hi})" for x in model.integers if x in used]
    lines += [f"m.add({_constraint(c.constraint)}, {c.name!r})" for c in model.constraints]
    objectives = [_linear(e) for e in model.objectives]
    if objectives:
        lines.append(f"m.{model.sense}({objectives[0] if len(objectives) == 1 else '[' + ', '.join(objectives) + ']'})")
    return "\n".join(lines)


def _name(v: Interval | Integer) -> str:
    return f"{'v' if isinstance(v, Interval) else 'x'}{v.index}"


def _interval(v: Interval) -> str:
    size = v.size_lo if v.size_lo == v.size_hi else (v.size_lo, v.size_hi)
    start = v.windows[0] if len(v.windows) == 1 else list(v.windows)
    return f"m.interval({v.name!r}, size={size}, start={start}{', optional=True' if v.optional else ''})"


def _several(intervals: Iterable[Interval]) -> str:
    return f"[{', '.join(map(_name, intervals))}]"


def _constraint(c: Constraint) -> str:
    match c:
        case Comparison():
            return _comparison(c)
        case Alternative(a, options, count):
            return f"sl.alternative({_name(a)}, {_several(options)}, count={count})"
        case Cumulative(intervals, demands, steps):
            heights = ", ".join(str(d) if isinstance(d, int) else _linear(d) for d in demands)
            return (
                f"sl.cumulative({_several(intervals)}, [{heights}], {steps[0][1] if len(steps) == 1 else list(steps)})"
            )
        case NoOverlap(intervals, transitions):
            times = ""
            if transitions:
                times = f", transitions={[list(row) for row in transitions]}"
            return f"sl.no_overlap({_several(intervals)}{times})"
        case AllOrNone(intervals):
            return f"sl.all_or_none({_several(intervals)})"
        case ForbidExtent(v, windows):
            return f"sl.forbid_extent({_name(v)}, {list(windows)})"
        case Synchronize(a, others):
            return f"sl.synchronize({_name(a)}, {_several(others)})"
        case Precedence(before, after, delay, kind, at_most):
            most = ""
            if at_most is not None:
                most = f", at_most={at_most}"
            return f"sl.{kind}({_name(before)}, {_name(after)}, {delay}{most})"
        case AllDifferent(expressions):
            return f"sl.all_different([{', '.join(map(_linear, expressions))}])"
        case AllowedTuples(expressions, tuples):
            return f"sl.table([{', '.join(map(_linear, expressions))}], {list(tuples)})"
        case Level(changes, steps, lo, hi, window, during):
            parts = [f"sl.{e}({_name(v)}, {h if isinstance(h, int) else _linear(h)})" for e, v, h in changes]
            parts += [f"sl.step_at({time}, {amount})" for time, amount in steps]
            when = ""
            if window is not None:
                when = f", window={window}"
            if during is not None:
                when = f", during={_name(during)}"
            return f"sl.always_in({' + '.join(parts)}, {lo}, {hi}{when})"
        case Order(intervals, one, kind, other):
            names = ", ".join(_name(v) for v in (one, other) if v is not None)
            return f"sl.sequence({_several(intervals)}).{kind}({names})"
        case DirectTransitions(intervals, types, times):
            return f"{_sequence(intervals, types)}.no_overlap({_rows(times)})"
        case StateFunction(uses, transitions):
            return f"sl.state_function([{', '.join(map(_use, uses))}], {_rows(transitions) or None})"
        case NoIdle(intervals):
            return f"sl.sequence({_several(intervals)}).no_idle()"
        case SameSequence(intervals, others):
            return f"sl.same_sequence(sl.sequence({_several(intervals)}), sl.sequence({_several(others)}))"
        case Stated():
            return _stated(c)


def _sequence(intervals: Iterable[Interval], types: Sequence[int]) -> str:
    return f"sl.sequence({_several(intervals)}, {list(types)})"


def _use(use: StateUse) -> str:
    interval, value, start, end = use
    if value is None:
        return f"sl.always_constant({_name(interval)}, {start}, {end})"
    return f"sl.always_equal({_name(interval)}, {value}, {start}, {end})"


def _rows(matrix: Sequence[Sequence[int]]) -> list[list[int]]:
    return [list(row) for row in matrix]


def _stated(c: Stated) -> str:
    """Return the code of a calendar or a structure: the function that declares it, with its fields in their order."""
    kind, required, optional = kind_and_values(c)
    kind = {"variable_capacity": "cumulative"}.get(kind, kind)
    if kind == "variable_delay":
        kind = required.pop("relation")
    given = [_field(v) for v in required.values()] + [f"{name}={_field(v)}" for name, v in optional.items()]
    return f"sl.{kind}({', '.join(given)})"


def _field(value: Any) -> str:
    if isinstance(value, (Interval, Integer)):
        return _name(value)
    if isinstance(value, Linear):
        return _linear(value)
    if isinstance(value, tuple) and any(isinstance(v, (Interval, Linear)) for v in value):
        return f"[{', '.join(map(_field, value))}]"
    return str(value)


def _comparison(c: Comparison) -> str:
    left = _linear(c.expr)
    if c.lo == c.hi:
        return f"{left} == {c.hi}"
    if c.lo == -math.inf:
        return f"{left} <= {c.hi}"
    return f"{left} >= {c.lo}"


def _linear(e: Linear) -> str:
    parts = [_atom(a) if k == 1 else f"{k} * {_atom(a)}" for a, k in e.terms.items()]
    if e.constant or not parts:
        parts.append(str(e.constant))
    return " + ".join(parts)


def _atom(a: Atom) -> str:
    match a:
        case Integer():
            return _name(a)
        case Attribute():
            return f"{_name(a.interval)}.{a.field}"
        case Max() | Min():
            return f"sl.{'max' if isinstance(a, Max) else 'min'}([{', '.join(map(_linear, a.operands))}])"
        case Holds():
            return f"sl.holds({_comparison(a.comparison)})"
        case Overlap():
            return f"sl.overlap({_name(a.interval)}, {a.lo}, {a.hi})"
        case Element():
            return f"sl.element({list(a.array)}, {_linear(a.operands[0])})"
        case Piecewise():
            return f"sl.piecewise({_linear(a.operands[0])}, {list(a.points)})"
        case Product() | Quotient() | Remainder():
            return f"sl.{type(a).__name__.lower()}({', '.join(map(_linear, a.operands))})"
        case Neighbours():
            ends = f"{list(a.first)}, {list(a.last)}"
            return f"{_sequence(a.intervals, a.types)}.cost({_rows(a.costs)}, {ends})"
        case Entry():
            return f"sl.element([{', '.join(map(_linear, a.entries))}], {_linear(a.operands[0])})"
        case Function() | _:
            raise WrongArgument(f"{type(a).__name__} cannot be written as Python code")


STANDARD = "cpsat,highs:pairwise,highs:time-indexed,cpo"
FAULT_MODELS = 800  # each planted fault must be caught within this number of models
METAMORPHIC_SHARE = 5  # all checks are made on each fifth model, only "solve" and "fixed" on the others
LEAST_SHARE = 0.02  # each construct must occur in this share of the models: 10 of 500
LEAST_INFEASIBLE = 0.2  # least share of infeasible models
MOST_UNDECIDED = 0.02  # largest share of models that a backend may leave without a proof
SHOWN = 5  # number of wrong answers that are printed with a small model
HELP = """Test backends: solve small random models and compare each answer with complete enumeration.

Backends that are not installed are left out. Wrong answers are printed with a small model as Python code.

The exit code is 0 if all backends conform, 1 if not, 2 for an unknown backend.

Example with 100 models:

python -m schedlab.backends.conformance --count 100 --backends cpsat
"""


def cases(count: int, seed: int, labels: Sequence[str], limits: Limits, jobs: int = 1) -> Iterator[Case]:
    """Check backends on random models.

    Parameters
    ----------
    count : int
        Number of models.
    seed : int
        Seed of the first model; the seed of each next model is greater by 1.
    labels : sequence of str
        Labels of the backends.
    limits : Limits
        Limits of each solve.
    jobs : int
        Number of processes.

    Yields
    ------
    Case
        The verdicts on each model, in the order of the seeds.
    """
    seeds = range(seed, seed + count)
    metamorphic = [k % METAMORPHIC_SHARE == 0 for k in range(count)]
    work = partial(_examine, labels=tuple(labels), limits=limits)
    if jobs == 1:
        yield from map(work, seeds, metamorphic)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, seeds, metamorphic)


def _examine(seed: int, metamorphic: bool, labels: tuple[str, ...], limits: Limits) -> Case:
    return examine(seed, labels, limits, metamorphic)


def catch_faults(faults: Sequence[type[Copy]], seed: int, most: int = FAULT_MODELS) -> dict[str, int | None]:
    """Return after how many random models each fault was caught; None if it was not."""
    caught: dict[str, int | None] = {f.__name__: None for f in faults}
    for k in range(most):
        missing = [f for f in faults if caught[f.__name__] is None]
        if not missing:
            break
        model = random_model(seed + k).model
        try:
            truth = brute_force(model)
            for fault in missing:
                if judge(model, truth, faulty(fault, model)):
                    caught[fault.__name__] = k + 1
        except EnumerationError:
            continue
    return caught


def usable(labels: Sequence[str], console: Console) -> list[str]:
    """Return the labels whose backends are installed; print a note on the others.

    CP Optimizer comes last, because Pyomo cannot be imported after docplex.

    Raises
    ------
    UnknownName
        For an unknown backend; the message lists similar names.
    """
    usable_names = []
    for label in sorted(labels, key=lambda name: name.startswith("cpo")):
        name = Contender(label).backend
        if name not in names():
            raise UnknownName("backend", name, names())
        try:
            reason = backend(name).availability().reason
        except Exception as e:  # a backend that raises is left out with its error, as in the registry
            reason = f"{type(e).__name__}: {e}"
        if reason:
            console.print(f"{label} is left out: {reason}", style="yellow")
        else:
            usable_names.append(label)
    return usable_names


def main(
    count: Annotated[int, typer.Option(min=1, help="Number of random models.")] = 500,
    seed: Annotated[int, typer.Option(help="Seed of the first model; the others have seed + 1, seed + 2, ...")] = 1,
    backends: Annotated[
        str, typer.Option(help="Backends, separated by commas; backend:lowering for one lowering of HiGHS.")
    ] = STANDARD,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes that check models in parallel.")] = 1,
    time_limit: Annotated[float, typer.Option(min=0.1, help="Time limit of each solve, in seconds.")] = 20.0,
    threads: Annotated[int, typer.Option(min=1, help="Number of threads of each solve.")] = 1,
) -> None:
    """Run the conformance command (its help text is ``HELP``); leave with ``typer.Exit``.

    Parameters
    ----------
    count : int
        Number of random models.
    seed : int
        Seed of the first model.
    backends : str
        Labels of the backends, separated by commas.
    jobs : int
        Number of processes.
    time_limit : float
        Time limit of each solve in seconds.
    threads : int
        Number of threads of each solve.
    """
    console = Console()
    limits = Limits(time=time_limit, threads=threads)
    try:
        labels = usable([b.strip() for b in backends.split(",") if b.strip()], console)
    except UnknownName as e:
        console.print(str(e), style="red")
        raise typer.Exit(2) from None
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        examined = cases(count, seed, labels, limits, jobs)
        reports = list(progress.track(examined, total=count, description="models"))
    caught = catch_faults(FAULTS, seed)
    if "cpsat" in labels:
        caught |= {name: caught_by(name, seed) for name in PARAMETERS if known_to_be_wrong(name)}
    console.print(construct_table(reports), backend_table(reports, labels), fault_table(caught))
    for case, verdict in disagreements(reports)[:SHOWN]:
        console.print(explained(case.seed, verdict, limits), markup=False, highlight=False, soft_wrap=True)
    faults = complaints(reports, labels, caught)
    for fault in faults:
        console.print(f"[red]{fault}")
    console.print("[red]not conformant" if faults else "[green]conformant")
    raise typer.Exit(1 if faults else 0)


def disagreements(examined: Sequence[Case]) -> list[tuple[Case, Verdict]]:
    """Return the wrong verdicts with their cases, those of the check ``solve`` first: others often follow from them."""
    wrong = [(c, v) for c in examined for v in c.verdicts if v.wrong]
    return sorted(wrong, key=lambda p: p[1].check != "solve")


def complaints(examined: Sequence[Case], labels: Sequence[str], caught: dict[str, int | None]) -> list[str]:
    """Return the reasons why the run fails; shares of constructs are checked for 200 models and more."""
    wrong = disagreements(examined)
    reasons = []
    if wrong:
        reasons = [how_many(len(wrong), "wrong answer")]
    reasons += [f"the planted fault {name} was not caught" for name, k in caught.items() if k is None]
    known = [c for c in examined if c.feasible is not None]
    if len(known) < 0.98 * len(examined):
        reasons.append(f"{how_many(len(examined) - len(known), 'model', verb='were')} too large to enumerate")
    for label in labels:
        open_ = sum(not v.decided for c in examined for v in c.verdicts if v.contender == label and v.check == "solve")
        if open_ > MOST_UNDECIDED * len(examined):
            reasons.append(f"{label} ended without a proof on {open_} of {how_many(len(examined), 'model')}")
    if len(examined) >= 200:
        counts = _construct_counts(examined)
        rare = [c for c in CONSTRUCTS if counts[c] < LEAST_SHARE * len(examined)]
        if rare:
            reasons += [f"too few models contain: {', '.join(rare)}"]
        infeasible = sum(not c.feasible for c in known)
        if infeasible < LEAST_INFEASIBLE * len(examined):
            reasons += [f"only {how_many(infeasible, 'model', verb='are')} infeasible"]
    return reasons


def explained(seed: int, verdict: Verdict, limits: Limits) -> str:
    """Return the text on a wrong answer: its error and the smallest model found that shows it, as Python code."""
    contender = Contender(verdict.contender)
    model = random_model(seed).model
    last = [verdict.wrong]

    def wrong(smaller: Model) -> bool:
        try:
            truth: Truth = brute_force(smaller)
        except EnumerationError:
            return False
        messages = examine_one(smaller, truth, contender, verdict.check, limits).wrong
        last[0] = messages or last[0]
        return bool(messages)

    small = shrink(model, wrong)
    return f"\nseed {seed}, {verdict.contender}, {verdict.check}: {'; '.join(last[0])}\n{declaration(small)}"


def _construct_counts(examined: Sequence[Case]) -> Counter[str]:
    return Counter(construct for c in examined for construct in c.constructs)


def construct_table(examined: Sequence[Case]) -> Table:
    """Return a table of the number of models with each construct; its title has the number of infeasible models."""
    counts = _construct_counts(examined)
    infeasible = sum(c.feasible is False for c in examined)
    table = Table(
        title=f"{how_many(len(examined), 'model')}, {infeasible} infeasible ({infeasible / len(examined):.0%})"
    )
    for _ in range(3):
        table.add_column("construct")
        table.add_column("models", justify="right")
    height = -(-len(CONSTRUCTS) // 3)
    for k in range(height):
        row = CONSTRUCTS[k::height]
        table.add_row(*(cell for c in row for cell in (c, str(counts[c]))))
    return table


def backend_table(examined: Sequence[Case], labels: Sequence[str]) -> Table:
    """Return a table by backend and check: answers that agree, are not proven or are wrong, and the time in seconds."""
    table = Table(title="agreement with enumeration")
    for head in ("backend", "check", "agreed", "not proven", "wrong", "seconds", "ms each"):
        table.add_column(head, justify="left" if head in ("backend", "check") else "right")
    for label in labels:
        mine = [v for c in examined for v in c.verdicts if v.contender == label]
        for check in dict.fromkeys(v.check for v in mine):
            some = [v for v in mine if v.check == check]
            wrong = sum(bool(v.wrong) for v in some)
            open_ = sum(not v.decided and not v.wrong for v in some)
            seconds = sum(v.seconds for v in some)
            numbers = (len(some) - wrong - open_, open_, wrong, f"{seconds:.1f}", f"{1000 * seconds / len(some):.0f}")
            table.add_row(label, check, *map(str, numbers))
    return table


def fault_table(caught: dict[str, int | None]) -> Table:
    """Return a table of the planted faults and after how many models each was caught."""
    table = Table(title="planted faults (a test of this test)")
    table.add_column("fault")
    table.add_column("description")
    table.add_column("caught after", justify="right")
    described = {fault.__name__: (fault.__doc__ or "").rstrip(".") for fault in FAULTS} | PARAMETERS
    for name, k in caught.items():
        table.add_row(name, described[name], how_many(k, "model") if k else "[red]not caught")
    return table
