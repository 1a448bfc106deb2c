"""Parts of third parties: how they are found by entry points or as ``module:attribute``, and what their functions return, checked.

Compiled code reads arrays without looking at their lengths: a key of three jobs for a workload of 99 would be read beyond
its end. So nothing that a user's function returns goes further without one of the checks of this file, made once, where
the values enter.
"""

from __future__ import annotations

import copy
import importlib
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import fields
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import SchedlabError, WrongValue
from .arguments import is_number, is_real, whole_array
from .array_types import Floats, Ints
from .words import excerpt

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

T = TypeVar("T")
REFERENCE = re.compile(r"(?P<module>[^\W\d]\w*(\.\w+)*):(?P<attribute>[^\W\d]\w*(\.\w+)*)")
NAME = re.compile(r"[\w.-]+")
RAISED = (Exception, SystemExit)  # a script without a guard ends the process when it is imported


class PluginError(SchedlabError, RuntimeError):
    """A part of a third party that cannot be used. The message names it and says what is wrong."""


@contextmanager
def calling(who: str) -> Iterator[None]:
    """Raise PluginError, with the name of a part and its method, for what it raises and is no error of schedlab.

    Examples
    --------
    >>> with calling("destroy operator Half(): jobs"):
    ...     1 / 0
    Traceback (most recent call last):
        ...
    schedlab.models.plugins.PluginError: destroy operator Half(): jobs raised ZeroDivisionError: division by zero
    """
    try:
        yield
    except SchedlabError:
        raise
    except Exception as e:
        raise PluginError(f"{who} raised {type(e).__name__}: {e}") from e


def plain_name(what: str, name: str) -> None:
    """Raise WrongValue if a name has other characters than letters, digits and ``-_.``: others have a meaning in texts.

    Examples
    --------
    >>> plain_name("heuristic", "a:b")
    Traceback (most recent call last):
        ...
    schedlab.errors.WrongValue: the name of the heuristic is 'a:b'; expected letters, digits, '-', '_' and '.' alone
    """
    if not NAME.fullmatch(name):
        raise WrongValue(f"the name of the {what} is {excerpt(name)}; expected letters, digits, '-', '_' and '.' alone")


def check_parts(label: str, part: object, methods: Iterable[str]) -> None:
    """Raise PluginError if the name of an object is no text, or a method is no function; it has all of them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> check_parts("the argument dispatcher", SimpleNamespace(name=None, decide=print), ["decide"])
    Traceback (most recent call last):
        ...
    schedlab.models.plugins.PluginError: the argument dispatcher: name is None; expected a text on one line
    """
    name = getattr(part, "name", None)
    if not isinstance(name, str) or not name.isprintable() or not name:
        raise PluginError(f"{label}: name is {excerpt(name)}; expected a text on one line")
    for each in methods:
        if not callable(getattr(part, each)):
            raise PluginError(f"{label}: {each} is {excerpt(getattr(part, each))}; expected a function")


def entry_points_of(group: str) -> Iterable[EntryPoint]:
    """Return the entry points of a group, in order of their installation folders."""
    from importlib.metadata import entry_points  # takes 10 ms, which `import schedlab` should not pay

    return entry_points(group=group)


def described(entry: EntryPoint) -> str:
    """Return a text with the name, the package and the module of an entry point."""
    package = ""
    if entry.dist is not None:
        package = f" of {entry.dist.name} {entry.dist.version}"
    return f"{entry.name}{package} ({entry.value})"


class NoSuchModule(SchedlabError, LookupError):
    """There is no module with this name."""


class NoSuchAttribute(SchedlabError, LookupError):
    """The module has no attribute with this name. ``known``: the public names that it defines."""

    def __init__(self, known: list[str]) -> None:
        super().__init__()
        self.known = known


def is_module(name: str) -> bool:
    """Return whether a module, or the package that it is part of, is in the current folder or installed."""
    with current_folder_first(), suppress(ValueError):  # of __main__
        return find_spec(name.partition(".")[0]) is not None
    return False


