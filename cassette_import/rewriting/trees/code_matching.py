"""The functions in code objects: which there are, what identifies and compares them, and replacing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from opcode import opmap
from types import CodeType, EllipsisType, NoneType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.code_objects import changed_copy

__all__ = [
    "all_names",
    "decorated_functions",
    "essence",
    "functions_in",
    "is_same",
    "key_of",
    "match",
    "nested_functions",
    "parameter_names",
    "replace_functions",
    "span_of",
]

# ---- what code does, compared and identified

_ELSEWHERE: Final = ~(
    code_objects.NESTED
    | code_objects.METHOD
    | code_objects.ITERABLE_COROUTINE
    | code_objects.VARARGS
    | code_objects.VARKEYWORDS
)
"""Without the flags that say where a function stands, that `types.coroutine` has marked it, or that it takes `*args` or
`**kwargs`: copies of hooks leave out what a hook does not read."""


def essence(code: CodeType) -> tuple[Any, ...]:
    """What code does, functions and classes in it included. Its `repr` is the same in all processes of one Python.

    The number of positional-only parameters is left out: copies of hooks have another one.
    """
    return (
        code.co_name,
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_cellvars,
        code.co_freevars,
        code.co_argcount,
        code.co_kwonlyargcount,
        code.co_flags & _ELSEWHERE,
        code.co_exceptiontable,
        *map(_constant, code.co_consts),
    )


def is_same(code: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same, at the same lines."""
    # CPython's comparison of code takes twice as long for each level of functions within functions.
    return essence(code) == essence(other) and [*_lines(code)] == [*_lines(other)]


def _lines(code: CodeType) -> Iterator[tuple[int, int | None]]:
    """The offsets at which lines begin. Columns depend on `-X no_debug_ranges`, also those in a `.pyc`."""
    previous: int | None = -1
    for start, _, line in code.co_lines():
        if line != previous:
            yield start, line
            previous = line
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _lines(const)


_PLAIN: Final = frozenset((str, bytes, int, float, complex, bool, NoneType, EllipsisType))


def _constant(const: Any) -> Any:
    """A constant by its type and `repr`: 1, 1.0 and True are different ones, so are 0.0 and -0.0, and NaN is itself."""
    kind = type(const)
    if kind in _PLAIN:
        return repr(const)
    if kind is CodeType:
        return essence(const)
    if kind is tuple:
        return ("tuple", *map(_constant, const))
    if kind is frozenset:
        return ("frozenset", *sorted(map(_constant, const), key=repr))
    if kind is slice:
        return ("slice", *map(_constant, (const.start, const.stop, const.step)))
    return kind.__name__, id(const)  # somebody has put it there: its code is not run


# ---- the functions in code objects: which there are, what identifies them, and replacing them by others

_NOT_OF_THE_BODY = {
    opmap[name]
    for name in (
        "RESUME",
        "COPY_FREE_VARS",
        "MAKE_CELL",
        "RETURN_GENERATOR",
        "NOP",
        "CACHE",
        "RETURN_VALUE",
        "RETURN_CONST",
    )
    if name in opmap
}
"""Instructions whose position is not in the body of a lambda: up to 3.12, the return is at column 0."""

Key = tuple[str, int, tuple[int, int] | None]
"""Name, first line, and for a lambda where its body starts."""


def key_of(code: CodeType) -> Key:
    """What identifies a function's code among those of one file."""
    if code.co_name != "<lambda>":
        return code.co_name, code.co_firstlineno, None
    starts = [
        (line, column)
        for (line, _, column, _), opcode in zip(code.co_positions(), code.co_code[::2], strict=False)
        if line is not None and column is not None and opcode not in _NOT_OF_THE_BODY
    ]
    return code.co_name, code.co_firstlineno, min(starts, default=None)


def span_of(code: CodeType) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the first instruction of a lambda's body begins and the last one ends; None if no instruction shows it."""
    places = [
        ((line, column), (last, last_column))
        for (line, last, column, last_column), opcode in zip(code.co_positions(), code.co_code[::2], strict=False)
        if line is not None and last is not None and column is not None and last_column is not None
        if opcode not in _NOT_OF_THE_BODY and (line, column) != (last, last_column)
    ]
    return (min(start for start, _ in places), max(end for _, end in places)) if places else None


