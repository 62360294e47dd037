"""The rest of a trace whose process was killed: what lay in the block that was not written yet.

The accelerator writes a trace in blocks. The block that it is filling is a second file beside that of the trace, which
a killed process leaves behind.
"""

from __future__ import annotations

import os
import struct
from typing import Final

__all__ = ["SUFFIX", "complete"]

SUFFIX: Final = ".rest"
"""What the name of the second file has at the end."""
_TEXT: Final = 65536
_LAYOUT: Final = struct.Struct(f"={_TEXT}s64sQQ")
"""Text between zeros, a mark, the place of the block in the file, and whether other processes have written, too."""
_MARK: Final = b"cassette_import: the rest of a trace"


def complete(path: str | os.PathLike[str]) -> bool:
    """Add the last lines to a trace whose process was killed while it wrote them.

    Parameters
    ----------
    path:
        The file of the trace. The lines are taken from the file beside it whose name ends with ``.rest``, which is
        removed.

    Returns
    -------
    bool
        Whether there was such a file.

    Raises
    ------
    ValueError
        If the other file is not the rest of a trace.
    OSError
        If the file cannot be written.

    Example
    -------
    >>> complete("trace.txt")  # this one is complete
    False
    """
    rest = os.fspath(path) + SUFFIX
    try:
        with open(rest, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return False
    if len(data) != _LAYOUT.size or not data.startswith(_MARK, _TEXT):
        raise ValueError(f"{rest} is not the rest of a trace")
    text, _, place, is_shared = _LAYOUT.unpack(data)
    found = text.strip(b"\0")
    with open(path, "r+b") as file:
        # A kill may come when the block is written and not emptied yet: then it is written again, to the same place.
        file.seek(*((0, os.SEEK_END) if is_shared else (place + text.find(found), os.SEEK_SET)))
        file.write(found)
    os.remove(rest)
    return True