class UnnamedReference(PluginError):
    """A reference ``module:attribute`` that stands in data which somebody else may have written: it is not imported.

    ``reference``: the text.
    """

    def __init__(self, reference: str) -> None:
        super().__init__(
            f"it names {reference}, which is not imported, as whoever wrote the file chose it; "
            f"if you trust this code, name it with --own {reference}"
        )
        self.reference = reference


_NAMED: ContextVar[frozenset[str] | None] = ContextVar("references that may be imported", default=None)


@contextmanager
def only_named(references: Iterable[str]) -> Iterator[None]:
    """Within this context, ``load_reference`` imports these references alone: data are read, and may name any code.

    Examples
    --------
    >>> with only_named(["my_module:MyUsers"]):
    ...     load_reference("os:system")
    Traceback (most recent call last):
        ...
    schedlab.models.plugins.UnnamedReference: it names os:system, which is not imported, as whoever wrote the file ...
    """
    token = _NAMED.set(frozenset(references))
    try:
        yield
    finally:
        _NAMED.reset(token)


def load_reference(text: str) -> Any:
    """Return the object ``module:attribute``; the module is a file in the current folder, or installed.

    Raises
    ------
    UnnamedReference
        If data are read (``only_named``), and the user has not named this reference.
    NoSuchModule, NoSuchAttribute
        If the module or its attribute does not exist.
    PluginError
        If the module cannot be imported.
    """
    allowed = _NAMED.get()
    if allowed is not None and text not in allowed:
        raise UnnamedReference(text)
    module_name, _, attribute = text.partition(":")
    with current_folder_first(), explained(f"the module {module_name} cannot be imported"):
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as e:
            if e.name is not None and f"{module_name}.".startswith(f"{e.name}."):
                raise NoSuchModule(module_name) from None
            raise
    _find_neighbours_later(module)
    try:
        return attrgetter(attribute)(module)
    except AttributeError:
        defined = [n for n, v in vars(module).items() if getattr(v, "__module__", module_name) == module_name]
        raise NoSuchAttribute([n for n in defined if not n.startswith("_")]) from None


def _find_neighbours_later(module: ModuleType) -> None:
    """Let functions of a module of the current folder import its neighbours when they are called; installed modules go first."""
    here = Path.cwd()
    file = getattr(module, "__file__", None)
    if file is not None and here in Path(file).resolve().parents and str(here) not in sys.path:
        sys.path.append(str(here))


@contextmanager
def current_folder_first() -> Iterator[None]:
    """Find modules in the current folder first, as ``python -m`` does; the command ``bench`` alone does not."""
    here = str(Path.cwd())
    importlib.invalidate_caches()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        with suppress(ValueError):  # the module has changed the path itself
            sys.path.remove(here)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise PluginError with ``what``, the error and its place in place of any error of a third party's code."""
    try:
        yield
    except (PluginError, NoSuchModule):
        raise
    except RAISED as e:
        frames = traceback.extract_tb(e.__traceback__)
        place = ""
        if frames:
            place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
        raise PluginError(f"{what}: {type(e).__name__}: {e}{place}") from e


# --- What users' functions return: checks of keys, indices, durations.

NUMBERS = "biuf"  # kinds of NumPy types that are numbers; truth values count as 0 and 1


class WrongAnswer(PluginError, ValueError):
    """A user's function has returned something else than its protocol says; the message names the object and the value."""


