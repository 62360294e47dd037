"""The function `vectorize`: scalar code of unmodified packages, on whole arrays.

>>> import numpy as np
>>> def clipped(x):
...     if x < 0:
...         return 0.0
...     return x * x
>>> vectorize(clipped)(np.array([-1.0, 2.0, 3.0]))
array([0., 4., 9.])
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from cassette_import.contexts.lanes.errors import is_compiled_by_numba, name_of
from cassette_import.contexts.lanes.nested_functions import VECTORIZED
from cassette_import.contexts.lanes.vectorized_call import Options, Progress, VectorizedCall
from cassette_import.errors import NotOverdubbable
from cassette_import.importing.installation import install
from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["vectorize"]


def vectorize(
    f: Callable[..., Any] | None = None,
    *,
    packages: Any = (),
    errors: str = "raise",
    effects: str = "refuse",
    max_paths: int | None = 1000,
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """A function that computes for whole arrays what an unmodified function computes for numbers.

    Parameters
    ----------
    f:
        The function. Its own module and the installed packages are converted. Without it, the result is a decorator.
    packages:
        Packages to install.
    errors:
        What happens if the function raises an exception for some lanes. `"raise"`: the exception of the first one is
        raised, with an attribute `lanes`, the indices of all lanes that fail. `"mask"`: these lanes have NaN.
        `"return"`: the result is a tuple of the results and a dict from the index to the exception.
    effects:
        What happens if the function changes something that outlives the call, or writes output. `"refuse"`: an
        `EffectError`. `"split"`: the lanes that do are run one by one, in their order, with a `CassetteWarning`.
    max_paths:
        How many paths through the function may be run one after the other, for each chunk; None for any number.
    chunk:
        How many lanes are computed together: it bounds the memory. None chooses a number for the caches of
        processors.
    progress:
        Called with the number of lanes that are done, and of all lanes.

    Returns
    -------
    A function with the arguments of `f`. Arguments that are arrays are lanes; they broadcast. All other arguments are
    the same for all lanes; numbers of NumPy become Python's, as the elements of arrays do. The result has the structure
    of `f`'s, with arrays of the broadcast shape in place of numbers.

    Raises
    ------
    EffectError
        If the function has effects, or gives a value of lanes to code that cannot compute with it.
    TooManyPaths
        If the lanes take more than `max_paths` paths.
    NotOverdubbable
        If the function has no Python source.

    Example
    -------
    >>> import numpy as np
    >>> vectorize(lambda x, y: divmod(x, y))(np.array([7, 8]), 3)
    (array([2, 2]), array([1, 2]))
    """
    for name, value, known in [
        ("errors", errors, ("raise", "mask", "return")),
        ("effects", effects, ("refuse", "split")),
    ]:
        if value not in known:
            raise ValueError(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")
    for name, number in [("max_paths", max_paths), ("chunk", chunk)]:
        if number is not None and (type(number) is not int or number < 1):
            raise ValueError(f"{name} is a positive number or None, not {number!r}")
    options = Options(errors, effects, max_paths, chunk, progress)
    if packages:
        install(packages)
    if f is None:
        return lambda function: _vectorized(function, options)
    return _vectorized(f, options)


def _vectorized(f: Any, options: Options) -> Callable[..., Any]:
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    if is_compiled_by_numba(f):
        raise NotOverdubbable(
            f"{name_of(f)} cannot be vectorized, because Numba has compiled it: take its decorator away, or have Numba "
            "compute arrays, with numba.vectorize in place of its decorator"
        )
    function = python_function(f)
    if function is None:
        raise NotOverdubbable(f"{f!r} cannot be vectorized: it has no Python source")
    if function.__code__.co_filename.startswith(PACKAGE_FOLDER):
        what = "it is vectorized already" if VECTORIZED in vars(function) else "it is a part of cassette_import itself"
        raise NotOverdubbable(f"{name_of(f)} cannot be vectorized: {what}")

    def vectorized(*arguments: Any, **keywords: Any) -> Any:
        return VectorizedCall(f, function.__code__.co_filename, arguments, keywords, options).result()

    try:
        functools.update_wrapper(vectorized, f)
    except AttributeError:
        pass
    if options.errors == "raise" and options.effects == "refuse":
        setattr(vectorized, VECTORIZED, f)
    return vectorized
