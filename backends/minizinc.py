"""A model as a text in MiniZinc, which any MiniZinc solver reads.

An interval is a variable for its start, and one for its size if that is not fixed; an optional one also has a ``var bool``, its
presence, and takes no time in ``disjunctive`` and ``cumulative`` if it is absent. Each function, such as ``max`` or ``element``, becomes a variable with a
constraint of its own, so that an index outside of an array is infeasible, as in the modelling language. Constructs for which
MiniZinc has no constraint, such as levels, sequences and state functions, are decomposed before (``decompositions``). The
objective is the first one; real coefficients are multiplied by a factor that makes them whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from ..errors import SolverUnavailable, WrongArgument
from ..models.language import (
    AllDifferent,
    AllOrNone,
    Alternative,
    Comparison,
    Cumulative,
    ForbidExtent,
    Integer,
    Interval,
    Linear,
    Model,
    NoOverlap,
    Precedence,
    Synchronize,
    Table,
)
from ..models.language.bounds import Bounds
from ..models.language.constraints import Constraint, expressions_of
from ..models.language.expressions import (
    Atom,
    Attribute,
    Element,
    Entry,
    Holds,
    Max,
    Min,
    Number,
    Overlap,
    Product,
    Quotient,
    Remainder,
    atoms_below,
)
from .decompositions.chain import Chain
from .decompositions.decomposition import PRECEDENCES, Construct

SUPPORTS = PRECEDENCES | {
    Construct.INTERVAL,
    Construct.OPTIONAL,
    Construct.VARIABLE_SIZE,
    Construct.START_WINDOWS,
    Construct.ALTERNATIVE,
    Construct.SYNCHRONIZE,
    Construct.NO_OVERLAP,
    Construct.ALL_OR_NONE,
    Construct.FORBID_EXTENT,
    Construct.CUMULATIVE,
    Construct.MAXIMUM_LAG,
    Construct.MAX,
    Construct.MIN,
    Construct.HOLDS,
    Construct.OVERLAP,
    Construct.ELEMENT,
    Construct.PIECEWISE,  # refused by name
    Construct.PRODUCT,
    Construct.DIVISION,
    Construct.ENTRY,
    Construct.ALL_DIFFERENT,
    Construct.TABLE,
    Construct.REAL,
}
GLOBALS = ("alldifferent", "cumulative", "disjunctive", "table")
AND, OR = " /\\ ", " \\/ "
LARGEST_SCALE = 10**9  # of the factor that makes coefficients whole numbers
LARGEST_DENOMINATOR = 10**6  # of a fraction that a float stands for
RESERVED = """
ann annotation any array bool case constraint default diff div else elseif endif enum exists export false float
forall function if import in include int intersect let list local maximize minimize mod not of op opt output par
predicate record ref satisfy set show_type solve string subset superset symdiff test then true tuple type union
var variant_record where xor max min abs sum product cumulative disjunctive table alldifferent occurs absent deopt
bool2int ub lb dom show join array1d array2d index_set objective
"""
WORDS = frozenset(RESERVED.split())


def to_minizinc(model: Model) -> str:
    r"""Return a model as the text of a ``.mzn`` file.

    Parameters
    ----------
    model : Model
        The model; of several objectives the first one is written.

    Returns
    -------
    str

    Raises
    ------
    SolverUnavailable
        If the model has a construct that cannot be written with whole numbers; the message names it.

    Examples
    --------
    >>> import schedlab as sl
    >>> m = sl.Model("one", horizon=9); a = m.interval("a", size=3); m.minimize(a.end)
    >>> print(to_minizinc(m))
    % Model one: 1 interval, 0 integers, 0 constraints.
    var 0..9: a;
    var int: objective = (a + 3);
    solve minimize objective;
    output ["objective = \(objective)\n", "a = \(a)\n"];
    <BLANKLINE>
    """
    if not isinstance(model, Model):
        raise WrongArgument(f"model of to_minizinc is {model!r:.80}; expected a Model")
    return _Writer(model).text()


class _Writer:
    """The text of one model.

    Parameters
    ----------
    origin : Model
        The model.
    """

    def __init__(self, origin: Model) -> None:
        self.origin = origin
        chain = Chain(origin, SUPPORTS)
        self.model = chain.model
        self.decomposed = sorted(chain.replaced)
        self.names = _Names()
        self.bounds = Bounds()
        self.lines: list[str] = []
        self.declared: list[Integer | Interval] = [*self.model.integers, *self.model.intervals]
        self.variables = {x: self.names.new(x.name) for x in self.declared}
        self.sizes: dict[Interval, str] = {}
        self.presences: dict[Interval, str] = {}
        self.atoms: dict[Atom, str] = {}

    def text(self) -> str:
        """Return the whole text."""
        self._declare()
        self._functions()
        for named in self.model.constraints:
            written = list(self._constraint(named.constraint))
            if written:
                self.lines += [f"% {_one_line(named.name)}", *(f"constraint {each};" for each in written)]
        solved = self._objective()
        m = self.origin
        counts = ", ".join(
            f"{len(some)} {what}{'' if len(some) == 1 else 's'}"
            for some, what in ((m.intervals, "interval"), (m.integers, "integer"), (m.constraints, "constraint"))
        )
        head = [f"% Model {_one_line(m.name)}: {counts}."]
        if self.decomposed:
            head += [f"% Decomposed: {', '.join(self.decomposed)}."]
        if len(m.objectives) > 1:
            head += [f"% Only the first of its {len(m.objectives)} objectives is written."]
        used = [name for name in GLOBALS if any(f"{name}(" in line for line in self.lines if line[0] != "%")]
        includes = [f'include "{name}.mzn";' for name in used]
        return "\n".join([*head, *includes, *self.lines, *solved, self._output()]) + "\n"

    # --- Variables.

    def _declare(self) -> None:
        """Declare the variables, and constraints that fix what an absent interval leaves open."""
        for x in self.model.integers:
            self.lines.append(f"var {x.lo}..{x.hi}: {self.variables[x]};")
        for v in self.model.intervals:
            name = self.variables[v]
            starts = _domain(v.windows)
            self.lines.append(f"var {starts}: {name};")
            fixed = f"{name} = {v.start_lo}"
            self.sizes[v] = str(v.size_lo)
            if v.size_lo != v.size_hi:
                size = self.sizes[v] = self.names.new(f"{v.name} size")
                self.lines.append(f"var {v.size_lo}..{v.size_hi}: {size};")
                fixed += f"{AND}{size} = {v.size_lo}"
            if v.optional:
                present = self.presences[v] = self.names.new(f"{v.name} present")
                self.lines += [f"var bool: {present};", f"constraint not {present} -> ({fixed});"]

    def _functions(self) -> None:
        """Give each function, and each attribute of an optional interval, a variable or a text."""
        whole = [e for c in self.model.constraints for e in expressions_of(c.constraint)]
        for atom in atoms_below([*whole, *self.model.objectives[:1]]):
            for e in getattr(atom, "operands", ()):
                self.bounds.of(e)
            match atom:
                case Integer():
                    self.atoms[atom] = self.variables[atom]
                case Attribute():
                    self.atoms[atom] = self._attribute(atom)
                case _:
                    self.atoms[atom] = self._function(atom)

    def _attribute(self, a: Attribute) -> str:
        """Return the text of an attribute, which is 0 if the interval is absent."""
        v = a.interval
        if a.field == "presence":
            return f"bool2int({self._presence(v)})"
        value = {"start": self.variables[v], "end": f"({self._end(v)})", "size": self.sizes[v]}[a.field]
        if not v.optional:
            return value
        name = self._new(f"{v.name} {a.field}", a)
        self.lines.append(f"constraint {name} = {self._or_zero(v, value)};")
        return name

    def _new(self, wanted: str, atom: Atom) -> str:
        """Declare a variable for an atom."""
        lo, hi = self.bounds.of(atom)
        name = self.names.new(wanted)
        self.lines.append(f"var {math.floor(lo)}..{math.ceil(hi)}: {name};")
        return name

    def _function(self, atom: Atom) -> str:
        """Declare the variable of a function, with the constraint that it has its value."""
        kind = type(atom).__name__.lower()
        if not atom.integral:
            raise SolverUnavailable(
                f"{atom}: MiniZinc files have whole numbers alone, and this {kind} can have other values; "
                "write the model for MiniZinc without it"
            )
        operands = [self._linear(e) for e in getattr(atom, "operands", ())]
        value = self._value(atom, operands)
        name = self._new(kind, atom)
        self.lines.append(f"constraint {name} = {value};")
        if isinstance(atom, (Quotient, Remainder)):
            self.lines.append(f"constraint {operands[1]} >= 1;")
        return name

    def _value(self, atom: Atom, operands: Sequence[str]) -> str:
        """Return the text of the value of a function."""
        match atom:
            case Max():
                return f"max([{', '.join(operands)}])"
            case Min():
                return f"min([{', '.join(operands)}])"
            case Holds():
                return f"bool2int({self._comparison(atom.comparison)})"
            case Overlap():
                v = atom.interval
                inside = f"max(0, min({self._end(v)}, {atom.hi}) - max({self.variables[v]}, {atom.lo}))"
                return self._or_zero(v, inside)
            case Element():
                values = ", ".join(map(str, atom.array))
                return f"array1d(0..{len(atom.array) - 1}, [{values}])[{operands[0]}]"
            case Entry():
                return f"array1d(0..{len(operands) - 2}, [{', '.join(operands[1:])}])[{operands[0]}]"
            case Product():
                return f"({operands[0]}) * ({operands[1]})"
            case Remainder():
                return _remainder(*operands)
            case Quotient():
                return f"(({operands[0]}) - {_remainder(*operands)}) div ({operands[1]})"
            case _:
                raise SolverUnavailable(f"{type(atom).__name__} cannot be written as MiniZinc")

    def _linear(self, e: Linear, factor: int = 1) -> str:
        """Return the text of an expression times a factor that makes its coefficients whole."""
        parts = []
        for atom, c in e.terms.items():
            k = _times(c, factor)
            parts.append(self.atoms[atom] if k == 1 else f"{k}*{self.atoms[atom]}")
        constant = _times(e.constant, factor)
        return " + ".join([*parts, *([str(constant)] if constant or not parts else [])]).replace("+ -", "- ")

    # --- Ends and presence.

    def _end(self, v: Interval) -> str:
        if self.sizes[v] == "0":
            return self.variables[v]
        return f"{self.variables[v]} + {self.sizes[v]}"

    def _presence(self, v: Interval) -> str:
        return self.presences.get(v, "true")

    def _or_zero(self, v: Interval, value: str) -> str:
        """Return a value, or 0 if the interval is absent."""
        if v.optional:
            return f"if {self.presences[v]} then {value} else 0 endif"
        return value

    def _if_present(self, intervals: Iterable[Interval], text: str) -> str:
        """Return a constraint that holds if one of the intervals is absent."""
        needed = dict.fromkeys(self.presences[v] for v in intervals if v.optional)
        if needed:
            return f"({AND.join(needed)}) -> ({text})"
        return text

    # --- Constraints.

    def _constraint(self, c: Constraint) -> Iterator[str]:
        """Yield a constraint as texts."""
        match c:
            case Comparison():
                yield self._comparison(c)
            case Precedence():
                yield from map(self._precedence, c.parts)
            case NoOverlap(intervals):
                if len(intervals) > 1:
                    yield f"disjunctive({self._starts(intervals)}, {self._sizes(intervals)})"
            case Cumulative(intervals, demands, steps):
                yield from self._cumulative(intervals, demands, steps[0][1])
            case Alternative(a, options, count):
                chosen = " + ".join(f"bool2int({self._presence(o)})" for o in options)
                yield f"{chosen} = {count} * bool2int({self._presence(a)})"
                yield from (self._together(a, o) for o in options)
            case Synchronize(a, others):
                yield from (self._together(a, o) for o in others)
            case AllOrNone(intervals):
                first = None
                if intervals:
                    first = intervals[0]
                yield from (
                    f"{self._presence(v)} <-> {self._presence(intervals[0])}" for v in intervals if v is not first
                )
            case ForbidExtent(v):
                if v.size_lo > 0:
                    lasts = ""
                else:
                    lasts = f"{self.sizes[v]} = 0{OR}"
                for lo, hi in c.within_reach():
                    yield self._if_present([v], f"{lasts}{self._end(v)} <= {lo}{OR}{self.variables[v]} >= {hi}")
            case AllDifferent(expressions):
                yield f"alldifferent([{', '.join(map(self._linear, expressions))}])"
            case Table(expressions, tuples):
                yield self._table(expressions, tuples)
            case _:
                raise SolverUnavailable(f"{type(c).__name__} cannot be written as MiniZinc")

    def _cumulative(self, intervals: Sequence[Interval], demands: Sequence[Any], capacity: int) -> Iterator[str]:
        """Yield a cumulative, without those that need nothing, and that those that need too much take no time."""
        users = []
        for v, demand in zip(intervals, demands, strict=True):
            if demand > capacity:
                yield f"{self._or_zero(v, self.sizes[v])} = 0"
            elif demand and self.sizes[v] != "0":
                users.append((v, demand))
        if users:
            used = [v for v, _ in users]
            heights = ", ".join(self._height(v, demand) for v, demand in users)
            yield f"cumulative({self._starts(used)}, {self._sizes(used)}, [{heights}], {capacity})"

    def _height(self, v: Interval, demand: int) -> str:
        """Return the demand of an interval, 0 if it takes no time: in ``cumulative``, its start then counts for some solvers."""
        if v.size_lo == 0:
            return self._or_zero(v, f"if {self.sizes[v]} >= 1 then {demand} else 0 endif")
        return self._or_zero(v, str(demand))

    def _comparison(self, c: Comparison) -> str:
        """Return the text of a comparison, with whole coefficients."""
        factor = _scale([*c.expr.terms.values(), *(side for side in (c.lo, c.hi) if math.isfinite(side))], c)
        text = self._linear(c.expr, factor)
        lo, hi = (side if math.isinf(side) else _times(side, factor) for side in (c.lo, c.hi))
        if lo == hi:
            return f"{text} = {hi}"
        parts = []
        if lo != -math.inf:
            parts = [f"{text} >= {lo}"]
        if hi != math.inf:
            parts += [f"{text} <= {hi}"]
        return AND.join(parts) or "true"

    def _precedence(self, p: Precedence) -> str:
        points: dict[str, Callable[[Interval], str]] = {"start": self.variables.__getitem__, "end": self._end}
        left, right = p.fields
        delay = ""
        if p.delay:
            delay = f" + {p.delay}"
        return self._if_present([p.before, p.after], f"{points[left](p.before)}{delay} <= {points[right](p.after)}")

    def _together(self, a: Interval, b: Interval) -> str:
        """Return that two intervals have the same start and end if both are present."""
        same = f"{self.variables[a]} = {self.variables[b]}"
        if self.sizes[a] != self.sizes[b]:
            same += f"{AND}{self.sizes[a]} = {self.sizes[b]}"
        return self._if_present([a, b], same)

    def _starts(self, intervals: Iterable[Interval]) -> str:
        return f"[{', '.join(self.variables[v] for v in intervals)}]"

    def _sizes(self, intervals: Iterable[Interval]) -> str:
        return f"[{', '.join(self._or_zero(v, self.sizes[v]) for v in intervals)}]"

    def _table(self, expressions: Sequence[Linear], tuples: Sequence[Sequence[int]]) -> str:
        if not tuples:
            return "false"
        values = ", ".join(str(value) for row in tuples for value in row)
        rows = f"array2d(1..{len(tuples)}, 1..{len(expressions)}, [{values}])"
        return f"table([{', '.join(map(self._linear, expressions))}], {rows})"

    # --- The objective, and what a solver prints.

    def _objective(self) -> list[str]:
        if not self.model.objectives:
            return ["solve satisfy;"]
        e = self.model.objectives[0]
        factor = _scale(e.terms.values(), e)
        constant = _exact(e.constant) * factor
        note = []
        if factor > 1:
            note = [f"% The objective is {factor} times that of the model."]
        if constant.denominator != 1:
            note.append(f"% The constant {float(constant)} of the objective is left out.")
            e = Linear(e.terms)
        return [*note, f"var int: objective = {self._linear(e, factor)};", f"solve {self.model.sense} objective;"]

    def _output(self) -> str:
        shown = []
        if self.model.objectives:
            shown = [r'"objective = \(objective)\n"']
        for x in self.declared:
            name = self.variables[x]
            shown.append(rf'"{name} = \({name})\n"')
            if isinstance(x, Interval):
                parts = [self.sizes[x] if x.size_lo != x.size_hi else "", self.presences.get(x, "")]
                shown += [rf'"{part} = \({part})\n"' for part in parts if part]
        return f"output [{', '.join(shown)}];"


class _Names:
    """Names that MiniZinc takes, each once."""

    def __init__(self) -> None:
        self.taken = set(WORDS)

    def new(self, wanted: str) -> str:
        """Return a name that is not taken yet.

        Examples
        --------
        >>> names = _Names()
        >>> names.new("a on node 3"), names.new("a-on-node-3"), names.new("max"), names.new("3")
        ('a_on_node_3', 'a_on_node_3_2', 'max_2', 'v_3')
        """
        plain = re.sub(r"[^A-Za-z0-9]+", "_", wanted).strip("_")[:100] or "v"
        if not plain[0].isalpha():
            plain = f"v_{plain}"
        chosen, k = plain, 1
        while chosen in self.taken:
            k += 1
            chosen = f"{plain}_{k}"
        self.taken.add(chosen)
        return chosen


def _domain(windows: Sequence[tuple[int, int]]) -> str:
    """Return windows as a set of MiniZinc."""
    if len(windows) == 1:
        return f"{windows[0][0]}..{windows[0][1]}"
    return f"({' union '.join(f'{lo}..{hi}' for lo, hi in windows)})"


def _remainder(x: str, d: str) -> str:
    """Return ``x % d`` of Python for d >= 1; ``mod`` of MiniZinc has the sign of x."""
    return f"((({x}) mod ({d})) + ({d})) mod ({d})"


def _exact(value: Number) -> Fraction:
    """Return a number as a fraction: 1 / 3600 for 0.0002777777777777778, as this is the float nearest to it.

    Examples
    --------
    >>> _exact(0.1), _exact(1 / 3600), _exact(3)
    (Fraction(1, 10), Fraction(1, 3600), Fraction(3, 1))
    """
    if isinstance(value, int):
        return Fraction(value)
    near = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    if float(near) == value:
        return near
    return Fraction(repr(float(value)))


def _scale(values: Iterable[Number], what: Any) -> int:
    """Return the least factor by which all values are whole numbers. Raises SolverUnavailable."""
    factor = math.lcm(*(_exact(v).denominator for v in values))
    if factor > LARGEST_SCALE:
        raise SolverUnavailable(
            f"{what}: MiniZinc files have whole numbers alone, and no factor up to 10^9 makes these coefficients whole; round them"
        )
    return factor


def _times(value: Number, factor: int) -> int:
    return int(_exact(value) * factor)


def _one_line(text: str) -> str:
    return " ".join(text.split())
