"""Gates: small code objects that stand in for a function until it is entered for the first time.

A gate has the signature, names and flags of the function and, hidden (see `frames`), says
``return @enter(unit, …)(arguments)``. It is made from a template per kind of signature by replacing names.

Knows code objects; must not know contexts or rewriting.
"""

from __future__ import annotations

import functools
import inspect
from types import CodeType
from typing import Any, NamedTuple

from cassette_import.interpreter.hidden_frames import hide, unwatched
from cassette_import.rewriting import symbols

_UNIT = "unit"
_DOCSTRING = "docstring"
_COPIED_FLAGS = ~(inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS | inspect.CO_NESTED)


class _Template(NamedTuple):
    """The gate of any function with so many parameters and free names, hidden, and what is to be put into it."""

    code: CodeType
    unit: int
    """Where among its constants the number of the unit stands."""
    documentation: int
    here: int
    made: dict[tuple[tuple[str, ...], str], CodeType]


@functools.cache
def _template(
    positional_only: int, positional: int, keyword_only: int, rest: bool, keywords: bool, free: int
) -> _Template:
    names = [f"p{number}" for number in range(positional)]
    keyword_names = [f"k{number}" for number in range(keyword_only)]
    parameters = [*names]
    if positional_only:
        parameters.insert(positional_only, "/")
    if rest:
        parameters.append("*rest")
    elif keyword_only:
        parameters.append("*")
    parameters += keyword_names
    if keywords:
        parameters.append("**keywords")
    arguments = names + (["*rest"] if rest else []) + [f"{name}={name}" for name in keyword_names]
    if keywords:
        arguments.append("**keywords")
    elif arguments and not rest:
        # After its last argument the gate lets go of all of them, so that they can die in the function.
        kept = names + keyword_names
        last = kept[-1]
        value = f"({last}, {', '.join(f'({name} := None)' for name in kept)})[0]"
        arguments[-1] = f"{last}={value}" if keyword_names else value
    cells = [f"c{number:04}" for number in range(free)]
    source = (
        f"def scope({', '.join(cells)}):\n"
        f" def gate({', '.join(parameters)}):\n"
        f"  {_DOCSTRING!r}\n"
        f"  return enter({_UNIT!r}, lambda: ({''.join(cell + ', ' for cell in cells)}))({', '.join(arguments)})\n"
    )
    scope = compile(source, "<gate>", "exec", dont_inherit=True, optimize=0).co_consts[0]
    gate = next(const for const in scope.co_consts if isinstance(const, CodeType) and const.co_name == "gate")
    enter = tuple(symbols.ENTER_FUNCTION if name == "enter" else name for name in gate.co_names)
    consts = gate.co_consts
    here = next(place for place, const in enumerate(consts) if isinstance(const, CodeType))
    code = hide(gate).replace(co_names=enter)
    return _Template(code, consts.index(_UNIT), consts.index(_DOCSTRING), here, {})


def _here(template: _Template, free: tuple[str, ...], filename: str) -> CodeType:
    """The function in a gate that hands over cells and globals; those of a file's functions are mostly the same."""
    made = template.made.get((free, filename))
    if made is None:
        code = template.code.co_consts[template.here]
        made = template.made[free, filename] = code.replace(co_freevars=free, co_filename=filename)
    return made


def _renamed(const: Any, names: dict[str, str]) -> Any:
    """A constant that names parameters: one of them, or a tuple of several."""
    if isinstance(const, str):
        return names.get(const, const)
    return tuple(names.get(name, name) for name in const) if isinstance(const, tuple) else const


def make(plain: CodeType, unit: int) -> CodeType:
    """The gate of a function with the code `plain`; it hands `unit` to `@enter`."""
    keyword_only, positional = plain.co_kwonlyargcount, plain.co_argcount
    template = _template(
        plain.co_posonlyargcount,
        positional,
        keyword_only,
        bool(plain.co_flags & inspect.CO_VARARGS),
        bool(plain.co_flags & inspect.CO_VARKEYWORDS),
        len(plain.co_freevars),
    )
    consts: list[Any] = list(template.code.co_consts)
    if keyword_only:
        names = {f"k{number}": plain.co_varnames[positional + number] for number in range(keyword_only)}
        consts = [_renamed(const, names) for const in consts]
    consts[template.unit] = unit
    consts[template.documentation] = (
        plain.co_consts[0] if plain.co_consts and isinstance(plain.co_consts[0], str) else None
    )
    consts[template.here] = _here(template, plain.co_freevars, plain.co_filename)
    gate = template.code.replace(
        co_consts=tuple(consts),
        co_varnames=plain.co_varnames[: len(template.code.co_varnames)],
        co_freevars=plain.co_freevars,
        co_flags=plain.co_flags,
        co_name=plain.co_name,
        co_qualname=plain.co_qualname,
        co_filename=plain.co_filename,
        co_firstlineno=plain.co_firstlineno,
    )
    return unwatched(gate)
