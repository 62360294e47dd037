"""Which metadata a context admits: `metadatatype`, called when a value is tagged and when it is converted."""

from __future__ import annotations

import numbers
import types
import typing
from typing import Any

from cassette_import.runtime.tagging.tags import NO_METADATA, Metas


def metadatatype(ctx: Any, type: type) -> Any:
    """What metadata values of a type may carry in a context.

    A context type defines it by a method of this name, ``def metadatatype(self, type)``. Without such a method any
    metadata is admitted.

    Parameters
    ----------
    ctx:
        The context.
    type:
        The type of the values.

    Returns
    -------
    A class or a union: metadata must be an instance of it, and numbers are converted. A function: it converts the
    metadata, or raises. None: values of this type carry no metadata.

    >>> from cassette_import import Context
    >>> class Lengths(Context, tagging=True):
    ...     def metadatatype(self, type):
    ...         return float if issubclass(type, (int, float)) else None
    >>> metadatatype(Lengths(), int)
    <class 'float'>
    """
    method = getattr(ctx, "metadatatype", None)
    return object if method is None else method(type)


def checked(context: Any, kind: type, metadata: Any) -> Any:
    """The metadata, converted to what a context admits for values of a type. A TypeError if it admits none such."""
    if metadata is NO_METADATA:
        return metadata
    admitted = metadatatype(context, kind)
    if admitted is None or admitted is NO_METADATA:
        raise TypeError(f"{type(context).__qualname__} admits no metadata for values of type {kind.__qualname__}")
    if isinstance(admitted, (type, types.UnionType)) or typing.get_origin(admitted) is typing.Union:
        if isinstance(metadata, admitted):
            return metadata
        number: Any = metadata
        if admitted in (float, complex) and isinstance(metadata, numbers.Number):
            return float(number) if admitted is float else complex(number)
        shown = getattr(admitted, "__qualname__", admitted)
        raise TypeError(
            f"{type(context).__qualname__} admits {shown} as metadata for values of type {kind.__qualname__}, "
            f"not {metadata!r}: convert it, or let metadatatype() say otherwise"
        )
    return admitted(metadata)


def converted(metas: Metas, kind: type) -> Metas:
    """The metadata of a value that was converted to another type of number."""
    made = {}
    for tag, metadata in metas.items():
        context = tag.context
        made[tag] = metadata if context is None else checked(context, kind, metadata)
    return made
