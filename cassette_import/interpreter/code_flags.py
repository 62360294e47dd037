"""Kinds of code objects, and their flags, which are those of `inspect`: importing that takes long."""

from __future__ import annotations

from types import CodeType
from typing import Final

OPTIMIZED: Final = 0x01
NEWLOCALS: Final = 0x02
VARARGS: Final = 0x04
VARKEYWORDS: Final = 0x08
NESTED: Final = 0x10
GENERATOR: Final = 0x20
COROUTINE: Final = 0x80
ITERABLE_COROUTINE: Final = 0x100
ASYNC_GENERATOR: Final = 0x200
METHOD: Final = 0x8000000
"""From 3.14 on; never set before."""

LAMBDA: Final = "<lambda>"
GENERATOR_EXPRESSION: Final = "<genexpr>"
_SUSPENDABLE: Final = GENERATOR | COROUTINE | ASYNC_GENERATOR
_ANNOTATION_SCOPES: Final = ("__annotate__", "__annotations__", "__conditional_annotations__")
"""PEP 649 scopes are functions to the interpreter only. So are those of PEP 695, which have other names."""
_PARAMETERS_OF_SCOPES: Final = (".format", ".defaults", ".generic_base", ".type_params")


def is_function(code: CodeType) -> bool:
    """Whether the code is that of a `def` or `lambda`, not of a module, class body or comprehension."""
    name = code.co_name
    if not code.co_flags & NEWLOCALS or name in _ANNOTATION_SCOPES:
        return False
    if name[0] == "<":
        return name == LAMBDA
    return not code.co_argcount or code.co_varnames[0] not in _PARAMETERS_OF_SCOPES


def can_be_suspended(code: CodeType) -> bool:
    """Whether code is that of a generator, a coroutine or an asynchronous generator."""
    return bool(code.co_flags & _SUSPENDABLE)
