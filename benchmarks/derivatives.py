"""Functions whose derivatives are measured, of one number and of many; the module that is given brings the elementary
functions.

They have a file of their own: a file whose functions are called by turns in a context and without one costs more.
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
    """Elementary functions, one of the other."""
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
