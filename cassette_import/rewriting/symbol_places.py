"""Where rewritten code finds the value of a symbol, and what stands for it until code goes live.

A symbol whose value never changes is a constant of the code. All others are attributes of a *cell*, which is a
constant: there is one cell for the flags, one for the names of attributes, and one for each variant. The compiler gets
a placeholder for each constant.
"""

from __future__ import annotations

import functools
from typing import Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.symbols import (
    ATTRIBUTES_WATCHED,
    EPOCH,
    IS_ANY_ACTIVE,
    MARK,
    METADATA_EXISTS,
    ONLY_ARGUMENT_FREE,
    RULED,
    RULED_NAMES,
    WATCHED_PREFIX,
    WHOLE_TYPES_PREFIX,
)
from cassette_import.rewriting.variant_names import TAGGING_SUFFIX, WILDCARD_PREFIX

FLAGS: Final = "@flags"
"""The cell of the flags: what is true of the whole process at the moment."""

_IN_FLAGS: Final = frozenset({IS_ANY_ACTIVE, ONLY_ARGUMENT_FREE, METADATA_EXISTS, EPOCH, RULED, RULED_NAMES})

WATCHES: Final = "@watches"
"""The cell of the names of attributes: which of them contexts watch."""


@functools.lru_cache(4096)
def place_of(symbol: str) -> tuple[str, str] | None:
    """The cell that a symbol is in, and the name of its attribute; None if the value is a constant of the code."""
    if symbol in _IN_FLAGS or symbol.startswith(WHOLE_TYPES_PREFIX):
        return FLAGS, symbol
    if symbol == ATTRIBUTES_WATCHED or symbol.startswith(WATCHED_PREFIX):
        return WATCHES, symbol
    prefix, _, attribute = symbol.partition(".")
    number = prefix[1:].removeprefix(WILDCARD_PREFIX[1:]).removesuffix(TAGGING_SUFFIX)
    is_of_variant = attribute and prefix[:1] == MARK and number.isdecimal()
    return (cell_of(prefix), attribute) if is_of_variant else None


def cell_of(prefix: str) -> str:
    """The symbol of the cell of a variant."""
    return f"{prefix}."


Placeholder = tuple[frozenset[str]]


@functools.cache
def placeholder(symbol: str) -> Placeholder:
    """What code has for a constant that cannot be serialised, before it goes live.

    The compiler makes no tuple with a set in it from the source of a program; a pass that returns one is refused.
    """
    return (frozenset((symbol,)),)


def is_placeholder(const: object) -> bool:
    """Whether a constant stands for a symbol."""
    return type(const) is tuple and symbol_in(const) is not None


@hidden
def symbol_in(const: tuple[object, ...]) -> str | None:
    """The symbol that a tuple is the placeholder of; None if it is none."""
    if len(const) == 1 and type(const[0]) is frozenset and len(const[0]) == 1:
        symbol: object = next(iter(const[0]))
        if type(symbol) is str and symbol[:1] == MARK:
            return symbol
    return None
