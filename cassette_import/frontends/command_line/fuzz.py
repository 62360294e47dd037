"""The command `fuzz`: searches for inputs for which a function of unmodified packages raises exceptions."""

from __future__ import annotations

import builtins
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

from cassette_import.contexts.fuzz import Findings, fuzz
from cassette_import.contexts.fuzz.inputs import decoded
from cassette_import.errors import NotOverdubbable
from cassette_import.frontends import settings
from cassette_import.frontends.command_line.usage import UsageError
from cassette_import.frontends.programs.user_program import Module
from cassette_import.importing.installation import check
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.kits.text import plural

__all__ = ["fuzz_function"]

_INTERRUPTED: Final = 130
"""The exit status of programs that Ctrl-C ends."""

_FIRST: Final[dict[str, Any]] = {"str": "", "bytes": b"", "int": 0, "float": 0.0, "list": [], "dict": {}}
"""The types of inputs, each with the seed that is used without a folder of seeds."""
_SUFFIXES: Final = {"str": ".txt", "bytes": ".bin"}


def fuzz_function(given: Any) -> int:
    """Search, print the findings, and return the exit status: 1 if there are any."""
    function = _target(given.target)
    kind = given.type or _kind_of_argument(function)
    allowed = tuple(_exception(name, given.target) for name in given.allow or ())
    seeds = _seeds(given.seeds, kind)
    progress = sys.stderr
    try:
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
            found = fuzz(
                function,
                seeds,
                seconds=given.seconds if given.seconds is not None or given.executions is not None else 60.0,
                executions=given.executions,
                packages=_packages(given.packages, given.target),
                allowed=allowed,
                output=given.output,
                seed=given.seed,
                timeout=given.timeout or None,
                progress=progress,
            )
    except (NotOverdubbable, ModuleNotFoundError, ValueError, TypeError) as error:
        raise UsageError(str(error)) from error
    except OSError as error:  # those of the function are findings
        raise UsageError(f"--output {error.filename or given.output}: {error.strerror or error}") from error
    return _report(found, given.output)


def _report(found: Findings, output: str | None) -> int:
    for one in found:
        print(one)
    branches = plural(found.branches, "branch", "branches")
    where = f"; tests in {output}" if found and output is not None else ""
    print(f"fuzz: {plural(len(found), 'finding')}, {plural(found.executions, 'execution')}, {branches}{where}")
    if found.interrupted:
        return _INTERRUPTED
    return 1 if found else 0


def _packages(named: Sequence[str] | None, target: str) -> Sequence[str]:
    """The packages whose branches count: without a name, that of the module, as for `run -m`, if it is in Python."""
    if named is not None:
        return settings.names(named)
    own = Module(target.partition(":")[0], ()).own_packages()
    try:
        for name in own:
            check(name)
    except (ModuleNotFoundError, NotOverdubbable):
        return ()
    return own


def _target(name: str) -> Callable[[Any], Any]:
    module_name, colon, path = name.partition(":")
    if not colon or not path:
        raise UsageError(f"{name!r} is not of the form module:function")
    try:
        found: Any = importlib.import_module(module_name)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise UsageError(f"there is no {name}: {error}") from error
    return found  # type: ignore[no-any-return]  # `fuzz` checks that it can be called


def _kind_of_argument(function: Callable[[Any], Any]) -> str:
    """The type of the first argument, if an annotation says it; otherwise str."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return "str"
    annotation = parameters[0].annotation if parameters else str
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "str")
    return name.partition("[")[0] if name.partition("[")[0] in _FIRST else "str"


def _exception(name: str, target: str) -> type[BaseException]:
    """A type of exceptions: of builtins, by its dotted name, or of the target's module."""
    module, _, last = name.rpartition(".")
    try:
        owner = importlib.import_module(module or target.partition(":")[0])
    except ImportError as error:
        raise UsageError(f"--allow {name}: {error}") from error
    known = {**vars(builtins), **vars(owner)}
    exceptions = [key for key, value in known.items() if isinstance(value, type) and issubclass(value, BaseException)]
    if last not in known:
        raise UsageError(f"--allow {name}: {owner.__name__} has no exception {last!r}{suggestion(last, exceptions)}")
    if last not in exceptions:
        raise UsageError(f"--allow {name}: {known[last]!r} is no exception")
    return known[last]  # type: ignore[no-any-return]  # it is one of `exceptions`


def _seeds(folder: str | None, kind: str) -> list[Any]:
    """The contents of the files in a folder as inputs of a type; without a folder, an empty input."""
    if folder is None:
        return [_FIRST[kind]]
    try:
        files = {one: one.read_bytes() for one in sorted(Path(folder).iterdir()) if one.is_file()}
    except OSError as error:
        raise UsageError(f"--seeds {error.filename}: {error.strerror}") from error
    found = []
    for file, contents in files.items():
        try:
            found.append(decoded(contents, _SUFFIXES.get(kind, ".json")))
        except ValueError as error:
            raise UsageError(f"{file} is no input of type {kind}: {error}") from error
    return found or [_FIRST[kind]]
