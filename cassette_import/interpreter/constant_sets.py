"""Sets in the constants of code objects, in an order that does not depend on where the code comes from.

The compiler adds the items of a set in the order of the source, and `marshal` in an order that depends on reference
counts. Where hashes collide, the same code therefore iterates over a set in another order after it was read from a
file. A program would run otherwise the second time, and its recording would not replay.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from cassette_import.interpreter.code_copies import changed_copy

__all__ = ["has_sets", "with_settled_sets"]


def has_sets(code: CodeType) -> bool:
    """Whether code, or code nested in it, has a constant set whose order may vary."""
    work, seen = [code], {id(code)}  # branches share nested code
    while work:
        for const in work.pop().co_consts:
            kind = type(const)
            if kind is CodeType:
                if id(const) not in seen:
                    seen.add(id(const))
                    work.append(const)
            elif kind is frozenset and len(const) > 1:
                return True
    return False


def with_settled_sets(code: CodeType) -> CodeType:
    """The code with the items of its constant sets added in one order; the code itself if they are already.

    >>> code = compile("{8, 0, 16} in x", "", "eval")
    >>> items = next(list(const) for const in with_settled_sets(code).co_consts if type(const) is frozenset)
    >>> items == list(frozenset([0, 16, 8]))
    True
    """
    return _settled(code, {}) if has_sets(code) else code


def _settled(code: CodeType, made: dict[int, CodeType]) -> CodeType:
    """The code with settled sets; `made` has the copy of each code object by its `id`: branches share them."""
    found = made.get(id(code))
    if found is None:
        consts = [*code.co_consts]
        is_same = True
        for index, const in enumerate(consts):
            kind = type(const)
            if kind is CodeType:
                new: Any = _settled(const, made)
            elif kind is frozenset and len(const) > 1:
                new = _settled_set(const)
            else:
                continue
            if new is not const:
                consts[index], is_same = new, False
        found = made[id(code)] = code if is_same else changed_copy(code, co_consts=tuple(consts))
    return found


def _settled_set(const: frozenset[Any]) -> frozenset[Any]:
    settled = frozenset(sorted(const, key=_key))
    return const if list(settled) == list(const) else settled


def _key(item: Any) -> tuple[str, str]:
    return type(item).__name__, repr(item)
