"""The derivatives of functions of complex numbers, as data.

Knows mathematics; must not know contexts.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.common.partials import PARTIALS, Partial, constant
from cassette_import.runtime.tagging.wrappers import run

_HOLOMORPHIC: Final = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log10",
    "sqrt",
)  # fmt: skip
_OWN: Final[dict[str, Partial]] = {
    "sin": lambda v, x: run(cmath.cos, x), "cos": lambda v, x: -run(cmath.sin, x),
    "sinh": lambda v, x: run(cmath.cosh, x), "cosh": lambda v, x: run(cmath.sinh, x),
    "asin": lambda v, x: 1.0 / run(cmath.sqrt, 1.0 - x * x), "acos": lambda v, x: -1.0 / run(cmath.sqrt, 1.0 - x * x),
    "asinh": lambda v, x: 1.0 / run(cmath.sqrt, x * x + 1.0),
    "acosh": lambda v, x: 1.0 / (run(cmath.sqrt, x - 1.0) * run(cmath.sqrt, x + 1.0)),
}  # fmt: skip

COMPLEX_PARTIALS: Final[dict[Any, tuple[Partial, ...]]] = {
    **{getattr(cmath, name): (_OWN.get(name) or PARTIALS[getattr(math, name)][0],) for name in _HOLOMORPHIC},
    cmath.log: (
        lambda v, x, base=None: 1.0 / x if base is None else 1.0 / (x * run(cmath.log, base)),
        lambda v, x, base: -v / (base * run(cmath.log, base)),
    ),
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
