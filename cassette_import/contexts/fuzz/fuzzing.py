"""The function `fuzz`: inputs for which an unmodified function raises exceptions.

Checks what the caller gives and prepares a search.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from cassette_import.contexts.fuzz.coverage import coverage
from cassette_import.contexts.fuzz.findings import Finding, Folder
from cassette_import.contexts.fuzz.inputs import checked
from cassette_import.contexts.fuzz.running import Limits
from cassette_import.contexts.fuzz.search import Search
from cassette_import.errors import NotOverdubbable
from cassette_import.importing.installation import install
from cassette_import.interpreter.callables import python_function

__all__ = ["Findings", "fuzz"]

_SECONDS = 60.0
_MOST_DECORATORS = 100


class Findings(list[Finding]):
    """The findings of a search: a list, each call site once.

    Attributes
    ----------
    executions, tagged:
        How often the function ran, and how often with tagged inputs.
    branches:
        How many branches of the packages were reached.
    corpus:
        The inputs that reached something new, in the order in which they were found.
    interrupted:
        Whether Ctrl-C ended the search.

    Example
    -------
    >>> found = fuzz(len, ["text"], executions=10, packages="colorsys")
    >>> len(found), found.executions
    (0, 10)
    """

    def __init__(self, search: Search, interrupted: bool) -> None:
        super().__init__(search.findings.values())
        self.executions = search.executions
        self.tagged = search.tagged
        self.branches = len(search.coverage.branches)
        self.corpus = [entry.value for entry in search.corpus]
        self.interrupted = interrupted


def fuzz(
    f: Callable[[Any], Any],
    seeds: Iterable[Any],
    *,
    seconds: float | None = None,
    executions: int | None = None,
    packages: str | Sequence[str] = (),
    allowed: type[BaseException] | tuple[type[BaseException], ...] = (),
    output: str | os.PathLike[str] | None = None,
    seed: int = 0,
    timeout: float | None = 5.0,
    memory: int | None = 2 << 30,
    longest: int = 4096,
    progress: TextIO | None = None,
) -> Findings:
    """Search for inputs for which an unmodified function raises exceptions.

    Most executions are fast: they run the function as it is, and note branches that are new. The others run it in a
    context that knows which part of the input reaches which comparison, and write the other operand there.

    Parameters
    ----------
    f:
        A function of one argument. Of a test that Hypothesis's `@given` has decorated, it is the body. A generator or
        coroutine that it returns is run to its end.
    seeds:
        Inputs to begin with, such as `[""]`: each a str, bytes, int or float, or lists and dicts of these.
    seconds, executions:
        When to end; without either, after 60 seconds.
    packages:
        Names of the packages whose branches count, besides the module of `f`. They are installed as `install` does it.
    allowed:
        Exceptions that are no findings.
    output:
        A folder for the corpus, from which later runs go on, and for the findings with a failing test for each.
    seed:
        With `executions`, a search finds the same for the same seed.
    timeout, memory:
        The seconds that one execution may take, and the bytes that the process may use in addition; None for no bound.
    longest:
        The length of the longest texts that are tried.
    progress:
        Where a line that shows the progress is written, such as `sys.stderr`.

    Returns
    -------
    A list of findings, one for each call site: the smallest `input` that was found, its `exception` and `callsite`.

    Raises
    ------
    NotOverdubbable
        If neither the function has Python source nor packages are named.
    TypeError
        If a seed cannot be an input, or the function cannot be called with one argument.
    ValueError
        If an option makes no sense, or a timeout cannot be had, because this is not the main thread.

    Example
    -------
    >>> def price(text):
    ...     if text[:4] == "EUR ":
    ...         return 100 / int(text[4:])
    >>> found = fuzz(price, [""], executions=2000, allowed=ValueError)
    >>> [(type(one.exception).__name__, one.input) for one in found]
    [('ZeroDivisionError', 'EUR 0')]
    """
    _check(f, seconds, executions, longest)
    f = getattr(getattr(f, "hypothesis", None), "inner_test", f)
    _check_argument(f)
    names = [packages] if isinstance(packages, str) else list(packages)
    accepted = allowed if isinstance(allowed, tuple) else (allowed,)
    given_types: list[Any] = list(accepted)
    if not all(isinstance(one, type) and issubclass(one, BaseException) for one in given_types):
        raise TypeError(f"allowed are types of exceptions, not {allowed!r}")
    if isinstance(seeds, (str, bytes)):
        raise TypeError(f"seeds are several inputs: give [{seeds!r}], not {seeds!r}")
    given = [checked(one) for one in seeds]
    folder = Folder(output)
    kept = folder.inputs()
    if not given and not kept:
        raise ValueError('there are no seeds: give at least one, such as ""')
    limits = Limits(timeout, memory)
    if names:
        install(names)
    search = Search(f, coverage(_covered(f, names)), limits, folder, accepted, seed, longest, progress)
    search.seconds = _SECONDS if seconds is None and executions is None else seconds
    search.most = executions
    return Findings(search, search.run(given, kept))


def _check(f: Any, seconds: float | None, executions: int | None, longest: int) -> None:
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    for name, value in (("seconds", seconds), ("executions", executions), ("longest", longest)):
        if value is not None and not value > 0:
            raise ValueError(f"{name} is a positive number, not {value!r}")


def _check_argument(f: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called with one argument: each input would be a finding."""
    try:
        signature = inspect.signature(f, follow_wrapped=False)
    except ValueError:  # it does not say
        return
    try:
        signature.bind("")
    except TypeError as error:
        raise TypeError(
            f"{f!r} cannot be called with one argument: {error}; give a function of one input, such as "
            f"lambda pair: f(*pair) with the seeds [['', 0]]"
        ) from None


def _covered(f: Callable[..., Any], packages: Sequence[str]) -> Callable[[str], bool]:
    """Whether a file belongs to the packages, or is that of the function."""
    functions = [python_function(one) for one in _with_wrapped(f)]
    files = {one.__code__.co_filename for one in functions if one is not None}
    folders = []
    for name in packages:
        importlib.import_module(name.partition("*")[0].rstrip("."))
        for module in [module for key, module in sys.modules.items() if key == name or key.startswith(f"{name}.")]:
            files |= {str(file)} if (file := getattr(module, "__file__", None)) else set()
            folders += [os.path.join(path, "") for path in getattr(module, "__path__", ())]
    if not folders and not any(name.endswith((".py", ">")) for name in files):
        raise NotOverdubbable(
            f"{f!r} cannot be fuzzed: it has no Python source; name the packages whose branches count"
        )
    known: dict[str, bool] = {}
    prefixes = tuple(folders)

    def is_covered(filename: str) -> bool:
        found = known.get(filename)
        if found is None:
            found = known[filename] = filename in files or filename.startswith(prefixes)
        return found

    return is_covered


def _with_wrapped(f: Any) -> list[Any]:
    """A function and those that its decorators, such as `functools.lru_cache`, have replaced."""
    found: list[Any] = []
    while f is not None and len(found) < _MOST_DECORATORS:
        found.append(f)
        f = getattr(f, "__wrapped__", None)
    return found
