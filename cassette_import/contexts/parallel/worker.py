"""What a worker does with one task: it calls the function, captures its output, and finds what must not happen.

A function must not change its arguments, nor return parts of them: the program would not see the change, or would get
a copy. Both are found and said in the outcome.
"""

from __future__ import annotations

import datetime
import inspect
import io
import os
import pickle
import sys
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from types import TracebackType
from typing import Any, Final
from uuid import UUID

from cassette_import.contexts.parallel.task_output import Captured, Entry, Noted, described

__all__ = ["Dependency", "Outcome", "execute"]

_ATOMS: Final = frozenset({str, int, float, bool, bytes, complex, type(None), type(Ellipsis), range})

_IMMUTABLE: Final = (frozenset, datetime.date, datetime.time, datetime.timedelta, Decimal, Fraction, PurePath, UUID)
"""Types whose objects nobody can change, so copies of them will do."""


class Dependency:
    """Stands for the result of an earlier task among pickled arguments, by number."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Outcome:
    """What came of a task: a value or an exception, the output, or the reason why the task says nothing.

    Attributes
    ----------
    value:
        The result of the function.
    error, frames:
        The exception that it raised, and its traceback below the call, as data.
    below:
        This traceback itself, if the call was made in the process of the program.
    context:
        What was being handled when it was raised.
    output:
        What it wrote, logged and warned of, for `do_again`.
    problem:
        Why the call has to be repeated in the program's process; or empty.
    refusal:
        Why the function cannot be a task at all; or empty.
    """

    __slots__ = ("below", "context", "error", "frames", "output", "problem", "refusal", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.error: BaseException | None = None
        self.context: BaseException | None = None
        self.frames: list[Entry] | None = None
        self.below: TracebackType | None = None
        self.output: list[Noted] = []
        self.problem = ""
        self.refusal = ""

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            setattr(self, name, value)


def execute(
    payload: bytes,
    *earlier: Outcome,
    path: Sequence[str] = (),
    settings: bytes = b"",
    folder: str = "",
    here: bool = False,
) -> Outcome:
    """Make a call that was pickled, with the results of earlier tasks.

    Parameters
    ----------
    payload:
        The function, positional and keyword arguments, pickled. A `Dependency` stands for the result of another task.
    earlier:
        The outcomes of these tasks.
    path:
        `sys.path` of the program, where modules are looked for last.
    settings:
        `settings_of_program`, which say what is logged and warned of.
    folder:
        The current folder of the program, if the worker belongs to it; else empty.
    here:
        Whether this is the process of the program: output is written at once, and nothing has to be pickled.

    Returns
    -------
    The outcome.
    """
    outcome = Outcome()
    if any(one.error is not None or one.problem or one.refusal for one in earlier):
        outcome.problem = "a task whose result it needs has none"
        return outcome
    sys.path += [one for one in path if one not in sys.path]
    if folder and folder != os.getcwd():
        os.chdir(folder)
    try:
        function, arguments, keywords = pickle.loads(payload)
    except BaseException as error:
        outcome.problem = f"the worker cannot load the call: {type(error).__name__}: {error}"
        return outcome
    arguments = tuple(earlier[one.number].value if type(one) is Dependency else one for one in arguments)
    keywords = {k: earlier[one.number].value if type(one) is Dependency else one for k, one in keywords.items()}
    given = arguments, keywords
    has_mutable = not all(type(one) in _ATOMS for one in (*arguments, *keywords.values()))
    before, parts = _contents(given) if has_mutable else (b"", {})
    if here:
        _call_here(outcome, function, arguments, keywords)
    else:
        _call(outcome, function, arguments, keywords, settings)
    if has_mutable and not _is_unchanged(given, before):
        outcome.refusal = "changes an argument"
    elif outcome.error is None and not outcome.problem:
        _check_result(outcome, function, parts, here)
    return outcome


def _call_here(outcome: Outcome, function: Any, arguments: Any, keywords: Any) -> None:
    handled = sys.exc_info()[1]  # it was not when the program made the call
    try:
        outcome.value = function(*arguments, **keywords)
    except BaseException as error:
        here = error.__traceback__
        outcome.below = None if here is None else here.tb_next
        outcome.error = error
        first: BaseException = error
        while first.__context__ is not None and first.__context__ is not handled:
            first = first.__context__
        first.__context__ = None
        outcome.context = error.__context__


def _is_unchanged(given: Any, before: bytes) -> bool:
    try:
        return _contents(given)[0] == before
    except Exception:  # the call has put something into them that cannot be pickled
        return False


def _call(outcome: Outcome, function: Any, arguments: Any, keywords: Any, settings: bytes) -> None:
    with Captured(outcome.output, settings):
        try:
            outcome.value = function(*arguments, **keywords)
        except Exception as error:
            _keep(outcome, error)
        except BaseException as error:  # a worker must live on
            outcome.problem = f"it raised {type(error).__name__}"


def _keep(outcome: Outcome, error: Exception) -> None:
    here = error.__traceback__
    below = here.tb_next if here is not None else None
    try:
        again = pickle.loads(pickle.dumps(error))
        if type(again) is not type(error) or str(again) != str(error):
            raise TypeError("a copy of it differs")
    except Exception as why:
        outcome.problem = f"its {type(error).__name__} cannot be pickled: {why}"
        return
    if error.__cause__ is not None or error.__context__ is not None:
        outcome.problem = f"its {type(error).__name__} has a cause, whose traceback cannot be pickled"
        return
    error.__traceback__ = None
    outcome.error = error
    outcome.frames = described(below)


def _check_result(outcome: Outcome, function: Any, parts: dict[int, Any], here: bool) -> None:
    value = outcome.value
    if type(value) in _ATOMS:
        return
    try:
        _, made = _contents(value)
    except Exception as error:
        if here:
            return
        outcome.value = None
        outcome.problem = f"its result cannot be pickled: {error}"
        return
    if any(id(part) in parts and not _is_singleton(part) for part in made.values()):
        outcome.value = None
        outcome.refusal = "returns a part of an argument"
        return
    held = set(map(id, _objects_of_module(function)))
    if not here and any(id(part) in held and not _is_singleton(part) for part in made.values()):
        outcome.value = None
        outcome.problem = "its result is or contains an object that its module holds"


def _objects_of_module(function: Any) -> Iterable[Any]:
    """The values of the global names of the module in which a function is defined."""
    globals_of_module = getattr(inspect.unwrap(function), "__globals__", None)
    return [] if globals_of_module is None else list(globals_of_module.values())


def _is_singleton(part: Any) -> bool:
    """Whether copies are the object itself, such as members of enumerations."""
    return pickle.loads(pickle.dumps(part)) is part


class _Noting(pickle.Pickler):
    """Notes the mutable objects that are pickled."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.parts: dict[int, Any] = {}

    def persistent_id(self, obj: Any) -> None:
        """Called for each object."""
        kind = type(obj)
        if kind in _ATOMS or issubclass(kind, (tuple, *_IMMUTABLE, type)) or callable(obj):
            return
        if kind.__module__ == "numpy.dtypes":
            return
        if kind.__module__ == "numpy" and getattr(obj, "base", None) is not None:
            obj = obj.base  # what the memory belongs to
        self.parts[id(obj)] = obj


def _contents(value: Any) -> tuple[bytes, dict[int, Any]]:
    """A value's state as bytes, and its mutable parts by identity."""
    file = io.BytesIO()
    pickler = _Noting(file)
    pickler.dump(value)
    return file.getvalue(), pickler.parts