def returned_numbers(who: str, answer: object, count: int, each: str, finite: bool = False) -> Floats:
    """Return what a user's function has returned as an array of one number for each of some things.

    Parameters
    ----------
    who : str
        The object and its function, for the message: ``"policy 'x': its key"``.
    answer : object
        What was returned: an array or a sequence.
    count : int
        How many numbers are expected.
    each : str
        What they belong to, in the plural: ``"jobs"``.
    finite : bool
        Whether infinite numbers are refused as well.

    Returns
    -------
    ndarray of float64, shape (count,)
        A copy of the numbers.

    Raises
    ------
    WrongAnswer
        If there are more or fewer numbers, another shape, values that are no numbers, or NaN.

    Examples
    --------
    >>> returned_numbers("policy 'x': its key", [3, 1.5], 2, "jobs")
    array([3. , 1.5])
    >>> returned_numbers("policy 'x': its key", [3, 1.5], 99, "jobs")
    Traceback (most recent call last):
        ...
    schedlab.models.plugins.WrongAnswer: policy 'x': its key returned an array of shape (2,), [3, 1.5]; expected one number for each of 99 jobs, shape (99,)
    """
    expected = f"expected one number for each of {count} {each}, shape ({count},)"
    array = _array(answer)
    if array is None or array.dtype.kind not in f"{NUMBERS}O":
        if array is None or not array.shape:
            kind = ""
        else:
            kind = f"an array of type {array.dtype} "
        raise WrongAnswer(f"{who} returned {kind}{_shown(answer)}; {expected}")
    _check_shape(who, answer, array, count, expected)
    if array.dtype.kind == "O":
        bad = next((k for k, value in enumerate(array) if not is_real(value)), None)
        if bad is not None:
            raise WrongAnswer(f"{who} returned {_shown(array[bad])} at position {bad}; {expected}")
    numbers = np.array(array, np.float64)
    wrong = np.flatnonzero(~np.isfinite(numbers) if finite else np.isnan(numbers))
    if wrong.size:
        no = "number"
        if finite:
            no = "finite number"
        value = "NaN"
        if not np.isnan(numbers[wrong[0]]):
            value = str(numbers[wrong[0]])
        raise WrongAnswer(f"{who} returned {value} at position {wrong[0]}, which is no {no}; {expected}")
    return numbers


def returned_wholes(who: str, answer: object, count: int, each: str, least: int, unit: str = "") -> Ints:
    """Return what a user's function has returned as an array of one whole number for each of some things.

    Parameters
    ----------
    who, answer, count, each
        As for ``returned_numbers``.
    least : int
        The smallest number that is allowed.
    unit : str
        The unit, for the message: ``"of seconds "``.

    Returns
    -------
    ndarray of int64, shape (count,)
        The numbers.

    Raises
    ------
    WrongAnswer
        If there are more or fewer numbers, another shape, values that are no whole numbers, or smaller ones.

    Examples
    --------
    >>> returned_wholes("predictor p: begin", [3, -4], 2, "jobs", 1, "of seconds ")
    Traceback (most recent call last):
        ...
    schedlab.models.plugins.WrongAnswer: predictor p: begin returned -4 at position 1; expected a whole number of seconds of at least 1 for each of 2 jobs, shape (2,)
    """
    expected = f"expected a whole number {unit}of at least {least} for each of {count} {each}, shape ({count},)"
    array = _array(answer)
    if array is None or not array.shape:
        raise WrongAnswer(f"{who} returned {_shown(answer)}; {expected}")
    _check_shape(who, answer, array, count, expected)
    wholes, fault = whole_array(array)
    if fault is not None:
        raise WrongAnswer(f"{who} returned {_shown(fault[1])} at position {fault[0]}; {expected}")
    small = np.flatnonzero(wholes < least)
    if small.size:
        raise WrongAnswer(f"{who} returned {wholes[small[0]]} at position {small[0]}; {expected}")
    return wholes


def returned_indices(who: str, answer: object, count: int, each: str) -> Ints:
    """Return what a user's function has returned as indices of some things; one that is repeated counts once.

    A mask of truth values is refused: as indices it would mean the things 0 and 1.

    Parameters
    ----------
    who : str
        The object and its function, for the message.
    answer : object
        What was returned: an array or a sequence; an empty one is allowed.
    count : int
        How many things there are: indices go from 0 to ``count - 1``.
    each : str
        What they are, in the plural: ``"jobs"``.

    Returns
    -------
    ndarray of int64, shape (indices,)
        The indices, each once, in the order in which they were returned.

    Raises
    ------
    WrongAnswer
        If the values are no whole numbers, out of range, a mask, or in more than one dimension.

    Examples
    --------
    >>> returned_indices("OneQueue().jobs", [True, False, True], 3, "jobs")
    Traceback (most recent call last):
        ...
    schedlab.models.plugins.WrongAnswer: OneQueue().jobs returned a mask of truth values, [True, False, True]; expected indices of jobs, whole numbers from 0 to 2: numpy.flatnonzero(mask) makes them
    """
    expected = f"expected indices of {each}, whole numbers from 0 to {count - 1}"
    array = _array(answer)
    if array is None or array.ndim != 1:
        shape = ""
        if array is not None and array.shape:
            shape = f"an array of shape {array.shape}, "
        raise WrongAnswer(f"{who} returned {shape}{_shown(answer)}; {expected}")
    if array.dtype.kind == "b":
        hint = f"{expected}: numpy.flatnonzero(mask) makes them"
        raise WrongAnswer(f"{who} returned a mask of truth values, {_shown(answer)}; {hint}")
    if not array.size:
        wholes = np.zeros(0, np.int64)
        fault = None
    else:
        wholes, fault = whole_array(array)
    if fault is not None:
        raise WrongAnswer(f"{who} returned {_shown(fault[1])} at position {fault[0]}; {expected}")
    outside = np.flatnonzero((wholes < 0) | (wholes >= count))
    if outside.size:
        raise WrongAnswer(f"{who} returned {wholes[outside[0]]} at position {outside[0]}; {expected}")
    _, first = np.unique(wholes, return_index=True)
    return wholes[np.sort(first)]


