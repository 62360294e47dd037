"""Context types that intercept calls of chosen functions only: the common base of `substitute`, `faults` and `memoize`.

What a context intercepts belongs to its type. So each set of targets has a type of its own, with one overload that is
registered for exactly these functions. All other calls stay as they are written, and cost what they cost without the
context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any, ClassVar, Final, TypeVar

from cassette_import.activation.context import Context, current
from cassette_import.activation.verbs import recurse
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.options import derived_type
from cassette_import.kits.targets import ResolvedTarget, by_function, never_called, track
from cassette_import.rewriting.events import Events

__all__ = ["TargetedContext"]

_Context = TypeVar("_Context", bound="TargetedContext")
_TYPES: Final[dict[tuple[type, frozenset[int]], Any]] = {}


class TargetedContext(Context, events=Events.CALLS):
    """A context whose method `intercept` is called instead of chosen functions.

    A subclass passes its targets to `for_targets` in `__new__`, calls `report_unmatched` in `__init__`, and defines
    `intercept`, hidden as `proceed` is here. A type is derived from the subclass for each set of targets.
    """

    inherit: ClassVar[bool] = True
    names_earlier_holders: ClassVar[bool] = True
    _targets: tuple[ResolvedTarget, ...]
    _by_function: Mapping[int, tuple[ResolvedTarget, ...]]
    _lock: Lock
    _unmatched: Callable[[], Iterable[str]]

    @classmethod
    def for_targets(cls: type[_Context], targets: Iterable[ResolvedTarget]) -> _Context:
        """An instance, not initialised yet, of the type that overloads these functions."""
        targets = tuple(targets)
        resolved = [target for target in targets if not target.pending]
        has_pending = len(resolved) < len(targets)
        made: _Context = object.__new__(derived_type(cls) if has_pending else _type_for(cls, resolved))
        made._targets = targets
        made._by_function = by_function(resolved)
        made._lock = Lock()
        if has_pending:
            _overload(type(made), resolved)
        return made

    @property
    def awaits_main(self) -> bool:
        """Whether a target is a function of the program's own file, which has not begun or does not have it yet."""
        return any(target.pending for target in self._targets)

    def register_main(self) -> None:
        """Overload the functions of the program's own file that exist now."""
        with self._lock:
            found = [target for target in self._targets if target.pending and target.resolve()]
            if found:
                self._by_function = by_function([target for target in self._targets if not target.pending])
                _overload(type(self), found)

    def __copy__(self: _Context) -> _Context:
        made: _Context = object.__new__(type(self))
        vars(made).update(vars(self))
        return made

    def intercept(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Called instead of the function of a target. It returns the value of the call.

        Subclasses begin with `target_of`, each for itself: a common beginning would cost a frame per call.
        """
        raise NotImplementedError

    def target_of(self, function: Any, arguments: tuple[Any, ...]) -> ResolvedTarget | None:
        """The target that a call matches, or None: the target may be bound to another receiver."""
        for target in self._by_function.get(id(function), ()):
            if not target.is_bound or target.matches(arguments):
                return target
        return None

    def forked(self) -> None:
        """Start with no calls in a forked process. Subclasses clear their counts."""
        self._lock = Lock()  # a thread of the other process may hold the other one

    def report_unmatched(self, names: Callable[[], Iterable[str]]) -> None:
        """Report targets that no call has matched, at the end. `names` returns theirs, without use of the context."""
        self._unmatched = names
        track(self, lambda: map(never_called, names()))

    def unmatched(self) -> list[str]:
        """What to say of each target that no call has matched so far."""
        return [never_called(name) for name in self._unmatched()]

    def notice(self) -> str:
        """The targets that no call has matched, for the terminal, where the summary is not printed; or nothing."""
        unmatched = self.unmatched()
        return f"{type(self).__name__.lower()}: {'; '.join(unmatched)}" if unmatched else ""

    @hidden
    def proceed(self, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Make the call as it is without this overload. The context stays active during the call."""
        if current() is None:
            # There is no outer context to consult, and a callee that is not Python code must stay what it is.
            with self:
                return function(*arguments, **keywords)
        return recurse(self, function, *arguments, **keywords)


def _type_for(context_type: type[Any], targets: Iterable[ResolvedTarget]) -> type[Any]:
    # The type keeps the functions alive, so that no other function gets their id().
    key = context_type, frozenset(id(target.function) for target in targets)
    if key not in _TYPES:
        _TYPES[key] = made = derived_type(context_type)
        _overload(made, targets)
    known: type[Any] = _TYPES[key]
    return known


def _overload(context_type: Any, targets: Iterable[ResolvedTarget]) -> None:
    functions = [target.function for target in targets]
    if functions:
        # The last one twice: `register` would take a single Python function for the overload itself.
        context_type.overdub.register(*functions, functions[-1])(context_type.intercept)
