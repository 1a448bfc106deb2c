"""The text of a method, parsed to the object: see ``method`` for the syntax."""

from __future__ import annotations

import re
from typing import Any

from ..backends import UnknownName
from ..errors import WrongValue
from ..models import Problem
from .classes import method_class
from .lowerings import parse_lowering
from .method import SECONDS, USUAL, Method, Start, fields_of
from .searches import Search
from .solvers import LinearMethod, SolverMethod
from .values import Value, from_text

NAMED = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>[^:/+]*)", re.ASCII)


def parse_method(text: str, problem: Problem | None = None) -> Method:
    """Parse the text of a method.

    Parameters
    ----------
    text : str
        The method, such as "cpsat:counts+warm".
    problem : Problem or None
        The problem that it should solve. Its formulations and heuristics are the only ones accepted; None: all.

    Returns
    -------
    Method
        An object whose ``text`` makes an equal one again.

    Raises
    ------
    UnknownName
        If a part of the text is not known. The message gives the part, the text and similar names.
    ValueError
        If the value of an option has a wrong type.

    Examples
    --------
    >>> parse_method("highs:pool@900s+warm=lns/5s:time_limit_buffer=1").grid
    900
    >>> parse_method("lns:rounds=30")
    Lns(backend=None, warm_start=None, rounds=30)
    """
    where = f" in {text!r}"
    plain, plus, start = text.partition("+")
    start, *options = start.split(":") if plus else ("",)
    head, *words = plain.split(":")
    arguments = [word for word in words if not NAMED.fullmatch(word)]
    options += [word for word in words if NAMED.fullmatch(word)]
    options += [word for word in arguments[1:] if word]  # no NAME=VALUE: an error
    found = _parts(head, arguments[0] if arguments else "", where)
    if plus:
        found["start"] = _after_plus(start, where)
    made = _made(found, options, where)
    if problem is not None:
        check_method(made, problem)
    return made


def check_method(method: Method, problem: Problem) -> None:
    """Raise UnknownName if a part of a method, or of its start, does not exist for a problem."""
    method.check(problem)
    if method.start is not None:
        start_method(problem, parse_start(method.start))


def start_method(problem: Problem, start: Start) -> Search:
    """Return the heuristic of a start: its own, or the usual one of the problem's kind; raise UnknownName."""
    from ..heuristics import usual_start

    method = start.method or parse_method(usual_start(problem))
    method.check(problem)
    assert isinstance(method, Search)  # a Start holds no solver
    return method


def parse_start(text: str) -> Start:
    """Parse the text of a start: "usual", "lns/5s", "first-solution/est".

    Returns
    -------
    Start

    Raises
    ------
    UnknownName
        If a part of the text is not known.

    Examples
    --------
    >>> parse_start("lns/rounds=30/5s").time_limit
    5.0
    """
    return _start(text, f" in {text!r}")


def _after_plus(text: str, where: str) -> Start:
    """Return the start of the text after the +: "warm" or "warm=START"."""
    word, equals, rest = text.partition("=")
    if word != "warm" or (equals and not rest):
        raise UnknownName("start", f"+{text}", ["+warm", "+warm=lns/5s"], where)
    return _start(rest if equals else USUAL, where)


def _start(text: str, where: str) -> Start:
    head, *words = re.split("[/:]", text)
    limit = SECONDS.fullmatch(words[-1]) if words else None
    if limit:
        words.pop()
    seconds = float(limit["seconds"]) if limit else None
    if head == USUAL and not words:
        return Start(None, seconds)
    arguments = [word for word in words if not NAMED.fullmatch(word)]
    found = _parts(head, arguments[0] if arguments else "", where)
    options = [word for word in words if NAMED.fullmatch(word)] + arguments[1:]
    return Start(_made(found, options, where), seconds)


def _parts(head: str, argument: str, where: str) -> dict[str, Any]:
    """Return the class, and the texts of the parts by their role."""
    name, at, solver = head.partition("@")
    cls = method_class(name, where)
    found: dict[str, Any] = {"class": cls}
    if issubclass(cls, SolverMethod):
        formulation, under, lowered = argument.partition("@")
        if at:  # a model has no formulation: highs@900s
            lowered, under = solver, at
        if under and not issubclass(cls, LinearMethod):
            raise UnknownName(f"lowering of {name}", f"@{lowered}", ["none"], where)
        return found | {"argument": formulation, "lowering": parse_lowering(lowered, where) if under else {}}
    if at and not fields_of(cls, "backend"):
        raise UnknownName(f"backend of {name}", f"@{solver}", ["none"], where)
    return found | {"argument": argument} | ({"backend": solver} if at else {})


def _made(found: dict[str, Any], options: list[str], where: str) -> Method:
    """Return the method of its parts."""
    cls: type[Method] = found["class"]
    given: dict[str, Any] = dict(found.get("lowering", {}))
    for part, known in (("argument", fields_of(cls, "argument")), ("backend", fields_of(cls, "backend"))):
        if known:
            given |= {known[0]: found[part]} if found.get(part) else {}
        elif found.get(part):
            raise UnknownName(f"argument of {cls.name}", found[part], ["none"], where)
    required = [name for name in fields_of(cls, "argument") if name not in given]
    if "start" in found:
        known = fields_of(cls, "start")
        if not known:
            raise UnknownName(f"start of {cls.name}", "+warm", ["none"], where)
        given[known[0]] = found["start"]
    given |= _options(cls, options, where)
    if required and issubclass(cls, Search):
        from ..heuristics import HEURISTICS

        if HEURISTICS[cls.name].arguments and "" not in HEURISTICS[cls.name].arguments:
            raise UnknownName(f"argument of {cls.name}", "", list(HEURISTICS[cls.name].arguments), where)
    made = cls(**given)
    if isinstance(made, Search):
        made.check_parts()
    return made


def _options(cls: type[Method], words: list[str], where: str) -> dict[str, Any]:
    """Return the options and the solver's parameters of the words NAME=VALUE."""
    own = dict.fromkeys(fields_of(cls, "option"))
    found: dict[str, Any] = {}
    parameters: dict[str, Value] = {}
    for word in words:
        named = NAMED.fullmatch(word)
        if named is None:
            raise WrongValue(f"{word!r}{where} is no option; expected NAME=VALUE")
        name, value = named["name"], from_text(named["value"])
        if name in own:
            found[name] = value
        elif fields_of(cls, "parameters"):
            parameters[name] = value
        else:
            raise UnknownName(f"option of {cls.name}", name, list(own) or ["none"], where)
    return found | ({fields_of(cls, "parameters")[0]: parameters} if parameters else {})
