"""The code that Python itself has cached of a source file, in its `.pyc`."""

from __future__ import annotations

import importlib.util
import marshal
import os
import re
from types import CodeType
from typing import Final

_HEADER: Final = 16
_UNCHECKED: Final = (1).to_bytes(4, "little")
"""The flags of a file whose code is used whatever the source says. It has the hash of the source all the same."""
_INSTALLED: Final = re.compile(r"[/\\](site|dist)-packages[/\\]")


def cached_code(filename: str) -> CodeType | None:
    """The code of a source file from its `.pyc`; None if there is none, or if it is not of the present file.

    A file whose code is validated by a hash of the source is not read.
    """
    try:
        status = os.stat(filename)
        with open(importlib.util.cache_from_source(filename), "rb") as file:
            data = file.read()
        code = marshal.loads(memoryview(data)[_HEADER:]) if data[:_HEADER] == _header_for(status) else None
    except (OSError, ValueError, EOFError, TypeError, NotImplementedError):
        return None
    return code if isinstance(code, CodeType) else None


def may_be_stale(filename: str) -> bool:
    """Whether Python may have code of another text in the `.pyc` of a source file, and use it all the same.

    Python tells texts apart by the size of the file and the time of its last change, in whole seconds. A source that
    was changed last before the `.pyc` was written has the text of the `.pyc`. Any other one may have another text:
    it was changed twice in a second, or its time was set back.
    """
    try:
        status = os.stat(filename)
        with open(importlib.util.cache_from_source(filename), "rb") as file:
            written, header = os.fstat(file.fileno()).st_mtime_ns, file.read(_HEADER)
        if header[:8] == importlib.util.MAGIC_NUMBER + _UNCHECKED:
            with open(filename, "rb") as file:
                return header[8:] != importlib.util.source_hash(file.read())
    except (OSError, ValueError, NotImplementedError):
        return False  # Python has compiled the source itself
    # Copies of folders preserve the times of changes, but those of inodes are new. Few people edit installed packages.
    changed = status.st_mtime_ns if _INSTALLED.search(filename) else max(status.st_mtime_ns, status.st_ctime_ns)
    return header == _header_for(status) and changed >= written


def _header_for(status: os.stat_result) -> bytes:
    """How a `.pyc` begins that Python uses for a source file with this status."""
    return importlib.util.MAGIC_NUMBER + bytes(4) + _number(int(status.st_mtime)) + _number(status.st_size)


def _number(value: int) -> bytes:
    return (value & 0xFFFFFFFF).to_bytes(4, "little")
