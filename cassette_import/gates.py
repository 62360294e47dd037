"""Gates: small code objects that stand in for a function until it is entered for the first time.

A gate has the signature, names and flags of the function and, hidden (see `frames`), says
``return @enter(unit, …)(arguments)``. It is made from a template per kind of signature by replacing names.

Knows code objects; must not know contexts or rewriting.
"""

from __future__ import annotations

import functools
import inspect
from types import CodeType

from cassette_import.frames import hide, unwatched

_UNIT = "unit"
_DOCSTRING = "docstring"
_COPIED_FLAGS = ~(inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS | inspect.CO_NESTED)


@functools.cache
def _template(
    positional_only: int, positional: int, keyword_only: int, rest: bool, keywords: bool, free: int
) -> CodeType:
    """The gate of any function with so many parameters and free names."""
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
    return next(const for const in scope.co_consts if isinstance(const, CodeType) and const.co_name == "gate")


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
    keyword_names = {f"k{number}": plain.co_varnames[positional + number] for number in range(keyword_only)}
    documentation = plain.co_consts[0] if plain.co_consts and isinstance(plain.co_consts[0], str) else None
    consts: list[object] = []
    for const in template.co_consts:
        if isinstance(const, CodeType):
            consts.append(const.replace(co_freevars=plain.co_freevars, co_filename=plain.co_filename))
        elif const == _UNIT:
            consts.append(unit)
        elif const == _DOCSTRING:
            consts.append(documentation)
        elif isinstance(const, str):
            consts.append(keyword_names.get(const, const))
        elif isinstance(const, tuple):
            consts.append(tuple(keyword_names.get(name, name) for name in const))
        else:
            consts.append(const)
    gate = hide(template).replace(
        co_consts=tuple(consts),
        co_names=tuple("@enter" if name == "enter" else name for name in template.co_names),
        co_varnames=plain.co_varnames[: len(template.co_varnames)],
        co_freevars=plain.co_freevars,
        co_flags=plain.co_flags,
        co_name=plain.co_name,
        co_qualname=plain.co_qualname,
        co_filename=plain.co_filename,
        co_firstlineno=plain.co_firstlineno,
    )
    return unwatched(gate)
