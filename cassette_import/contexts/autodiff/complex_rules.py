"""The derivatives of functions of complex numbers, as data."""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

from cassette_import.contexts.common.number_functions.table import row_of
from cassette_import.contexts.common.partials import Partial, constant, partials_of
from cassette_import.runtime.tagging.wrappers import run

_HOLOMORPHIC: Final = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log",
    "log10", "sqrt",
)  # fmt: skip
_COMPLEX: Final = SimpleNamespace(
    **{name: functools.partial(run, getattr(cmath, name)) for name in ("sqrt", "sin", "cos", "sinh", "cosh", "log")}
)
"""The arithmetic of complex numbers, in which partial derivatives are computed."""
_OWN: Final[dict[str, tuple[Partial, ...]]] = {
    "acosh": (lambda v, x: 1.0 / (run(cmath.sqrt, x - 1.0) * run(cmath.sqrt, x + 1.0)),),  # on both sides of the cut
}


def _partials(name: str) -> tuple[Partial, ...]:
    row = row_of(getattr(math, name))
    assert row is not None
    return _OWN.get(name) or partials_of(row, _COMPLEX)


COMPLEX_PARTIALS: Final[dict[Any, tuple[Partial, ...]]] = {
    **{getattr(cmath, name): _partials(name) for name in _HOLOMORPHIC},
    cmath.phase: (lambda v, x: -1j / x,),
    complex: (constant(1.0), constant(1j)),
}
"""The partial derivatives of functions whose arguments or results are complex. If the result is real, its derivative is
the real part of the product; if an argument is real, so is the derivative for it."""

ATTRIBUTES: Final[dict[Any, Callable[[Any], Any]]] = {
    "real": lambda owner: 1.0,
    "imag": lambda owner: -1j if isinstance(owner, complex) else 0.0,
}
"""The derivatives of attributes of a number. Where the attribute is real and the number is complex, the real part of
the product counts."""
