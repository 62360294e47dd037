"""Live code: compiled code whose placeholders are replaced by the objects that they stand for, and the way back.

The compiler and the disk cache know code with placeholders (`rewriting.symbol_places`), which can be serialised.
Code that may run has the objects themselves among its constants (`runtime.names`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, Final

from cassette_import.interpreter import code_flags
from cassette_import.interpreter.code_copies import changed_copy
from cassette_import.rewriting import symbol_places
from cassette_import.runtime.names import OBJECTS, SYMBOLS

Prefixes = tuple[str, ...]
"""The prefixes of the variants that code serves."""


Places = tuple[tuple[int, Any], ...]
"""The places of placeholders in code: the index of a constant, and its symbol, or the places in that constant."""


def live(code: CodeType, old: Prefixes = (), new: Prefixes = (), places: Places | None = None) -> CodeType:
    """The code with objects in the places of placeholders, also in the code objects in it.

    Parameters
    ----------
    code:
        The code with placeholders.
    old, new:
        The prefixes of its variants in the process that compiled it, and in this process.
    places:
        The places of the placeholders, if they are known.
    """
    if places is None:
        places = places_in(code)
    if old == new:
        return _put(code, places, OBJECTS.__getitem__, {})
    meaning = _renamed(old, new)
    return _put(code, places, lambda symbol: OBJECTS[meaning(symbol)], {})


def stored(code: CodeType, prefixes: Prefixes) -> CodeType:
    """Live code as it can be serialised: with placeholders in the places of objects.

    `prefixes` are those of its variants in this process.
    """
    families = {id(OBJECTS[prefix]): prefix for prefix in prefixes}  # several variants may have one family
    return _put(
        code, _places(code, lambda const: families.get(id(const)) or SYMBOLS.get(id(const)), {}), _placeholder, {}
    )


def stored_for(code: CodeType, old: Prefixes, new: Prefixes) -> CodeType:
    """Code that can be serialised, with the placeholders of other variants."""
    meaning = _renamed(old, new)
    return code if old == new else _put(code, places_in(code), lambda symbol: _placeholder(meaning(symbol)), {})


_placeholder: Final = symbol_places.placeholder


def _renamed(old: Prefixes, new: Prefixes) -> Callable[[str], str]:
    """What symbols become in code that serves other variants."""
    pairs = list(zip(old, new, strict=True))
    renamed = dict([*pairs, *((symbol_places.cell_of(one), symbol_places.cell_of(other)) for one, other in pairs)])
    return lambda symbol: renamed.get(symbol, symbol)


def places_in(code: CodeType) -> Places:
    """The places of the placeholders in code that can be serialised."""
    return _places(code, lambda const: symbol_places.symbol_in(const) if type(const) is tuple else None, {})


def _places(
    holder: CodeType | tuple[Any, ...], symbol_of: Callable[[Any], str | None], known: dict[int, Places]
) -> Places:
    """The places of the constants that have a symbol. `known` has the places in constants, by identity."""
    found: list[tuple[int, Any]] = []
    for index, const in enumerate(holder.co_consts if type(holder) is CodeType else holder):
        part: Any = symbol_of(const)
        if part is None and (type(const) is CodeType or type(const) is tuple):
            part = known.get(id(const))
            if part is None:
                part = known[id(const)] = _places(const, symbol_of, known)
        if part:
            found.append((index, part))
    return tuple(found)


def _put(code: CodeType, places: Places, value_of: Callable[[str], Any], known: dict[int, Any]) -> CodeType:
    """The code with other constants in some places.

    Branches share the code of nested functions; `known` has the new constants by the identity of the old ones.
    """
    if not places:
        return code
    consts = _with_parts(code.co_consts, places, value_of, known)
    if code.co_flags & code_flags.OPTIMIZED:  # what `changed_copy` restores is in other code only
        return code.replace(co_consts=consts)
    return changed_copy(code, co_consts=consts)


def _with_parts(
    old: tuple[Any, ...], places: Places, value_of: Callable[[str], Any], known: dict[int, Any]
) -> tuple[Any, ...]:
    consts = list(old)
    for index, part in places:
        const = consts[index]
        if type(part) is str:
            consts[index] = value_of(part)
        elif type(const) is tuple:
            consts[index] = _with_parts(const, part, value_of, known)
        else:
            made = known.get(id(const))
            if made is None:
                made = known[id(const)] = _put(const, part, value_of, known)
            consts[index] = made
    return tuple(consts)


def names_of(code: CodeType, prefix: str) -> tuple[str, ...]:
    """The attributes of a variant's cell that must be bound before code runs, and the code objects in it."""
    symbol = symbol_places.cell_of(prefix)
    cells = symbol_places.placeholder(symbol), OBJECTS.get(symbol)
    found: set[str] = set()
    work, seen = [code], {id(code)}
    while work:
        one = work.pop()
        for const in one.co_consts:
            if type(const) is CodeType:
                if id(const) not in seen:
                    seen.add(id(const))
                    work.append(const)
            elif const in cells:
                found.update(name for name in one.co_names if "." in name)
    return tuple(sorted(found))
