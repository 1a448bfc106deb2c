"""Loading and writing of instances by name or folder, the kinds of instances, and the generators."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from os.path import isdir, isfile
from pathlib import Path
from typing import Any

from ..errors import SchedlabError, WrongArgument, WrongValue
from ..models import kind as problem_kinds
from ..models.arguments import checked
from ..models.kind import is_problem
from ..models.language import Model
from ..models.model_problem import ModelProblem
from ..models.platform import ProblemError
from ..models.plugins import REFERENCE, NoSuchAttribute, NoSuchModule, PluginError, explained, load_reference
from ..models.problem import check_problem
from ..models.words import UnknownName, excerpt, hint, similar
from .classic import read_classic
from .files.reading import SETTINGS, Folder
from .generators import computing_centre, eurora, fing, lublin, theta
from .generators import projects as random_projects
from .instance import Instance

SHIPPED = Path(__file__).parent
generators: dict[str, Callable[..., Instance]] = {
    "eurora": eurora.generate,
    "eurora-production": eurora.generate_production,
    "theta": theta.generate,
    "centre": computing_centre.generate,
    "project": random_projects.generate,
    "fing": fing.generate,
    "lublin": lublin.generate,
}


class UnknownInstance(SchedlabError, LookupError):
    """The error for a name that is neither a folder nor a shipped instance.

    Parameters
    ----------
    name
        The unknown name.

    Attributes
    ----------
    near
        Names of shipped instances that are similar to it, most similar first.
    """

    def __init__(self, name: str) -> None:
        known = names()
        self.near = similar(name, known)
        super().__init__(
            f"there is no instance {excerpt(name)}: neither a folder with an {SETTINGS} nor a shipped instance; "
            f"{hint(name, known, 'the shipped instances are', 'no instances are shipped')}"
        )


def names() -> list[str]:
    """Return the names of the shipped instances.

    Returns
    -------
    list of str
        The names, sorted; instances of one family (such as "eurora_99", "eurora_330") by size.

    Examples
    --------
    >>> "eurora_700" in names()
    True
    """
    return sorted(
        (p.parent.name for p in SHIPPED.glob(f"*/{SETTINGS}")), key=lambda n: (n.rstrip("0123456789"), len(n), n)
    )


def folder_of(name: str | Path) -> Path:
    """Return the folder of an instance: a path of it or of its ``instance.toml``, or a shipped one by its name; it may not exist."""
    path = Path(name)
    if path.name == SETTINGS and isfile(path):  # os.path.isfile: returns False, instead of raising, for an invalid path
        path = path.parent
    if not isfile(path / SETTINGS) and str(name) in names():
        return SHIPPED / str(name)
    return path


@checked
def load(folder: str | Path, drop_impossible: bool = False) -> Instance[Any]:
    """Read an instance folder, a file of a benchmark library, or a shipped instance by its name.

    Parameters
    ----------
    folder
        The path of an instance folder (or of its ``instance.toml``), of a file of a benchmark library (job shop, flexible
        job shop, PSPLIB, MMLIB, Patterson; the format is recognised by the content), or the name of a shipped instance. A text
        ``module:attribute`` names a model or a problem, or a function without arguments that returns one.
    drop_impossible
        If True, leave out the jobs that cannot run even on the empty platform, and list them in ``Instance.dropped``.
        If False, such a job is a fault.

    Returns
    -------
    Instance
        The instance.

    Raises
    ------
    UnknownInstance
        There is no such folder and no such shipped instance; similar names are in the message.
    InstanceError
        The files have faults. All faults are listed: file, line, field, expected value, found value.
    FormatError, ProblemError
        The file has none of these formats, or contradicts itself.
    NoSuchModule, UnknownName, PluginError
        The module or its attribute does not exist, or cannot be used.

    Examples
    --------
    >>> load("eurora_700").problem.at(12 * 3600, first=100).now
    43200
    """
    path = folder_of(folder)
    if isfile(path):
        return read_classic(path)
    if not isdir(path):
        if is_reference(str(folder)):
            return built_instance(str(folder))
        raise UnknownInstance(str(folder))
    files = Folder(path)
    if not files.faults:
        kind = files.settings.values.get("kind")
        known = None
        if isinstance(kind, str):
            known = problem_kinds.known(kind)
        if known is not None and known.reader is not None:
            return _read(known, files, drop_impossible)
        near = []
        if kind is None:
            near = similar("kind", files.settings.values, 1)
        instead = ""
        if near:
            instead = f" (is {near[0]!r} meant?)"
        files.settings.add_fault("kind", f"one of {', '.join(problem_kinds.having('reader'))}{instead}", kind)
    files.raise_faults()
    raise AssertionError("unreachable: a fault was recorded")


def _read(kind: problem_kinds.ProblemKind, files: Folder, drop_impossible: bool) -> Instance[Any]:
    """Return the instance of a folder; raise TypeError if the reader of its kind returns another kind of problem."""
    instance = problem_kinds.resolve(str(kind.reader))(files, drop_impossible)
    if not isinstance(instance, Instance) or not isinstance(instance.problem, kind.problem):
        raise WrongArgument(
            f"{kind.reader}: expected an Instance with a {kind.problem.__name__}, found {instance!r:.200}"
        )
    return instance


def write(instance: Instance, folder: str | Path) -> None:
    """Write an instance as a folder.

    The same instance gives the same bytes. The files are written to a temporary folder, read once from there to check
    them, and then renamed, so that a partly written file is never visible.

    Parameters
    ----------
    instance
        An instance of a kind that has a writer.
    folder
        The folder to write to. It is created if it does not exist; other files in it stay.

    Raises
    ------
    ValueError
        The instance has a property that the file format cannot represent, or its kind has no writer.
    NotReadable
        The written files could not be read again. Nothing was written.
    OSError
        A file cannot be written.
    """
    known = problem_kinds.known(instance.kind)
    if known is None or known.writer is None:
        expected = ", ".join(problem_kinds.having("writer"))
        raise WrongValue(f"instances of kind {instance.kind!r} cannot be written; expected one of {expected}")
    problem_kinds.resolve(known.writer)(instance, folder)


# --- Instances that a function of the user's own makes: ``module:attribute`` in place of a file.

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


def _made(reference: str, given: object) -> Any:
    """Return the problem or the instance of an object; a model becomes a problem. Raises PluginError, ProblemError."""
    made = given
    if not isinstance(given, (Model, Instance, type)) and not is_problem(given) and callable(given):
        _require_no_arguments(reference, given)
        with explained(f"{reference} raised an error"):
            made = given()
    try:
        if isinstance(made, Model):
            return ModelProblem(made)
        problem: Any
        if isinstance(made, Instance):
            problem = made.problem
        else:
            problem = made
        if not is_problem(problem):
            if made is given:
                what = f"{reference} is"
            else:
                what = f"{reference} returned"
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
