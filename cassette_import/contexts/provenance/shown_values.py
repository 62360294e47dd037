"""Values of which code in C makes the text: the text is made once, by the program's own `__str__`, and kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from cassette_import.activation.context import Context
from cassette_import.activation.verbs import recurse
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["Shown", "runs_no_code", "shown"]

_ATOMS: Final = frozenset({int, float, complex, str, bytes, bool, type(None)})
_DEEPEST: Final = 50


def runs_no_code(value: Any, depth: int = 0) -> bool:
    """Whether the text of a value is made without code of the program: it consists of built-in values alone.

    >>> runs_no_code([1, {"a": 2.5}]), runs_no_code([object()])
    (True, False)
    """
    kind = type(value)
    if kind in _ATOMS:
        return True
    if depth > _DEEPEST or kind not in (list, tuple, dict):
        return False
    parts: Iterable[Any] = (*value, *value.values()) if kind is dict else value
    return all(runs_no_code(part, depth + 1) for part in parts)


class Shown:
    """Stands for a value where code in C asks for its text."""

    __slots__ = ("_context", "_value", "text")

    def __init__(self, value: Any, context: Context) -> None:
        self._value = value
        self._context = context
        self.text: Any = ""
        """The text, which may be wrapped; empty until it is made."""

    @hidden
    def __str__(self) -> str:
        """Make the text, as `str` makes it of the value."""
        self.text = recurse(self._context, str, self._value)
        made: str = plain(self.text)
        return made


class _ShownNumber(Shown):
    """Stands for a number: writers of `csv` may quote other values only."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(plain(self._value))


def shown(value: Any, context: Context) -> Shown:
    """Stand for a value, which may be wrapped, until its text is made in the context."""
    kind = type(plain(value))
    is_number = any(hasattr(kind, name) for name in ("__index__", "__int__", "__float__"))
    return (_ShownNumber if is_number else Shown)(value, context)
