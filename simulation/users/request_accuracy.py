"""The accuracy of requested walltimes, runtime / walltime, and its classes [Rocchetti2015, 4]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
CLASSES = 5
DIGITS = 9  # of an accuracy times the number of classes: the mean of ten times 0.2 is in the class of 0.2


def request_accuracy(runtime: Ints, walltime: Ints) -> Floats:
    """Return runtime / walltime of each job, at most 1.

    Parameters
    ----------
    runtime, walltime : ndarray of int64, shape (jobs,)
        Seconds; values below 1 count as 1.

    Examples
    --------
    >>> request_accuracy(np.array([35, 500]), np.array([100, 400])).tolist()
    [0.35, 1.0]
    """
    found: Floats = np.minimum(1.0, np.maximum(runtime, 1) / np.maximum(walltime, 1))
    return found


def accuracy_class(accuracy: Floats, classes: int = CLASSES) -> Ints:
    """Return the class of each accuracy: 1 for the least accurate, ``classes`` for the most accurate.

    Class k holds the accuracies from (k - 1) / classes to less than k / classes; the last one also 1.

    Parameters
    ----------
    accuracy : ndarray of float
        Values from 0 to 1.
    classes : int
        Number of classes, at least 1.

    Examples
    --------
    >>> accuracy_class(np.array([0.0, 0.19, 0.2, 0.35, 0.6, 0.8, 1.0])).tolist()
    [1, 1, 2, 2, 4, 5, 5]
    """
    found: Ints = np.minimum(classes, np.floor(np.round(accuracy * classes, DIGITS)).astype(np.int64) + 1)
    return found


def class_names(classes: int = CLASSES) -> Sequence[str]:
    """Return the names of the classes with their limits.

    Examples
    --------
    >>> class_names()
    ['a1 (0-0.2)', 'a2 (0.2-0.4)', 'a3 (0.4-0.6)', 'a4 (0.6-0.8)', 'a5 (0.8-1)']
    """
    return [f"a{k + 1} ({k / classes:g}-{(k + 1) / classes:g})" for k in range(classes)]