def nested_functions(code: CodeType) -> Iterator[CodeType]:
    """The functions directly in `code`, each once; those in its class bodies and comprehensions included."""
    seen: set[int] = set()
    work = [const for const in code.co_consts if isinstance(const, CodeType)]
    while work:
        inner = work.pop()
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        if code_objects.is_function(inner):
            yield inner
        else:
            work.extend(const for const in inner.co_consts if isinstance(const, CodeType))


def replace_functions(code: CodeType, replacement_of: Callable[[CodeType], CodeType]) -> CodeType:
    """The code with other functions directly in it, also in its class bodies and comprehensions."""
    consts: list[object] = []
    for const in code.co_consts:
        if isinstance(const, CodeType):
            const = (
                replacement_of(const) if code_objects.is_function(const) else replace_functions(const, replacement_of)
            )
        consts.append(const)
    return changed_copy(code, co_consts=tuple(consts))


def functions_in(code: CodeType) -> Iterator[CodeType]:
    """The functions directly in `code`, also in its class bodies and comprehensions, as `replace_functions` visits
    them."""
    for const in code.co_consts:
        if isinstance(const, CodeType):
            if code_objects.is_function(const):
                yield const
            else:
                yield from functions_in(const)


_LOAD_CONST, _EXTENDED_ARG = opmap["LOAD_CONST"], opmap["EXTENDED_ARG"]
_IGNORED = {opmap["CACHE"], opmap["NOP"]}
_MAKING = {opmap[name] for name in ("MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE") if name in opmap}
_CALLS = {opmap[name] for name in ("PRECALL", "CALL") if name in opmap}


def decorated_functions(code: CodeType) -> Iterator[CodeType]:
    """The functions directly in `code` that are handed to a call as soon as they are made: decorated ones, mostly."""
    function: CodeType | None = None
    is_made = False
    argument = 0
    for opcode, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        if opcode in _IGNORED:
            continue
        argument |= low
        if opcode == _EXTENDED_ARG:
            argument <<= 8
            continue
        if opcode == _LOAD_CONST:
            const = code.co_consts[argument]
            is_function = isinstance(const, CodeType) and code_objects.is_function(const)
            function, is_made = (const if is_function else None), False
        elif opcode in _MAKING:
            is_made = function is not None
        else:
            if is_made and opcode in _CALLS and function is not None:
                yield function
            function, is_made = None, False
        argument = 0
    for const in code.co_consts:
        if isinstance(const, CodeType) and not code_objects.is_function(const):
            yield from decorated_functions(const)


def all_names(code: CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and its nested functions."""
    yield from code.co_names
    for inner in nested_functions(code):
        yield from all_names(inner)


def match(code: CodeType, others: Iterable[CodeType]) -> CodeType | None:
    """The one of `others` that is compiled from the same function as `code`; None if several fit, or none."""
    near = [
        other
        for other in others
        if other.co_name == code.co_name
        and other.co_firstlineno == code.co_firstlineno
        and parameter_names(other) == parameter_names(code)
    ]
    exact = [other for other in near if key_of(other) == key_of(code)]
    # The compiler may leave out the first instructions of a lambda, which show where its body starts.
    distinct = {id(other): other for other in exact or near if exact or _overlap(code, other)}
    return next(iter(distinct.values())) if len(distinct) == 1 else None


def _overlap(code: CodeType, other: CodeType) -> bool:
    """Whether two functions of one line may be the same by their positions. Lambdas side by side do not overlap."""
    if code.co_name != code_objects.LAMBDA:
        return True
    span, other_span = span_of(code), span_of(other)
    if span is None or other_span is None:
        return True
    return span[0] < other_span[1] and other_span[0] < span[1]


def parameter_names(code: CodeType) -> tuple[str, ...]:
    """The names of a function's parameters, without those for further arguments."""
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
