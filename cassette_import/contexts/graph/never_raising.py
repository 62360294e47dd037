"""Operations that raise for no values of the types that their operands have, so that unused ones can be left out.

What is not listed here may raise, and stays in a program.
"""

from __future__ import annotations

import math
import operator
from types import NoneType
from typing import Any, Final

from cassette_import.contexts.graph.nodes import Constant, Node, Template

__all__ = ["never_raises"]

_FLOATS: Final = frozenset({float, bool})
_INTEGERS: Final = frozenset({int, bool})
_NUMBERS: Final = _FLOATS | _INTEGERS
_TEXTS: Final = frozenset({str})
_PLAIN: Final = _NUMBERS | _TEXTS | {NoneType}
_LARGEST: Final = 2**1000
"""Integers up to here can be converted to float."""

_KINDS: Final[dict[Any, tuple[frozenset[type], ...]]] = {
    **dict.fromkeys((operator.add, operator.sub, operator.mul), (_FLOATS, _INTEGERS)),
    **dict.fromkeys((operator.neg, operator.pos, operator.abs, abs), (_FLOATS, _INTEGERS)),
    **dict.fromkeys((operator.lt, operator.le, operator.gt, operator.ge), (_NUMBERS, _TEXTS)),
    **dict.fromkeys((operator.eq, operator.ne, operator.not_, operator.truth, bool), (_PLAIN,)),
    **dict.fromkeys((math.fabs, math.copysign, math.isnan, math.isinf, math.isfinite, math.atan), (_FLOATS,)),
    **dict.fromkeys((math.degrees, math.radians, float), (_FLOATS,)),
    **dict.fromkeys((str, repr), (_FLOATS | _TEXTS,)),
    **dict.fromkeys((len, str.upper, str.lower, str.title, str.capitalize, str.swapcase, str.casefold), (_TEXTS,)),
    **dict.fromkeys((str.isdigit, str.isalpha, str.isalnum, str.isspace, str.isupper, str.islower), (_TEXTS,)),
    int: (_INTEGERS,),
}
"""The types that all operands may have: one of these sets has to contain them. `int` of a text and the text of a long
integer may raise; so may an integer with a float, since it may be too large; and a text repeated may be too long."""
_OF_TWO: Final = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.lt, operator.le, operator.gt, operator.ge),
        *(operator.eq, operator.ne, math.copysign),
    }
)
"""The functions of two operands; the others have one."""


def never_raises(node: Node) -> bool:
    """Whether an operation raises no exception, whatever values its operands have, if these have their known types."""
    sets = None if node.keywords or not node.fixed else _KINDS.get(node.function)
    if sets is None or len(node.operands) != (2 if node.function in _OF_TWO else 1):
        return False
    kinds = {_kind(one) for one in node.operands if not _is_small(one)}
    return any(kinds <= one for one in sets)


def _kind(operand: Template) -> type | None:
    """The type of an operand; None if another run may have another one."""
    if isinstance(operand, Node):
        return operand.type if operand.fixed else None
    return type(operand.value) if isinstance(operand, Constant) else None


def _is_small(operand: Template) -> bool:
    """Whether an operand is a known integer that fits any other number."""
    return isinstance(operand, Constant) and type(operand.value) is int and abs(operand.value) < _LARGEST
