"""What converted code calls: it submits tasks, keeps their placeholders, and waits for them where values are needed.

Placeholders are in variables of a converted region, in arguments of tasks, and in lists and dicts that it fills.
Whatever else happens waits for all tasks first, so no other code meets a placeholder. If a task fails, what the region
stored after its call is taken back.
"""

from __future__ import annotations

import math
import operator
import os.path
import pathlib
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FrameType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any, ClassVar, Final

from cassette_import.contexts.parallel.tasks import (
    HasPlaceholder,
    NeededAtOnce,
    NotTransferable,
    Placeholder,
    Site,
    Task,
    pickled,
)
from cassette_import.interpreter.clock import perf_counter
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import ACTIVE, INACTIVE

__all__ = ["Regions", "outside"]

_MISSING: Final = object()
"""Stands for a value that is not there."""

# ---- calls outside of all contexts, for what a region does that is no part of the program


@hidden
def outside(function: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call a function outside of the context: dask's threads and event loops would inherit it, and take longer."""
    token = ACTIVE.set(INACTIVE)
    try:
        return function(*arguments, **keywords)
    finally:
        ACTIVE.reset(token)


# ---- the variables of module levels while tasks run


class _ModuleVariables:
    """Which variables the regions of module levels bind."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[str, ...]] = {}  # by the `id()` of the namespace

    def bind(self, frame: FrameType, names: tuple[str, ...]) -> None:
        """Note the names that a region binds, which begins in a frame."""
        self._names[id(frame.f_globals)] = names

    def values(self, frame: FrameType) -> dict[str, Any] | None:
        """The values of these variables now; None if the frame is that of a function."""
        if not _is_module_level(frame):
            return None
        return {name: frame.f_globals.get(name, _MISSING) for name in self._names.get(id(frame.f_globals), ())}


def fill(frame: FrameType) -> None:
    """Put values in the place of placeholders that are known, if the frame is that of a module level."""
    if not _is_module_level(frame):
        return
    for name, value in frame.f_globals.items():
        if type(value) is Placeholder and value.is_known:
            frame.f_globals[name] = value.value


def _restore(frame: FrameType, values: dict[str, Any]) -> None:
    """Give variables the values that they had, or unbind them; the tasks of all placeholders among them have ended."""
    for name, value in values.items():
        if value is _MISSING:
            frame.f_globals.pop(name, None)
        else:
            frame.f_globals[name] = value.value if type(value) is Placeholder else value


def _is_module_level(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>"


# ---- what a region stores in lists and dicts while tasks run


class _Stored:
    """A placeholder in a list or a dict, or what a region stored beside it."""

    __slots__ = ("after", "before", "holder", "key")

    def __init__(self, holder: Any, key: Any, before: Any, after: int) -> None:
        self.holder = holder
        self.key = key
        self.before = before
        self.after = after

    def fill(self) -> None:
        """Put the value in the place of the placeholder."""
        value = self.holder[self.key]
        if type(value) is Placeholder and value.is_known:
            self.holder[self.key] = value.value

    def undo(self) -> None:
        """Take back that something was stored."""
        if self.before is _MISSING:
            del self.holder[self.key]
        else:
            self.holder[self.key] = self.before


# ---- what converted code calls

_SCALARS: Final = frozenset(
    {str, int, float, bool, bytes, complex, type(None), range, slice, type(pathlib.Path()), pathlib.PurePosixPath}
)
"""Types whose operators and methods have no effects, and hold no placeholders."""
_SEQUENCES: Final = frozenset({list, tuple, dict, set, frozenset, str, bytes, range, type({}.items()), type({}.keys())})
_PURE: Final = frozenset(
    {
        *(abs, bool, bytes, chr, divmod, float, format, hash, hex, int, isinstance, len, max, min, oct, ord, pow),
        *(range, repr, round, str, sum, type, pathlib.Path, pathlib.PurePath),
        *(os.path.join, os.path.basename, os.path.dirname, os.path.splitext, os.path.split),
        *(function for function in vars(math).values() if callable(function)),
    }
)
"""Functions that have no effects where all arguments are scalars."""
_OF_SEQUENCES: Final = frozenset({enumerate, zip, reversed, len})
_PLAIN_MEMBERS: Final = (FunctionType, BuiltinFunctionType, MemberDescriptorType, GetSetDescriptorType)
_DISPLAYS: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "Tuple": tuple,
    "List": list,
    "Dict": lambda parts: dict(zip(parts[::2], parts[1::2], strict=True)),
}


class _State(threading.local):
    """The tasks of a thread."""

    def __init__(self) -> None:
        self.tasks: deque[Task] = deque()
        self.stored: deque[_Stored] = deque()
        self.count = 0
        self.is_chain = True  # whether each task needs the one before it, and other threads have none
        self.failed: Task | None = None
        self.fresh: Any = None
        self.variables = _ModuleVariables()


class Regions:
    """The part of the context that converted code calls."""

    unbound: ClassVar[type[Exception]] = NameError
    """What a variable raises that is not bound."""

    def __init__(self, *, may_run_here: bool) -> None:
        self._state = _State()
        self._needed_at_once = NeededAtOnce(is_used=may_run_here)

    def is_target(self, function: Any) -> bool:
        """Whether calls of a function become tasks."""
        raise NotImplementedError

    def start(self, task: Task) -> None:
        """Submit a task."""
        raise NotImplementedError

    def finished(self, task: Task) -> Any:
        """Wait for a task; return its outcome, after its output was written."""
        raise NotImplementedError

    def ran_here(self, function: Any, reason: str, site: Site) -> None:
        """Note that a call of a target was no task."""

    def entering(self, *names: str) -> None:
        """A region of a module level begins, which binds these names: anything may read them after an exception."""
        self._state.variables.bind(_program_frame(), names)

    # ---- calls

    @hidden
    def submit(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """A call of what may be a target: its placeholder, or the value of any other call."""
        if not self.is_target(function):
            return self.call(function, *arguments, **keywords)
        frame = _program_frame()
        site = Site(frame)
        state = self._state
        if not state.tasks and self._needed_at_once.begins_here(site.place):
            self.ran_here(function, "its result is needed at once", site)
            return self._call_here(site, function, arguments, keywords)
        try:
            try:
                payload, earlier = pickled(function, arguments, keywords)
            except HasPlaceholder:
                self.settle()
                payload, earlier = pickled(function, arguments, keywords)
        except NotTransferable as reason:
            self.ran_here(function, str(reason), site)
            return self.call(function, *arguments, **keywords)
        task = Task(state.count, function, payload, earlier, site)
        task.before = state.variables.values(frame)
        task.handled = sys.exc_info()[1]
        outside(self.start, task)
        is_shared = self._needed_at_once.submitted(len(state.tasks))
        follows = state.is_chain and state.tasks[-1] in earlier if state.tasks else True
        state.is_chain = follows and not is_shared
        state.count += 1
        state.tasks.append(task)
        return task.placeholder

    @hidden
    def kept(self, function: Any, reason: str) -> Any:
        """What is called where a call of a target stays as it is written; the call is noted."""
        if self.is_target(function):
            self.ran_here(function, reason, Site(_program_frame()))
        return function

    @hidden
    def _call_here(self, site: Site, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        arguments = tuple(map(self.value, arguments))
        keywords = {name: self.value(one) for name, one in keywords.items()}
        began = perf_counter()
        try:
            return outside(function, *arguments, **keywords)
        finally:
            self._needed_at_once.ended_here(site.place, began)

    @hidden
    def call(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Any other call: all tasks end before it, unless it has no effects."""
        if self._state.tasks or self._state.stored:
            if not keywords and self._is_pure(function, arguments):
                made = function(*arguments)
                self._state.fresh = made
                return made
            self.settle()
        if any(type(one) is Placeholder for one in (*arguments, *keywords.values())):
            arguments = tuple(map(self.value, arguments))
            keywords = {name: self.value(one) for name, one in keywords.items()}
        return function(*arguments, **keywords)

    def _is_pure(self, function: Any, arguments: tuple[Any, ...]) -> bool:
        try:
            if function in _OF_SEQUENCES:
                return all(type(one) in _SEQUENCES and not self._holds(one) for one in arguments)
            owner = getattr(function, "__self__", None)
            is_method = type(function) is BuiltinFunctionType and type(owner) in _SCALARS and owner is not None
            return (is_method or function in _PURE) and all(type(one) in _SCALARS for one in arguments)
        except TypeError:  # it has no hash
            return False

    def _holds(self, value: Any) -> bool:
        """Whether a container may have placeholders in it."""
        return bool(self._state.stored) and type(value) not in (str, bytes, range)

    # ---- values

    @hidden
    def value(self, value: Any) -> Any:
        """A value that is needed now."""
        if type(value) is not Placeholder:
            return value
        if not value.is_known:
            self._settle(value.task)
        return value.value

    @hidden
    def plain(self, value: Any) -> Any:
        """An operand: what the operator does must not meet placeholders, nor come before the end of tasks."""
        if type(value) is Placeholder:
            value = self.value(value)
        if type(value) not in _SCALARS:
            self.settle()
        return value

    @hidden
    def owner(self, value: Any, name: str) -> Any:
        """An object whose attribute is read. Only attributes that are stored have no effects."""
        value = self.value(value)
        if self._state.tasks and not _is_stored_attribute(value, name):
            self.settle()
        return value

    @hidden
    def indexed(self, value: Any) -> Any:
        """What is subscripted: lists, tuples and dicts are read without effects."""
        value = self.value(value)
        if type(value) not in _SEQUENCES:
            self.settle()
        return value

    @hidden
    def iterable(self, value: Any) -> Any:
        """What a loop iterates. Steps with effects wait for the tasks."""
        value = self.value(value)
        if value is self._state.fresh and type(value) in (enumerate, zip):
            return value
        if type(value) in _SEQUENCES:
            if self._holds(value):
                self.settle()
            return value
        self.settle()
        return _Steps(self, value)

    # ---- stores

    @hidden
    def appendable(self, holder: Any, name: str) -> Any:
        """The list to which a placeholder may be appended; of any other object, its method."""
        holder = self.value(holder)
        if type(holder) is list:
            return holder
        self.settle()
        return getattr(holder, name)

    @hidden
    def append(self, holder: Any, value: Any) -> Any:
        """`holder.append(value)`."""
        if type(holder) is not list:
            return self.call(holder, value)
        holder.append(value)
        self._note(holder, len(holder) - 1, _MISSING)
        return None

    @hidden
    def setitem(self, value: Any, holder: Any, key: Any) -> None:
        """`holder[key] = value`."""
        holder, key = self.value(holder), self.plain(key)
        if type(holder) is dict and type(key) in _SCALARS:
            before = holder.get(key, _MISSING)
        elif type(holder) is list and type(key) is int and -len(holder) <= key < len(holder):
            before = holder[key]
        else:
            self.settle()
            operator.setitem(holder, key, self.value(value))
            return
        holder[key] = value
        self._note(holder, key, before)

    def _note(self, holder: Any, key: Any, before: Any) -> None:
        state = self._state
        if state.tasks:
            state.stored.append(_Stored(holder, key, before, state.count))
        else:
            holder[key] = self.value(holder[key])

    @hidden
    def display(self, kind: str, *parts: Any) -> Any:
        """A tuple, list or dictionary; a placeholder of it as long as the results in it are not there."""
        waiting = [part.task for part in parts if type(part) is Placeholder and not part.is_known]
        if waiting and kind == "Dict" and not all(type(key) in _SCALARS for key in parts[::2]):
            self.settle()  # its keys are hashed by the program's functions
            waiting = []

        def make() -> Any:
            return _DISPLAYS[kind]([self.value(part) for part in parts])

        return Placeholder(max(waiting, key=lambda task: task.number), make) if waiting else make()

    @hidden
    def gather(self, made: Any) -> Any:
        """The list or dict of a comprehension, with values in the place of placeholders."""
        self.settle()
        items = enumerate(made) if type(made) is list else list(made.items())
        for key, value in items:
            if type(value) is Placeholder:
                made[key] = value.value
        return made

    # ---- waiting

    @hidden
    def leave(self, value: Any) -> Any:
        """The value that a function returns."""
        self.settle()
        return self.value(value)

    @hidden
    def settle(self) -> None:
        """Wait for all tasks of this thread."""
        state = self._state
        if state.tasks:
            self._settle(state.tasks[-1])
        if state.stored:
            state.stored.clear()

    @hidden
    def _settle(self, last: Task) -> None:
        """Wait for the tasks up to one, in the order of their calls."""
        state = self._state
        while state.tasks:
            task = state.tasks[0]
            if task.outcome is None and task.submissions is not None:
                outside(task.submissions.fetch, state.tasks)
            try:
                outcome = self.finished(task)
            except BaseException:
                self._take_back(task)
                raise
            if outcome.error is not None:
                self._take_back(task)
                state.failed = task
                raise outcome.error.with_traceback(None)
            task.placeholder.value = outcome.value
            state.tasks.popleft()
            self._needed_at_once.waited_for(task.site.place, task.began, at_once=state.is_chain)
            if task is last:
                break
        while state.stored and (not state.tasks or state.stored[0].after <= state.tasks[0].number):
            state.stored.popleft().fill()  # no task that may fail was called before it
        fill(_program_frame())

    def _take_back(self, failed: Task) -> None:
        """Undo what was stored after a call, and give up the tasks that were submitted after it."""
        state = self._state
        for stored in reversed(state.stored):
            if stored.after > failed.number:
                stored.undo()
            else:
                stored.fill()
        if failed.before is not None:
            _restore(failed.site.frame, failed.before)
        if failed.submissions is not None:
            outside(failed.submissions.give_up, state.tasks)
        self._needed_at_once.given_up(len(state.tasks))
        state.tasks.clear()
        state.stored.clear()

    @hidden
    def failing(self) -> None:
        """Give the exception of a task, which is leaving a region, the traceback that the call would have given it."""
        state, error = self._state, sys.exc_info()[1]
        failed = state.failed
        if failed is None or failed.outcome is None or failed.outcome.error is not error or error is None:
            return
        state.failed = None
        if failed.site.frame is not _program_frame():
            return
        error.__traceback__ = failed.traceback()
        error.__context__ = failed.outcome.context
        first: BaseException = error
        while first.__context__ is not None:
            first = first.__context__
        if first is not failed.handled:
            first.__context__ = failed.handled


class _Steps:
    """An iterator whose steps wait for all tasks."""

    def __init__(self, regions: Regions, iterable: Any) -> None:
        self._settle: Callable[[], None] = regions.settle
        self._iterator: Iterator[Any] = iter(iterable)

    def __iter__(self) -> _Steps:
        return self

    @hidden
    def __next__(self) -> Any:
        self._settle()
        return next(self._iterator)


def _is_stored_attribute(value: Any, name: str) -> bool:
    kind = type(value)
    if kind is ModuleType:
        return name in vars(value)
    if kind in _SCALARS:
        return True
    reads: Any = kind.__getattribute__
    if reads is not object.__getattribute__:
        return False
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), _MISSING)
    if found is _MISSING:
        return name in getattr(value, "__dict__", ())
    return isinstance(found, _PLAIN_MEMBERS) or not hasattr(type(found), "__get__")


def _program_frame() -> FrameType:
    """The frame of converted code: frames of this file are hidden, or are its methods'."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    assert frame is not None
    return frame
