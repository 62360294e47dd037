"""Known callees: what call sites call instead of callees that they have called before.

The accelerator of dispatch keeps them, in the place of `learn`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.names import NAMES

if TYPE_CHECKING:
    from cassette_import.runtime.dispatch.accelerator._dispatch import Learn

_Learn = Callable[..., Any]


class KnownCallees:
    """The known callees of one variant, until its hooks and overloads change.

    Parameters
    ----------
    name:
        The name by which call sites load `learn`.
    given_up, targets:
        See `guards.Guards`.
    held:
        What guards hold, by their keys.

    Attributes
    ----------
    remember:
        `remember(callee, event, binds)`: call sites without keywords and splats call `event` instead of a callee, with
        the "receiver" or the "callee" as its first argument, or None. If the event is None, the callee is no target.
        None if nothing is kept.
    """

    __slots__ = ("_given_up", "_held", "_is_only_variant", "_learn", "_name", "_slowly", "_targets", "remember")

    def __init__(
        self, name: str, given_up: dict[str, Callable[[Any], Any]], targets: frozenset[int], held: dict[str, Any]
    ) -> None:
        self._name = name
        self._given_up = given_up
        self._targets = targets
        self._held = held
        self._learn: Learn | None = None
        self._is_only_variant = False
        self._slowly: _Learn | None = None
        self.remember: Callable[[Any, Any, Any], None] | None = None

    def begin(self, slowly: _Learn) -> _Learn:
        """Begin to keep callees that `slowly`, the `learn` in Python, meets first; return what call sites call."""
        self._slowly = slowly
        self.remember = self._remember_first
        return slowly

    @hidden
    def _remember_first(self, callee: Any, event: Any, binds: Any) -> None:
        self.accelerate()
        if self.remember is not None:
            self.remember(callee, event, binds)

    @hidden
    def accelerate(self) -> None:
        """Have call sites call the accelerator, if there is one: one has given up its guard, or has a target."""
        if self._learn is not None or self.remember is None:
            return
        self.remember = None
        if DISPATCH.is_used and NAMES[self._name] is self._slowly:  # no others have replaced these
            self._learn = DISPATCH.Learn(self._slowly, self._given_up, self._targets, self._held)
            self._learn.is_only_variant = self._is_only_variant
            self.remember = self._learn.remember
            NAMES[self._name] = self._learn

    def set_only_variant(self, is_only: bool) -> None:
        """Set whether there is no other variant that intercepts anything."""
        self._is_only_variant = is_only
        if self._learn is not None:
            self._learn.is_only_variant = is_only

    def end(self) -> None:
        """Keep nothing any more: another variant replaces this one."""
        self.remember = None
        if self._learn is not None:
            self._learn.forget()
