"""The code that Python itself has cached of a source file, in its `.pyc`.

Knows the format of these files. Must not know modules or what their code is for.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
from types import CodeType
from typing import Final

_HEADER: Final = 16


def cached_code(filename: str) -> CodeType | None:
    """The code of a source file from its `.pyc`; None if there is none, or if it is not of the present file.

    A file whose code is validated by a hash of the source is not read.
    """
    try:
        status = os.stat(filename)
        with open(importlib.util.cache_from_source(filename), "rb") as file:
            data = file.read()
        expected = importlib.util.MAGIC_NUMBER + bytes(4) + _number(int(status.st_mtime)) + _number(status.st_size)
        code = marshal.loads(memoryview(data)[_HEADER:]) if data[:_HEADER] == expected else None
    except (OSError, ValueError, EOFError, TypeError, NotImplementedError):
        return None
    return code if isinstance(code, CodeType) else None


def _number(value: int) -> bytes:
    return (value & 0xFFFFFFFF).to_bytes(4, "little")
