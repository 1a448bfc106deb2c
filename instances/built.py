"""Instances that a function of the user's own makes: ``module:attribute`` in place of a file."""

from __future__ import annotations

import hashlib
import inspect
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import WrongArgument
from ..models.excerpt import UnknownName, excerpt
from ..models.kind import is_problem
from ..models.language import Model
from ..models.model_problem import ModelProblem
from ..models.platform import ProblemError
from ..models.plugins import REFERENCE, NoSuchAttribute, NoSuchModule, PluginError, explained, load_reference
from ..models.problem import check_problem
from .instance import Instance

EXPECTED = "expected a Model, a problem or an Instance, or a function without arguments that returns one"


def is_reference(name: str) -> bool:
    """Return whether a name has the form ``module:attribute``.

    Examples
    --------
    >>> is_reference("my_module:build"), is_reference("eurora_700"), is_reference("C:/log.swf")
    (True, False, False)
    """
    return REFERENCE.fullmatch(name) is not None


def built_instance(reference: str) -> Instance[Any]:
    """Return the instance of an object ``module:attribute``: the module is a file in the current folder, or installed.

    Parameters
    ----------
    reference
        The object: a model, a problem or an instance, or a function without arguments that returns one. It must return
        the same each time, as each run calls it in a process of its own.

    Returns
    -------
    Instance
        Its name is the reference with a dot in place of the colon, its path the file of the module.

    Raises
    ------
    NoSuchModule, UnknownName
        If the module or its attribute does not exist.
    PluginError
        If the module cannot be imported, or the function raises an error, or the object is something else.
    ProblemError
        If the model has no objective.
    UnnamedReference
        If data name the reference, and the user does not.
    """
    module, _, attribute = reference.partition(":")
    try:
        made = _made(reference, load_reference(reference))
    except NoSuchModule:
        raise NoSuchModule(
            f"there is no instance {reference}: {module}.py is not in the current folder, and no package {module} is installed"
        ) from None
    except NoSuchAttribute as e:
        raise UnknownName(f"object of the module {module} called", attribute, e.known) from None
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        raise PluginError(f"{reference}: the module {module} has no file, so that its runs could not be told apart")
    name = f"{module}.{attribute}"
    if isinstance(made, Instance):
        return replace(made, name=name, path=Path(file))
    kind = made.kind
    return Instance(name, kind, made, Path(file), f"{name}: a {kind} problem of {Path(file).name}", reference)


def built_source(name: str) -> str | None:
    """Return a hash of a reference, which tells the objects of one module apart; None for other names of instances."""
    if not is_reference(name) or Path(name).exists():
        return None
    return hashlib.sha256(name.encode()).hexdigest()[:20]


def _made(reference: str, found: object) -> Any:
    """Return the problem or the instance of an object; a model becomes a problem. Raises PluginError, ProblemError."""
    made = found
    if not isinstance(found, (Model, Instance, type)) and not is_problem(found) and callable(found):
        _require_no_arguments(reference, found)
        with explained(f"{reference} raised an error"):
            made = found()
    try:
        if isinstance(made, Model):
            return ModelProblem(made)
        problem: Any = made.problem if isinstance(made, Instance) else made
        if not is_problem(problem):
            what = f"{reference} is" if made is found else f"{reference} returned"
            raise PluginError(f"{what} {excerpt(made)}; {EXPECTED}")
        check_problem(problem)
    except ProblemError as e:
        raise ProblemError(f"{reference}: {e}") from None
    except WrongArgument as e:
        raise PluginError(f"{reference}: {e}") from None
    return made


def _require_no_arguments(reference: str, function: Any) -> None:
    """Raise PluginError if a function cannot be called without arguments."""
    try:
        inspect.signature(function).bind()
    except TypeError as e:
        raise PluginError(f"{reference} cannot be called without arguments ({e}); {EXPECTED}") from None
    except ValueError:  # a function without a signature, written in C
        pass
