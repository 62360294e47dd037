"""Guards: callees, and types of receivers, that are known not to be intercepted by a variant.

`rewrite.guarded_form` tells where they stand.

Exact: what a guard holds cannot become a target unless something is registered, and then all guards are forgotten.
Holds nothing alive that would die otherwise.

Knows callables; must not know events.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

from cassette_import.active import NAMES
from cassette_import.frames import hidden

_IMMUTABLE: Final = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_MOST_MISSES: Final = 8
"""A guard that does not come to hold is left alone after so many calls."""


class Guards:
    """The guards of one variant."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._marks = tuple(f"{prefix}.{kind}." for kind in ("g", "gk", "t", "tk"))
        self._misses: dict[str, int] = {}

    def provide(self, code: CodeType) -> None:
        """Make the guards that a code object names."""
        marks = self._marks
        for name in code.co_names:
            if name.startswith(marks) and name not in NAMES:
                NAMES[name] = None
        for const in code.co_consts:
            if isinstance(const, CodeType):
                self.provide(const)

    def forget(self) -> None:
        """Something was registered: what was known may be so no more."""
        self._misses.clear()
        marks = self._marks
        for name in list(NAMES):
            if name.startswith(marks):
                NAMES[name] = None

    def make_learn(self, pick: Callable[[Any], Any], pick_with_callbacks: Callable[[Any], Any]) -> Callable[..., Any]:
        """`learn(callee, guard)`: what `pick` gives; the guard remembers a callee that is not intercepted.

        Call sites with keywords or splats may hand a callback to a higher-order leaf by its name.
        """
        misses, prefix = self._misses, self._prefix

        @hidden
        def learn(callee: Any, guard: str, forgotten: None = None) -> Any:
            picked = (pick_with_callbacks if guard[1] == "k" else pick)(callee)
            if picked is callee and misses.get(guard, 0) < _MOST_MISSES:
                misses[guard] = misses.get(guard, 0) + 1
                if guard[0] == "g" and _is_lasting(callee):
                    NAMES[f"{prefix}.{guard}"] = callee
                elif guard[0] == "t" and _is_plain_method(callee, guard):
                    NAMES[f"{prefix}.{guard}"] = type(callee.__self__)
            return picked

        return learn


@hidden
def _is_lasting(callee: Any) -> bool:
    """Whether a callee lives as long as its module does."""
    kind = type(callee)
    if kind is BuiltinFunctionType:
        return type(callee.__self__) is ModuleType
    if kind is FunctionType or (isinstance(callee, type) and not callee.__flags__ & _IMMUTABLE):
        module = sys.modules.get(callee.__module__)
        return type(module) is ModuleType and vars(module).get(callee.__name__) is callee
    return kind is type


@hidden
def _is_plain_method(callee: Any, guard: str) -> bool:
    """Whether a bound method of a builtin type is what the type, which cannot change, says for that name."""
    if type(callee) is not BuiltinFunctionType or isinstance(callee.__self__, (type, ModuleType)):
        return False
    kind = type(callee.__self__)
    return bool(kind.__flags__ & _IMMUTABLE) and not kind.__dictoffset__ and callee.__name__ == guard.rpartition(".")[2]
