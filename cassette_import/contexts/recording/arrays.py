"""NumPy's arrays and scalars as JSON and back, in the format of `.npy` files.

It does not import NumPy before the program or a recording needs it.
"""

from __future__ import annotations

import base64
import importlib
import io
import sys
from typing import Any

__all__ = ["decoded_array", "encoded_array", "is_array"]


def is_array(value: Any) -> bool:
    """Whether this is an array of NumPy, and not one of a subclass."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and type(value) is getattr(numpy, "ndarray", None)


def encoded_array(value: Any) -> dict[str, str] | None:
    """An array or scalar of NumPy as JSON; None if it is neither, or contains Python objects."""
    numpy: Any = sys.modules.get("numpy")
    if type(value).__module__ != "numpy" or numpy is None or not hasattr(numpy, "generic"):
        return None
    if not is_array(value) and not isinstance(value, numpy.generic):
        return None
    file = io.BytesIO()
    try:
        numpy.save(file, value, allow_pickle=False)
    except ValueError:
        return None
    tag = "npy" if is_array(value) else "npy scalar"
    return {tag: base64.b64encode(file.getvalue()).decode("ascii")}


def decoded_array(content: str) -> Any:
    """The array that was encoded; a scalar comes back as an array without dimensions."""
    return importlib.import_module("numpy").load(io.BytesIO(base64.b64decode(content)), allow_pickle=False)
