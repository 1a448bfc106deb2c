"""The operators that expressions, comparisons and intervals do not have: errors that say what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .quantities import ModelError

NOT_LINEAR = "it is not linear"
UNSOLVED = "its value is known after the solve: r.assignment[x], or m.value(x, r.assignment)"
LOGIC = "for 0-1 expressions and comparisons write x | y for or, x & y for and, ~x for not"
OF_EXPRESSIONS = {
    "**": "write x * x for a square; piecewise() is a function of one variable",
    "divmod": "write x // d for the quotient and x % d for the rest",
    "@": "write sum(variables, weights=numbers)",
    "/": f"{NOT_LINEAR}; piecewise() is a function of one variable",
    **dict.fromkeys(("^", "<<", ">>"), LOGIC),
    **dict.fromkeys(("int", "float", "complex", "index", "round"), UNSOLVED),
}
OF_COMPARISONS = dict.fromkeys(
    ("^", "+", "-", "*", "/", "abs"),
    "write holds(c), which is 1 if the constraint c holds; c | d for or, c & d for and, ~c for not",
)
OF_INTERVALS = {
    **dict.fromkeys(
        ("+", "-", "*", "/", "//", "%", "**", "<", "<=", ">", ">=", "abs", "neg", "int", "float"),
        "write one of its numbers: .start, .end, .size or .presence, such as a.end <= b.start",
    ),
    **dict.fromkeys(("|", "&", "^", "~"), "write its .presence"),
}
BINARY = {
    **{"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul"},
    **{"|": "or", "&": "and", "^": "xor", "<<": "lshift", ">>": "rshift", "divmod": "divmod"},
}
ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
UNARY = {
    "neg": "neg",
    "abs": "abs",
    "~": "invert",
    "int": "int",
    "float": "float",
    "complex": "complex",
    "index": "index",
}


def without(operators: dict[str, str]) -> Callable[[type[Any]], type[Any]]:
    """Return a class decorator: each operator that the class does not define raises ModelError with its advice."""

    def decorate(cls: type[Any]) -> type[Any]:
        for operator, advice in operators.items():
            for name in _methods(operator):
                if name not in vars(cls):
                    setattr(cls, name, _refusing(operator, advice, name))
        return cls

    return decorate


def _methods(operator: str) -> tuple[str, ...]:
    if operator in BINARY:
        return f"__{BINARY[operator]}__", f"__r{BINARY[operator]}__"
    if operator == "round":
        return "__round__", "__floor__", "__ceil__", "__trunc__"
    return (f"__{(ORDER | UNARY)[operator]}__",)


def _refusing(operator: str, advice: str, name: str) -> Callable[..., NoReturn]:
    def refuse(self: object, *others: object) -> NoReturn:
        text = _text(self, operator, others[0] if others else None, name)
        raise ModelError(f"{text}: the modelling language has no such {operator!r}; {advice}")

    refuse.__name__ = name
    return refuse


def _text(one: object, operator: str, other: object, name: str) -> str:
    if operator in BINARY or operator in ORDER:
        left, right = (
            (other, one) if name.startswith("__r") and name not in ("__round__", "__rshift__") else (one, other)
        )
        return f"divmod({left}, {right})" if operator == "divmod" else f"{left} {operator} {right}"
    if operator == "round":
        return f"{name.strip('_')}({one})"
    return f"{operator}{one}" if operator == "~" else f"{operator}({one})"
