"""Numbers whose metadata must not be lost: what contexts do that promise the right derivative or true bounds.

A leaf without a rule may compute text or an object from numbers: it gets the metadata `UNKNOWN`. A number that is
computed from these, or from numbers, is an error.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.activation.tagging import NO_METADATA, allmetadata, metadata
from cassette_import.errors import CassetteError
from cassette_import.interpreter.callables import lookup
from cassette_import.kits.numbers.compositions import IDENTITIES
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.overdubbed_calls import calls_overdubbed
from cassette_import.runtime.tagging.wrappers import metas_of, plain

__all__ = [
    "CONTAINERS", "INDEPENDENT", "REAL_NUMBERS", "UNKNOWN", "LosesNothing", "is_decided_by_types", "unshared",
]  # fmt: skip


class _Unknown:
    """The type of `UNKNOWN`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()
"""The metadata of a value that is no number but was made from numbers with metadata, such as their text. No number may
be computed from it."""

INDEPENDENT: Final = (isinstance, issubclass, callable, hasattr, id, type, operator.is_, operator.is_not, slice)
"""Functions whose result does not depend on the value of a number."""


STANDARD_LIBRARY: Final = ("collections", "_collections_abc", "queue", "colorsys")
"""Modules of the standard library whose code in Python computes with numbers, or holds them: they are overdubbed
like the program."""

_IDENTITIES: Final = frozenset(map(id, IDENTITIES))


_SIZES: Final = frozenset(map(id, (len, bool, operator.truth, operator.not_)))
REAL_NUMBERS: Final = (int, float, Fraction, Decimal)
CONTAINERS: Final = (list, tuple, dict, set, frozenset)

_NO_NUMBERS: Final = (str, bytes, type(None))


_CALLBACKS: Final = (FunctionType, MethodType, BuiltinFunctionType)


def unshared(value: Any) -> Any:
    """A number of which no other place of the program has the object, as a constant of the program would be."""
    copied = _COPIES.get(type(value))
    return value if copied is None else copied(value)


def is_decided_by_types(ctx: Context, operands: Sequence[Any], real_numbers: tuple[type, ...]) -> bool:
    """Whether a comparison with an operand that is no number is decided by types: one with None, for example.

    It does not depend on the numbers then. That is not known of text that was made from numbers.
    """
    return all(
        isinstance(plain(one), (*real_numbers, *_NO_NUMBERS)) and metadata(one, ctx) is not UNKNOWN for one in operands
    )


def _negated_twice(value: Any) -> Any:
    return operator.neg(operator.neg(value))


_COPIES: Final[dict[type, Callable[[Any], Any]]] = {
    float: _negated_twice,
    complex: _negated_twice,
    Fraction: lambda value: Fraction(value.numerator, value.denominator),
    Decimal: lambda value: Decimal(value.as_tuple()),
}


class LosesNothing(Context, tagging=True):
    """The base of contexts for which a number without its metadata is an error, also if the program catches it."""

    lost: ClassVar[str] = "error"
    inherit: ClassVar[bool] = True
    recognised_types: ClassVar[tuple[type, ...]] = (float, complex, Fraction, Decimal)
    exempt_leaves: ClassVar[frozenset[int]] = frozenset(map(id, INDEPENDENT))
    _entered_modules: ClassVar[tuple[str, ...]] = STANDARD_LIBRARY
    failure: CassetteError | None = None

    def refuse(self, error: CassetteError) -> CassetteError:
        """Keep an error, to be raised again if the program catches it."""
        if self.failure is None:
            self.failure = error
        return error

    def checked(self) -> Checked:
        """A block that runs the program: at its end, the error is raised that the program has caught, if any."""
        return Checked(self)

    def is_called_later(self, value: Any, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether a leaf that returned an object may call a function later with numbers that it computes.

        What takes callbacks to keep them is known to pass on the numbers that it got.
        """
        given = (*arguments, *keywords.values())
        if isinstance(value, (str, bytes)) or not any(isinstance(plain(one), _CALLBACKS) for one in given):
            return False
        if id(f) in HIGHER_ORDER.keepers:
            return False
        return bool(allmetadata(self, *given))

    def depends_on_no_number(self, f: Any, arguments: tuple[Any, ...]) -> bool:
        """Whether a call asks for the truth or the length of an object, which its numbers do not decide.

        Methods of the program that decide it are overdubbed.
        """
        value = plain(arguments[0]) if arguments else None
        if id(f) not in _SIZES:
            return False
        if isinstance(value, CONTAINERS):
            return True
        names = ("__len__",) if f is len else ("__bool__", "__len__")
        method = next((found for name in names if (found := lookup(type(value), name)) is not None), None)
        here = ACTIVE.get()
        return metas_of(arguments[0]) is None and (
            type(method) is not FunctionType or calls_overdubbed(here.suspended or here, method)
        )

    def converted(self, f: Any, arguments: tuple[Any, ...]) -> Any:
        """The metadata of a number that was converted to another type; `NO_METADATA` if `f` is no conversion."""
        for argument in arguments:
            if id(f) in _IDENTITIES and isinstance(plain(argument), numbers.Number):
                return metadata(argument, self)
        return NO_METADATA


class Checked:
    """A block that runs the program in a context, and raises at its end the error that the program has caught."""

    def __init__(self, context: LosesNothing) -> None:
        self._context = context

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        failure = self._context.failure
        if failure is not None and failure is not error and (error is None or isinstance(error, Exception)):
            raise failure from error
