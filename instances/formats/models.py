"""Reader of models: the JSON text of ``Model.to_json``."""

from __future__ import annotations

from pathlib import Path

from ...models.language import Model, ModelError
from ...models.model_problem import ModelProblem
from ...models.platform import ProblemError
from .numbered_lines import text_of_file


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
