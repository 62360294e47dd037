"""The skeleton of contexts in which rules compute the metadata of numbers, and all else that computes one is an error.

`Ruled` says what becomes of the results of leaves without a rule. In a `Bounded` context, a number stands for all those
between bounds, and leaves are called with one of them. Its overloads are hidden frames, because the program may inspect
its callers.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Container, Iterable, Mapping
from types import FunctionType
from typing import Any, ClassVar, Final

from cassette_import.activation.tagging import NO_METADATA, allmetadata, metadata
from cassette_import.errors import CassetteError, NotOverdubbable
from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import CallSite, nearest_site
from cassette_import.kits.numbers.composed_calls import compose
from cassette_import.kits.numbers.compositions import APPROXIMATE, COMPOSITIONS
from cassette_import.kits.numbers.lost_numbers import (
    CONTAINERS,
    REAL_NUMBERS,
    UNKNOWN,
    LosesNothing,
    is_decided_by_types,
)
from cassette_import.kits.numbers.overloads import call_without_overload, fold_call, runs_own_method, without_modulus
from cassette_import.kits.numbers.table import COMPARING
from cassette_import.kits.tagged_containers import with_items_read
from cassette_import.kits.tagging import RULED_WHILE_TAGGED, leaf_name, plain

__all__ = ["NO_RULE_FOR_OPERANDS", "Bounded", "NoRule", "Ruled", "check_function"]

NO_RULE_FOR_OPERANDS: Final = "there is no rule for such operands of"


class NoRule(NotOverdubbable):
    """A function without a rule computed something from numbers that need one. `site` is its call site."""

    def __init__(self, function: Any, site: CallSite, reason: str) -> None:
        self.site = site
        super().__init__(
            f"{reason} {leaf_name(function)}, at {site}: {site.source}\n"
            "Compute the same with functions that have one, or, if it is Python, install its package"
        )


def check_function(f: Any, rules: Iterable[Container[Any]], refusal: str) -> None:
    """Refuse a function that has no source in Python, and none of the rules."""
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    if python_function(f) is None and not any(f in functions for functions in rules):
        raise NotOverdubbable(refusal)


class Ruled(LosesNothing, tagging=True):
    """The base of contexts in which rules compute the metadata of numbers."""

    without_rule: ClassVar[str]
    """What errors say of a function without a rule."""
    its_numbers: ClassVar[str]
    """How errors call the numbers with metadata."""
    error_type: ClassVar[type[NoRule]]

    def refused(self, f: Any, reason: str) -> CassetteError:
        """The error for a call whose result has no metadata. It is raised again if the program catches it."""
        return self.refuse(self.error_type(f, nearest_site(), reason))

    def is_independent(self, value: Any, f: Any, arguments: tuple[Any, ...]) -> bool:
        """Whether what a leaf has computed does not depend on numbers."""
        return self.depends_on_no_number(f, arguments)

    def attribute(self, arguments: tuple[Any, ...]) -> Any:
        """The metadata of an attribute of a number."""
        return NO_METADATA

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """Refuse a number that a function without a rule computed: it may be anything."""
        if self.is_independent(value, f, arguments):
            return NO_METADATA
        known = self.attribute(arguments) if f is getattr else self.converted(f, arguments)
        if known is not NO_METADATA:
            return known
        if value is None or isinstance(value, (numbers.Number, FunctionType)):
            raise self.refused(f, self.without_rule)
        if self.is_called_later(value, f, arguments, keywords):
            raise self.refused(f, f"a function may be called later with {self.its_numbers}, by")
        return UNKNOWN

    def read(self, value: Any, shown: Callable[[Any, Any], Any]) -> Any:
        """A result of the program, with what `shown` returns for the value and the metadata of each number."""
        known, bare = metadata(value, self), plain(value)
        if known is UNKNOWN and not isinstance(bare, (list, tuple, dict)):
            return bare
        if known is not NO_METADATA and known is not UNKNOWN:
            return shown(bare, known)
        return with_items_read(self, value, lambda item: self.read(item, shown))


class Bounded(Ruled, tagging=True):
    """The base of contexts in which a number stands for all those between bounds."""

    bounds_type: ClassVar[type]
    points: ClassVar[str]
    """How errors call the numbers between the bounds."""
    rules: ClassVar[Mapping[Any, Any]]
    folds: ClassVar[Mapping[Any, Any]]
    constant: Callable[[Any], Any]
    """The metadata of a number that the program has written down, given as a method."""
    check_sign: Callable[[Any, Any], None]
    """Refuses to test the truth of a number, unless all numbers between its bounds are zero, or none is."""

    @classmethod
    def register(cls, rules: Mapping[Any, Any], folds: Mapping[Any, Any], decisions: Iterable[Any] = ()) -> None:
        """Give the overloads to functions with a rule, decisions, folds and functions with a composition."""
        cls.rules, cls.folds = rules, folds
        cls.overdub.register(*({*rules, *decisions} - {pow}))(_apply)
        cls.overdub.register(pow)(without_modulus(_apply))
        cls.overdub.register(*folds)(_fold)
        cls.overdub.register(*(COMPOSITIONS.keys() - APPROXIMATE))(compose)

    def is_operand(self, f: Any, value: Any) -> bool:
        """Whether a value of the program is an operand for which the function has a rule."""
        return isinstance(value, REAL_NUMBERS)

    def operand(self, f: Any, value: Any) -> Any:
        """The metadata of an operand."""
        known, bare = metadata(value, self), plain(value)
        if isinstance(known, self.bounds_type):
            return known
        if known is UNKNOWN or not self.is_operand(f, bare):
            raise self.refused(f, NO_RULE_FOR_OPERANDS)
        return self.constant(bare)

    def attribute(self, arguments: tuple[Any, ...]) -> Any:
        name, known = plain(arguments[1]), metadata(arguments[0], self)
        if not isinstance(known, self.bounds_type):
            return NO_METADATA
        return known if name == "real" else self.constant(0) if name == "imag" else NO_METADATA

    def raised(self, error: Exception, f: Any, *arguments: Any) -> None:
        """Refuse an exception of a leaf: it was called with some numbers, and might return for others."""
        if isinstance(error, (ArithmeticError, LookupError, ValueError)):
            raise self.refused(f, f"some {self.points} raise {type(error).__name__} in") from error

    def compared(self, f: Any) -> None:
        """A leaf is about to compare numbers, or to hash them: what it does would be a guess."""
        raise self.refused(f, NO_RULE_FOR_OPERANDS)

    def tested(self, f: Any, value: Any) -> bool:
        """A leaf is about to test the truth of a number, or its sign: what its bounds decide."""
        known, bare = metadata(value, self), plain(value)
        if isinstance(bare, CONTAINERS):
            return bool(bare)
        if not isinstance(known, self.bounds_type):
            self.compared(f)
        self.check_sign(f, known)
        return bare  # type: ignore[no-any-return]  # a number between the bounds: all have the same sign


@hidden
def _apply(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    if not allmetadata(ctx, *arguments, *keywords.values()) or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    if not all(isinstance(plain(one), REAL_NUMBERS) for one in arguments):
        if f in COMPARING and is_decided_by_types(ctx, arguments, REAL_NUMBERS):
            return f(*map(plain, arguments))
        return call_without_overload(f, arguments, keywords)
    if keywords:
        raise ctx.refused(f, NO_RULE_FOR_OPERANDS)
    return ctx.apply(f, arguments)


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    call = fold_call(f, items, more, keywords)
    if not allmetadata(ctx, *call.operands) or runs_own_method(f, call.operands):
        return call_without_overload(f, call.arguments, keywords)
    if set(keywords) - {"start", "default"}:
        raise ctx.refused(f, NO_RULE_FOR_OPERANDS)
    return ctx.fold(f, call)


RULED_WHILE_TAGGED.add(id(iter))  # it compares the results of a callback with a sentinel
