"""Files of benchmark libraries as instances: their format is recognised by their content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..models.knapsack import Item, Knapsack
from ..models.language import Model, ModelError
from ..models.language.text_forms import MARK
from ..models.model_problem import ModelProblem
from ..models.platform import ProblemError
from ..models.project.problem import Project
from ..models.words import how_many
from .files.reading import (
    FormatError,
    NumberedLine,
    decimal_of,
    end_error,
    is_whole,
    like_number,
    numbered_lines,
    text_of_file,
    wholes_of,
)
from .formats.projects import (
    is_imopse,
    is_mslib,
    is_progen_max,
    read_imopse,
    read_mmlib,
    read_mslib,
    read_patterson,
    read_progen_max,
    read_psplib,
    subgraphs_fault,
)
from .formats.shops import (
    is_aircraft_landing,
    is_flow_shop,
    is_one_weighted_tardiness,
    is_weighted_tardiness,
    penalty_scale,
    read_aircraft_landing,
    read_fjsplib,
    read_flow_shop,
    read_jsplib,
    read_taillard_job_shop,
    read_taillard_open_shop,
    read_weighted_tardiness,
    shop_of_taillard,
)
from .instance import Instance

# --- 0-1 knapsacks.


def read_knapsack(path: str | Path) -> Knapsack:
    r"""Read a 0-1 knapsack.

    The first line has the number of items and the capacity. Then follows one line per item with its value and weight, whole
    or decimal numbers. A line after them may have the solution as zeros and ones; it is not read.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Knapsack
        Items are named by their numbers, from "1". Decimal numbers are read exactly.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.

    References
    ----------
    .. [1] D. Pisinger, "Where are the hard knapsack problems?", Computers & Operations Research 32 (2005), 2271-2284.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two")
    ...     _ = file.write_text("2 10\n7 4\n3.5 6.25\n")
    ...     [item.weight for item in read_knapsack(file).items]
    [4, Fraction(25, 4)]
    """
    lines = numbered_lines(path)
    head = lines[0].text.split()
    counts = wholes_of(head[:1])
    capacity = decimal_of(head[-1])
    if len(head) != 2 or counts is None or capacity is None:
        raise lines[0].error("the number of items and the capacity")
    count = counts[0]
    if not count:
        raise lines[0].error("at least one item")
    if len(lines) <= count:
        raise end_error(lines, f"{how_many(count, 'line')}, one per item", f"{len(lines) - 1} of them")
    items = [Item(str(k), *_pair(line)) for k, line in enumerate(lines[1 : count + 1], 1)]
    after = [(line, word) for line in lines[count + 1 :] for word in line.text.split()]
    for k, (line, word) in enumerate(after):
        if word not in ("0", "1") or k >= count:
            raise line.error(
                f"the end of the file after {how_many(count, 'item')}, or the solution as {count} zeros and ones"
            )
    if 0 < len(after) < count:
        raise end_error(
            lines, f"the end of the file after {how_many(count, 'item')}, or {count} zeros and ones", after[0][1]
        )
    return Knapsack(items, capacity)


def _pair(line: NumberedLine) -> tuple[int | Fraction, int | Fraction]:
    words = line.text.split()
    if len(words) == 2:
        value, weight = map(decimal_of, words)
    else:
        value = None
        weight = None
    if value is None or weight is None:
        raise line.error("value and weight of an item")
    return value, weight


# --- Models: the JSON text of ``Model.to_json``.


def read_model(path: str | Path) -> ModelProblem:
    r"""Read a model.

    Parameters
    ----------
    path
        The JSON file, plain or compressed (``.gz``), as ``Model.to_json`` and ``bench export --format json`` write it.

    Returns
    -------
    ModelProblem
        The model as a problem.

    Raises
    ------
    FormatError
        The file is no text.
    ProblemError
        The text is no model, or the model has no objective; the message begins with the file and names the place.

    Examples
    --------
    >>> import tempfile
    >>> import schedlab as sl
    >>> m = sl.Model("one"); a = m.interval("a", size=3); m.minimize(a.end)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "one.json")
    ...     _ = file.write_text(m.to_json())
    ...     read_model(file).model
    Model('one': 1 interval, 0 integers, 0 constraints)
    """
    try:
        return ModelProblem(Model.from_json(text_of_file(path)))
    except (ModelError, ProblemError) as e:
        raise ProblemError(f"{path}: {e}") from None


# --- The benchmark libraries whose files are read: projects, shops, knapsacks; and the instance of such a file.


class Library(NamedTuple):
    """A file format: its reader, what it is, for the help, and whether its problems can be instance folders."""

    read: Callable[..., Project | Knapsack | ModelProblem]
    about: str
    folder: bool = True
    several: bool = False  # whether a file has several problems: ``read`` takes the number of one


LIBRARIES = {
    "psplib": Library(read_psplib, "project (RCPSP, MRCPSP): .sm, .mm of PSPLIB"),
    "mmlib": Library(read_mmlib, "project with modes (MRCPSP): MMLIB50, MMLIB100, MMLIB+"),
    "patterson": Library(read_patterson, "project (RCPSP): Patterson format, .rcp"),
    "jsplib": Library(read_jsplib, "job shop: standard text format"),
    "fjsplib": Library(read_fjsplib, "flexible job shop: .fjs"),
    "taillard": Library(read_flow_shop, "flow shop: Taillard's format, one per file"),
    "taillard-permutation": Library(
        partial(read_flow_shop, permutation=True),
        "permutation flow shop: Taillard's format, the same order of the jobs on all machines",
    ),
    "taillard-job-shop": Library(read_taillard_job_shop, "job shop: Taillard's format, times and machines"),
    "taillard-open-shop": Library(read_taillard_open_shop, "open shop: Taillard's format, times and machines"),
    "imopse": Library(read_imopse, "multi-skill project (MSRCPSP): .def of iMOPSE"),
    "mslib": Library(read_mslib, "multi-skill project (MSRCPSP): .msrcp of MSLIB"),
    "weighted-tardiness": Library(
        read_weighted_tardiness, "single machine, weighted tardiness: wt40, wt50, wt100 of the OR-Library", several=True
    ),
    "aircraft-landing": Library(read_aircraft_landing, "aircraft landing: airland of the OR-Library, one runway"),
    "progen-max": Library(read_progen_max, "project with maximal time lags (RCPSP/max): .sch of ProGen/max", False),
    "knapsack": Library(read_knapsack, "0-1 knapsack: items and capacity, then value and weight of each", False),
    "model": Library(read_model, "model in the modelling language: JSON of Model.to_json", False),
}
ENDINGS = (".gz", ".sm", ".mm", ".rcp", ".fjs", ".sch", ".def", ".msrcp", ".kp", ".txt", ".dat", ".json")


def library_name(path: str | Path) -> str:
    """Return the name of the instance of a file: its file name without the ending of its format.

    Examples
    --------
    >>> library_name("jsp/ft06.txt"), library_name("j301_1.sm.gz"), library_name("knapPI_1_100_1000_1")
    ('ft06', 'j301_1', 'knapPI_1_100_1000_1')
    """
    name = Path(path).name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name or Path(path).name


def library_instance(file: Path, form: str, name: str, number: int | None = None) -> Instance:
    """Read a file of a benchmark library.

    Parameters
    ----------
    file
        The file.
    form
        Its format, one of ``LIBRARIES``.
    name
        Name of the instance.
    number
        Which of the problems of a file with several; None: the file has one.

    Returns
    -------
    Instance
        The instance; its ``path`` is the file.

    Raises
    ------
    FormatError
        The file does not follow the format; the message has the line.
    ProblemError
        The data contradict themselves; the message begins with the file.
    """
    library = LIBRARIES[form]
    if number is not None and not library.several:
        raise FormatError(file, 1, f"no number of a problem: files of {form} have one problem", str(number))
    if library.several:
        problem = library.read(file, number)
    else:
        problem = library.read(file)
    if isinstance(problem, Knapsack):
        description = f"{name}: {how_many(len(problem.items), 'item')}, capacity {float(problem.capacity):g}"
    elif isinstance(problem, ModelProblem):
        counts = ((len(getattr(problem.model, what)), what) for what in ("intervals", "integers", "constraints"))
        description = f"{name}: {', '.join(how_many(n, what.removesuffix('s')) for n, what in counts)}"
    else:
        tasks = len(problem.tasks)
        modes = sum(len(t.modes) for t in problem.tasks)
        with_modes = ""
        if modes != tasks:
            with_modes = f" with {how_many(modes, 'mode')}"
        description = f"{name}: {how_many(tasks, 'task')}{with_modes}, {how_many(len(problem.resources), 'resource')}"
        scale = 1
        if form == "aircraft-landing":
            scale = penalty_scale(file)
        if scale > 1:
            description += f", penalties times {scale:,}"
    return Instance(name, problem.kind, problem, file, description, f"{form} file {file.name}")


# --- The format of a file of a benchmark library, recognised by its content alone.
#
# PSPLIB and MMLIB files have titles. All others are whole numbers; their shape says which format it is:
#
# - job shop: a line with the numbers of jobs and machines, then a line per job with a pair for each machine, in any order;
# - flexible job shop: the same first line, perhaps with a third number, then a line per job that begins with its steps;
# - Patterson: tasks and resources, capacities, then durations, demands and successors, with any line breaks;
# - flow shop: jobs and machines, then a row of durations per machine, perhaps with lines of words;
# - job shop and open shop of Taillard: jobs and machines, then a row of durations and a row of machines per job;
# - RCPSP/max: activities and resources, then a line per activity with its successors and lags in brackets;
# - multi-skill project: tables of resources with skills and of tasks (iMOPSE), or modules with titles (MSLIB);
# - weighted tardiness: 125 problems of 40, 50 or 100 jobs, with weights from 1 to 10, or one problem in three lines;
# - aircraft landing: planes and freeze time, then 6 numbers and the separations of each plane;
# - knapsack: items and capacity, then a line with value and weight per item;
# - model: an object of JSON with the key ``schedlab_model``.

OTHERS = {
    "imopse": is_imopse,
    "mslib": is_mslib,
    "weighted-tardiness": is_weighted_tardiness,
    "aircraft-landing": is_aircraft_landing,
}
SHAPES = {"jsplib": "job shop", "fjsplib": "flexible job shop", "patterson": "Patterson"}
LARGEST = 50_000_000  # bytes; the largest files of the literature have less than 2 MB, logs have more
READABLE = (
    "job shop, flexible job shop, flow shop, open shop, RCPSP and multi-mode RCPSP of PSPLIB and MMLIB, Patterson, RCPSP/max, "
    "multi-skill project of iMOPSE and MSLIB, weighted tardiness, aircraft landing, knapsack, model in JSON"
)


def read_classic(path: str | Path) -> Instance:
    r"""Read a file of a benchmark library whose format is recognised by its content.

    Parameters
    ----------
    path
        The text file, plain or compressed (``.gz``).

    Returns
    -------
    Instance
        A project, a knapsack or a model; its name is that of the file without its ending.

    Raises
    ------
    FormatError
        The file has none of the formats, or a fault in the format that it has; the message has the line.
    ProblemError
        The data contradict themselves; the message begins with the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.txt")
    ...     _ = file.write_text("2 2\n0 3 1 2\n1 4 0 1\n")
    ...     read_classic(file).description
    'two: 4 tasks, 2 resources'
    """
    return _read(Path(path))[1]


def _read(file: Path) -> tuple[str, Instance]:
    """Return the format of a file and its instance. Raises what ``read_classic`` raises."""
    lines = numbered_lines(file)
    refused = subgraphs_fault(lines)
    if refused is not None:
        raise refused
    reasons: list[str] = []
    faults: list[FormatError] = []
    for form in _forms(lines):
        try:
            return form, library_instance(file, form, library_name(file))
        except (FormatError, ProblemError) as e:
            if form not in SHAPES:
                raise
            reasons.append(f"{SHAPES[form]}: {str(e).removeprefix(f'{file}, ')}")
            if isinstance(e, FormatError):
                faults.append(e)
    if faults:  # the format that fits for the most lines is the likeliest: its fault is the place
        likely = max(faults, key=lambda fault: fault.line)
        raise FormatError(file, likely.line, f"one of the formats {READABLE}; as {', as '.join(reasons)}", likely.found)
    raise FormatError(file, 1, f"one of the formats {READABLE}", lines[0].text.strip()[:80])


def is_classic(path: str | Path) -> bool:
    """Return whether a path is a file that ``read_classic`` can read."""
    return classic_form(path) is not None


def classic_form(path: str | Path) -> str | None:
    """Return the format of a file, a name of ``LIBRARIES``; None if ``read_classic`` cannot read it.

    A file with no task and no item is taken for another one that begins with a 0, such as a table of nodes.
    """
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > LARGEST:
            return None
        form, instance = _read(file)
    except (FormatError, ProblemError, OSError):
        return None
    problem = instance.problem
    if isinstance(problem, Knapsack):
        if problem.items:
            return form
        return None
    if isinstance(problem, ModelProblem):
        return form
    if isinstance(problem, Project) and problem.tasks:
        return form
    return None


def _forms(lines: Sequence[NumberedLine]) -> list[str]:
    """Return the formats that the file may have, most likely first."""
    if lines[0].text.lstrip().startswith("{") and any(MARK in line.text for line in lines[:2]):
        return ["model"]
    for form, fits in OTHERS.items():
        if fits(lines):
            return [form]
    if any("PRECEDENCE RELATIONS" in line.text.upper() for line in lines):
        return ["psplib"]
    if is_progen_max(lines):
        return ["progen-max"]
    shop = shop_of_taillard(lines)
    if shop is not None:
        return [f"taillard-{shop.replace(' ', '-')}"]
    if is_flow_shop(lines):
        return ["taillard"]
    if _is_knapsack(lines):
        return ["knapsack"]
    if is_one_weighted_tardiness(lines):
        return ["weighted-tardiness"]
    head = lines[0].text.split()
    if len(head) < 2 or not all(map(is_whole, head[:2])):
        return []
    if _is_job_shop(lines):
        return ["jsplib", "fjsplib", "patterson"]
    return ["fjsplib", "jsplib", "patterson"]


def _is_job_shop(lines: Sequence[NumberedLine]) -> bool:
    """Return whether each job visits each machine once. Some flexible job shops have rows of the same length."""
    _, count, *_ = wholes_of(lines[0].text.split()[:2]) or (0, 0)
    rows = [line.text.split() for line in lines[1:]]
    if any(len(row) != 2 * count for row in rows):  # before a set of the machines: the head may name any number of them
        return False
    if rows:
        machines = {str(m) for m in range(count)}
    else:
        machines = set()
    return all({*row[::2]} == machines for row in rows)


def _is_knapsack(lines: Sequence[NumberedLine]) -> bool:
    """Return whether a file has a pair of numbers per item, after the numbers of items and capacity.

    A job shop with one machine has the same shape; it has machine 0 in each line.
    """
    head = lines[0].text.split()
    counts = wholes_of(head[:1])
    if len(head) != 2 or counts is None or not like_number(head[1]) or len(lines) <= counts[0]:
        return False
    items = [line.text.split() for line in lines[1 : counts[0] + 1]]
    pairs = all(len(row) == 2 and all(map(like_number, row)) for row in items)
    return pairs and (head[1] != "1" or any(row[0] != "0" for row in items))