def returned_number(who: str, answer: object) -> float:
    """Return what a user's function has returned if it is one finite number; raise WrongAnswer else.

    Examples
    --------
    >>> returned_number("objective 'due': value", None)
    Traceback (most recent call last):
        ...
    schedlab.models.plugins.WrongAnswer: objective 'due': value returned None; expected a finite number
    """
    if isinstance(answer, (np.ndarray, np.generic)) and answer.size == 1:
        single = answer.item()
    else:
        single = answer
    if not is_number(single):
        raise WrongAnswer(f"{who} returned {_shown(answer)}; expected a finite number")
    return single


def is_false(answer: object) -> bool:
    """Return whether a user's callback has returned False, also as a truth value of NumPy; None and 0 are not False.

    Examples
    --------
    >>> is_false(False), is_false(np.bool_(False)), is_false(None), is_false(0)
    (True, True, False, False)
    """
    return isinstance(answer, (bool, np.bool_)) and not answer


def _array(answer: object) -> NDArray[np.generic] | None:
    """Return the values as an array; None if they are no array: None, a text, a mapping, lists of different lengths.

    An array with masked values is none, either: what is behind the mask is no value.
    """
    if answer is None or isinstance(answer, str | bytes | dict | set | frozenset):
        return None
    if isinstance(answer, np.ma.MaskedArray) and np.ma.getmaskarray(answer).any():
        return None
    try:
        return np.asarray(answer)
    except (TypeError, ValueError, OverflowError):
        return None


def _check_shape(who: str, answer: object, array: NDArray[np.generic], count: int, expected: str) -> None:
    if array.shape != (count,):
        what = ""
        if array.shape:
            what = f"an array of shape {array.shape}, "
        raise WrongAnswer(f"{who} returned {what}{_shown(answer)}; {expected}")


def _shown(value: object) -> str:
    """Return a value for a message, on one line: the ``repr`` of a long array has several."""
    return " ".join(excerpt(value).split())


# --- What parts of third parties see of a replay: data that they can read and not change; and their notes.


A = TypeVar("A", bound=np.ndarray[Any, Any])
Jobs = TypeVar("Jobs")  # a dataclass with arrays: a ``Workload``
OURS = f"{__name__.partition('.')[0]}."  # our parts change nothing, and compiled code has other types for data that cannot change


def seen_by(part: object, workload: Jobs) -> Jobs:
    """Return a workload whose arrays a part of a third party cannot change; it follows changes of the workload itself."""
    if _is_ours(part):
        return workload
    seen = copy.copy(workload)
    for field in fields(cast(Any, workload)):
        value = getattr(workload, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(seen, field.name, only_read(part, value))
    return seen


def only_read(part: object, array: A) -> A:
    """Return a view of an array that a part of a third party cannot change."""
    if _is_ours(part):
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def notes_of(part: object) -> tuple[str, ...]:
    """Return the remarks of a part, its attribute ``notes``: texts, or one text."""
    notes = getattr(part, "notes", ())
    if isinstance(notes, str):
        return (notes,)
    return tuple(map(str, notes))


def _is_ours(part: object) -> bool:
    module = getattr(part, "__module__", None) or type(part).__module__
    return str(module).startswith(OURS)
