"""Which classes can be named in a recording, so that a replay finds the class and makes an equal object."""

from __future__ import annotations

import functools
import sys
from typing import Any, Final

from cassette_import.contexts.recording.decoding import BadValue, Decoder, located

__all__ = ["importable_reference", "is_plain_named_tuple", "is_reproducible", "reference"]

_reproducible: Final[dict[type, bool]] = {}


def reference(thing: Any) -> str:
    """A class or function as `module:qualname`."""
    return f"{thing.__module__}:{thing.__qualname__}"


@functools.lru_cache(1000)
def importable_reference(kind: type) -> str | None:
    """A reference by which a replay finds a class; None if there is none.

    A class may be bound to another name than its own.

    >>> import shutil
    >>> importable_reference(type(shutil.disk_usage(".")))
    'shutil:_ntuple_diskusage'
    """
    if kind.__module__ == "__main__" or kind.__module__ not in sys.modules:
        return None
    name = reference(kind)
    try:
        if located(name) is kind:
            return name
    except BadValue:
        pass
    namespace = vars(sys.modules[kind.__module__])
    return next((f"{kind.__module__}:{name}" for name, value in list(namespace.items()) if value is kind), None)


def is_plain_named_tuple(kind: type) -> bool:
    """Whether a class has nothing but what `namedtuple` gives to it, so that another one can replace it."""
    fields = getattr(kind, "_fields", None)
    if kind.__bases__ != (tuple,) or not isinstance(fields, tuple):
        return False
    usual = {"_fields", "_field_defaults", "_make", "_replace", "_asdict", *fields}
    return all(name in usual or name[:2] == "__" for name in vars(kind))


def is_reproducible(kind: type, encoded: Any) -> bool:
    """Whether a replay can make objects of a class, which was tried with its first object.

    Python refuses to make another `sys.version_info`, for example.
    """
    known = _reproducible.get(kind)
    if known is None:
        try:
            known = type(Decoder(_refuse)(encoded)) is kind
        except BadValue:
            known = False
        _reproducible[kind] = known
    return known


def _refuse(tag: str, content: Any) -> Any:
    raise BadValue(f"no value is written as {tag!r}")
