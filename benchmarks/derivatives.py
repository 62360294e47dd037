"""Functions of one number and of many whose derivatives are measured; their `module` argument has the elementary
functions.

They stand in a separate file: functions of a file that run by turns in a context and without one cost more.
"""

from __future__ import annotations

import math
from typing import Any


def polynomial(x: Any, module: Any = math) -> Any:
    """Horner's rule."""
    total = 0.0
    for n in range(30):
        total = total * x + n
    return total


def chain(x: Any, module: Any = math) -> Any:
    """A composition of elementary functions."""
    for _ in range(20):
        x = module.sin(x) * module.exp(-x) + module.sqrt(x * x + 1.0)
    return x


def newton(x: Any, module: Any = math) -> Any:
    """A root by iteration."""
    y = x
    for _ in range(20):
        y = y - (y * y * y - x) / (3.0 * y * y)
    return y


def rosenbrock(xs: Any, module: Any = math) -> Any:
    """Of many numbers."""
    total = 0.0
    for n in range(len(xs) - 1):
        total = total + 100.0 * (xs[n + 1] - xs[n] ** 2) ** 2 + (1.0 - xs[n]) ** 2
    return total
