"""`Taped`: what `Record` and `Replay` have in common, so that a program cannot tell one from the other.

Both meet the same calls, by overloads of the boundary's functions and by stand-ins; only what is answered differs.
"""

from __future__ import annotations

import io
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Final

from cassette_import import Context, Events, fallback, overdub
from cassette_import.contexts.recording import environment, proxies
from cassette_import.contexts.recording.boundaries import CHANCE, ENVIRONMENT, STARTS, Found, leading_outside, watch
from cassette_import.contexts.recording.encoding import Encoder, shortened
from cassette_import.contexts.recording.masking import Mask
from cassette_import.contexts.recording.thread_sequences import job
from cassette_import.interpreter.callables import underlying
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.runtime.state import ACTIVE

__all__ = ["INSIDE", "Taped", "call_site"]

INSIDE: Final[ContextVar[bool]] = ContextVar("cassette_import.outside", default=False)
"""True while what lies behind the boundary is running."""


_STANDARD_INPUT: Final = ("io.TextIOWrapper.read", "io.TextIOWrapper.readline", "io.TextIOWrapper.readlines")
"""Methods that lead outside if they are those of the standard input: other files have stand-ins."""

_registered: Final[dict[int, Any]] = {}


class Taped(Context, events=Events.NONE):
    """The base of `Record` and `Replay`.

    Parameters
    ----------
    boundary:
        Functions that lead outside, by dotted names, beside those in `BOUNDARY`.
    mask:
        Names of secrets, see `Mask`.
    without:
        What is not met, although it leads outside: groups or names, see `leading_outside`.
    places:
        Folders that have another path wherever the recording is used, by the names that stand for them in it.
    """

    inherit: ClassVar[bool] = True

    def __init__(
        self,
        boundary: Iterable[str] = (),
        mask: Iterable[str] = (),
        without: Iterable[str] = (),
        places: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._boundary = tuple(boundary)
        self._without = tuple(without)
        self._mask = Mask(mask, places)
        self._names: dict[int, str] = {}
        self._lock = threading.RLock()
        self._here = threading.local()
        self._own: dict[int, tuple[Any, int]] = {}
        self._own_by_number: list[Any] = []
        self._stand_ins: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.seeded: weakref.WeakSet[Any] = weakref.WeakSet()
        self._encode_argument = Encoder(self._named)
        self._process = os.getpid()
        self.is_paused = False
        names = [*leading_outside(self._without), *STARTS, *_STANDARD_INPUT, *self._boundary]
        self._watcher = watch(names, self._take_in)
        self.answers_for_environment = ENVIRONMENT not in self._without
        if self.answers_for_environment:
            environment.overlay()

    def _take_in(self, found: Sequence[Found]) -> None:
        """Boundary functions have come to exist: have their calls come here."""
        new = []
        for one in found:
            target = underlying(one.target)
            self._names.setdefault(id(target), one.name)
            if id(target) not in _registered:
                _registered[id(target)] = target
                new.append(one.target)
        if new:
            # Twice the first one: with a single function, `register` could not know whether it is the overload.
            Taped.overdub.register(*new, new[0])(_met)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Active meanwhile, as with ``with``; but nothing is ended or checked afterwards."""
        super().__enter__()
        try:
            yield
        finally:
            super().__exit__(None, None, None)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """What runs in this block is made as if there were no recording."""
        before, self.is_paused = self.is_paused, True
        try:
            yield
        finally:
            self.is_paused = before

    # ---- to be done by Record and Replay

    def answer(self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]) -> Any:
        """What a call to the outside gives the program."""
        raise NotImplementedError

    def use(self, stand_in: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """What the use of a stand-in gives the program."""
        raise NotImplementedError

    def variable(self, name: str, value: str | None) -> str | None:
        """What a variable of the environment is for the program; `value` is what it really is."""
        raise NotImplementedError

    def variables(self, names: list[str]) -> list[str]:
        """The names of all variables that there are for the program."""
        raise NotImplementedError

    def changes(self, name: str) -> None:
        """The program sets or deletes a variable itself: from now on it is its own."""
        raise NotImplementedError

    def origin(self) -> Sequence[int]:
        """Name what this lane is about to start."""
        raise NotImplementedError

    def is_seeded(self, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> bool:
        """Whether a call to a method of `random.Random` gives the same in every run."""
        if name == f"{CHANCE}.seed":
            seed = (*arguments[1:2], keywords.get("a"))[0]
            (self.seeded.discard if seed is None else self.seeded.add)(arguments[0])
        return arguments[0] in self.seeded

    def ends(self, origin: Sequence[int]) -> None:
        """The thread or job of this origin has come to its end."""

    # ---- arguments

    def encoded_arguments(
        self, arguments: Sequence[Any], keywords: Mapping[str, Any], what: Sequence[Any]
    ) -> list[Any]:
        """The arguments of a call, to be compared and shown."""
        if not arguments and not keywords:
            return [[], []]
        encode = self._encode_argument
        encoded = [
            [encode(argument)[0] for argument in arguments],
            [[name, encode(value)[0]] for name, value in keywords.items()],
        ]
        if what[0] == "set":  # the value of an attribute, which may have a secret's name
            pair = self._mask.arguments([what[1].rpartition(".")[2], encoded[0][0]])
            return [[shortened(pair[1])], []]
        masked: list[Any] = shortened(self._mask.arguments(encoded))
        return masked

    def _named(self, value: Any) -> tuple[Any, Any]:
        """An argument that cannot be held is known by its class, and by a number if it can come back."""
        kind = type(value)
        if proxies.is_stand_in(value):
            return {"handle": [proxies.number_of(value), f"{kind.__module__}:{kind.__qualname__}"]}, value
        known = self._own.get(id(value))
        if known is None or known[0]() is not value:
            try:
                known = self._own[id(value)] = weakref.ref(value), len(self._own_by_number)
                self._own_by_number.append(known[0])
            except TypeError:
                return {"own": [-1, f"{kind.__module__}:{kind.__qualname__}"]}, value
        return {"own": [known[1], _title(value)]}, value

    # ---- threads

    @hidden
    def start(self, index: int, function: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """Have the function that another thread is to call run in this context, as a lane of its own."""
        if getattr(self._here, "is_starting", False):  # this context is active more than once
            return fallback(self, function, *arguments, **keywords)
        if function is threading.Thread.start:
            thread: Any = arguments[0]
            if thread._target is not None:
                thread._target = self._carried(thread._target)
            elif type(thread).run is not threading.Thread.run:
                thread.run = self._carried(thread.run)
        elif len(arguments) > index:
            carried = self._carried(arguments[index])
            arguments = (*arguments[:index], carried, *arguments[index + 1 :])
        self._here.is_starting = True
        try:
            return fallback(self, function, *arguments, **keywords)
        finally:
            self._here.is_starting = False

    def _carried(self, function: Callable[..., Any]) -> Callable[..., Any]:
        with self._lock:
            origin = self.origin()

        @hidden
        def run(*arguments: Any, **keywords: Any) -> Any:
            with job(origin):
                try:
                    if any(context is self for context in ACTIVE.get().contexts):
                        return function(*arguments, **keywords)
                    return overdub(self, function, *arguments, **keywords)
                finally:
                    self.ends(origin)

        return run


@hidden
def _met(ctx: Taped, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The overload of every function of the boundary."""
    name = ctx._names.get(id(f))
    if name is None or ctx.is_paused or INSIDE.get():
        return fallback(ctx, f, *args, **kwargs)
    if name in STARTS:
        return ctx.start(STARTS[name], f, args, kwargs)
    if name == CHANCE:
        made = fallback(ctx, f, *args, **kwargs)
        if (*args, *kwargs.values()) not in ((), (None,)):
            ctx.seeded.add(made)
        return made
    if name.startswith(CHANCE) and ctx.is_seeded(name, args, kwargs):
        return fallback(ctx, f, *args, **kwargs)
    if name in _STANDARD_INPUT and not (args and args[0] is sys.stdin and isinstance(args[0], io.TextIOWrapper)):
        return fallback(ctx, f, *args, **kwargs)
    return ctx.answer(["call", name], f, args, kwargs)


def _title(value: Any) -> str:
    named = value if hasattr(type(value), "__get__") and hasattr(value, "__qualname__") else type(value)
    return f"{getattr(named, '__module__', None)}:{named.__qualname__}"


def call_site() -> list[Any]:
    """File, line and function of the program's code that is calling."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
    return [frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name]
