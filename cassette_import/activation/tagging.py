"""Tagging's public functions: `tag`, `untag`, `metadata`, `metameta` and their relatives."""

from __future__ import annotations

import contextlib
import copy
import types
from collections.abc import Callable, Iterable
from typing import Any, Final

from cassette_import.activation.context import Context
from cassette_import.interpreter.namespaces import class_namespace
from cassette_import.runtime.tagging.computed_metadata import metadata_in
from cassette_import.runtime.tagging.held_metadata import SEQUENCES, attributes_of
from cassette_import.runtime.tagging.overdubbed_calls import WRAPPER_AWARE
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tag_scopes import tag_of, tag_of_seed
from cassette_import.runtime.tagging.tags import NO_METADATA, NO_METAMETA, Tag, checked, metadatatype
from cassette_import.runtime.tagging.wrappers import Tagged, plain

__all__ = [
    "NO_METADATA", "NO_METAMETA", "Meta", "Tag", "Tagged", "allmetadata", "enabletagging", "hasmetadata",
    "hasmetameta", "istagged", "metadata", "metadatatype", "metameta", "tag", "untag",
]  # fmt: skip


def enabletagging(ctx: Any, f: Callable[..., Any] | None = None) -> Any:
    """A copy of a context that tags values, with a tag of its own; it keeps the type's hooks and overloads.

    Parameters
    ----------
    ctx:
        The context.
    f:
        Ignored. Cassette has this parameter: the function that is going to run in the context.

    Returns
    -------
    The copy.

    >>> ctx = enabletagging(Context())
    >>> metadata(tag(1.5, ctx, "from a sensor"), ctx)
    'from a sensor'
    """
    _check("enabletagging", ctx)
    made = copy.copy(ctx)
    made._tagging = made._is_changed = True
    made._tags = None
    made._copy_of = None
    return made


def tag(value: Any, ctx: Any, metadata: Any = NO_METADATA) -> Any:
    """Attach metadata to a value, in the innermost activation of `ctx`; outside of all, in its next activation.

    Parameters
    ----------
    value:
        Any value but a class. The metadata of other activations stays.
    ctx:
        A context that tags values.
    metadata:
        The metadata, of a type that `metadatatype` admits. Without it the value is tagged, and has no metadata.

    Returns
    -------
    A wrapper that behaves like the value.

    Raises
    ------
    TypeError
        If the context does not tag values, or does not admit the metadata, or the value is a class.
    RuntimeError
        If the context was entered again while it was active, and other values were tagged further out: the metadata of
        both could not be told apart.

    >>> class Ctx(Context, tagging=True): ...
    >>> ctx = Ctx()
    >>> x = tag(2, ctx, "two")
    >>> x, isinstance(x, int), metadata(x, ctx)
    (2, True, 'two')
    """
    _check("tag", ctx)
    if not ctx._tagging:
        raise TypeError(
            f"{type(ctx).__qualname__} does not tag values: declare it with tagging=True, or use enabletagging(ctx)"
        )
    if issubclass(type(value), type):  # `isinstance` would ask for `__class__`
        raise TypeError(f"tag: classes carry no metadata, and {value!r} is one")
    found = checked(ctx, type(plain(value)), metadata)
    old = value._tagged_metas if type(value) is Tagged else {}
    return Tagged(plain(value), {**old, tag_of_seed(ctx): found})


def untag(x: Any, ctx: Any) -> Any:
    """Remove the metadata of the activation of `ctx` from a value.

    Parameters
    ----------
    x:
        Any value.
    ctx:
        A context.

    Returns
    -------
    The value without the metadata: `x` itself if `ctx` did not tag it, the plain object if no other context did.

    >>> class Ctx(Context, tagging=True): ...
    >>> ctx, x = Ctx(), [2]
    >>> untag(tag(x, ctx, "two"), ctx) is x
    True
    """
    _check("untag", ctx)
    if type(x) is not Tagged:
        return x
    own = tag_of(ctx)
    if own is None or own not in x._tagged_metas:
        return x
    left = {key: found for key, found in x._tagged_metas.items() if key is not own}
    if left:
        return Tagged(x._tagged_value, left)
    own.store.recognised.detach(x._tagged_value)
    return x._tagged_value


def metadata(x: Any, ctx: Any, default: Any = NO_METADATA) -> Any:
    """The metadata that the activation of `ctx` gave to a value.

    Parameters
    ----------
    x:
        Any value.
    ctx:
        A context.
    default:
        The result for a value without metadata.

    Returns
    -------
    The metadata, or the default.

    >>> class Ctx(Context, tagging=True): ...
    >>> ctx = Ctx()
    >>> metadata(tag(2, ctx, "two"), ctx), metadata(3, ctx, "none")
    ('two', 'none')
    """
    own: Any = _own_tag("metadata", ctx)
    found = x._tagged_metas.get(own, NO_METADATA) if type(x) is Tagged else NO_METADATA
    return default if found is NO_METADATA else found


def hasmetadata(x: Any, ctx: Any) -> bool:
    """Whether the activation of `ctx` gave metadata to a value.

    Parameters
    ----------
    x:
        Any value.
    ctx:
        A context.

    Returns
    -------
    True if it has metadata; False for other values, those included that are tagged without metadata.

    >>> class Ctx(Context, tagging=True): ...
    >>> ctx = Ctx()
    >>> hasmetadata(tag(2, ctx, "two"), ctx), hasmetadata(tag(2, ctx), ctx)
    (True, False)
    """
    return metadata(x, ctx) is not NO_METADATA


def allmetadata(ctx: Any, *values: Any) -> list[Any]:
    """The metadata that the activation of `ctx` gave to values and to the parts of lists, tuples, dicts and sets.

    A method `computed`, which returns the metadata of the result of a call, uses it for the arguments.

    Parameters
    ----------
    ctx:
        A context.
    *values:
        Any values.

    Returns
    -------
    A list of metadata, in the order of the values.

    >>> class Ctx(Context, tagging=True): ...
    >>> ctx = Ctx()
    >>> allmetadata(ctx, tag(2, ctx, "two"), 3, tag(4, ctx, "four"))
    ['two', 'four']
    """
    own = _own_tag("allmetadata", ctx)
    return [] if own is None else list(metadata_in(values, own))


def istagged(x: Any, ctx: Any) -> bool:
    """Whether the activation of `ctx` tagged a value or one of its parts, with or without metadata.

    Parameters
    ----------
    x:
        Any value.
    ctx:
        A context.

    Returns
    -------
    True or False.

    >>> class Ctx(Context, tagging=True): ...
    >>> ctx = Ctx()
    >>> istagged(tag(2, ctx), ctx), istagged(3, ctx)
    (True, False)
    """
    own = _own_tag("istagged", ctx)
    if own is None:
        return False
    return (type(x) is Tagged and own in x._tagged_metas) or _has_parts(plain(x), own)


class Meta:
    """The metadata of one part of a value, and the mirror of its own parts."""

    __slots__ = ("_tag", "_value", "metadata")

    def __init__(self, value: Any, metadata: Any, tag: Tag) -> None:
        self.metadata = metadata
        self._value = value
        self._tag = tag

    @property
    def metameta(self) -> Any:
        """The mirror of the part's own parts."""
        return _mirror(self._value, self._tag)

    def __repr__(self) -> str:
        return f"Meta({self.metadata!r})"


def metameta(x: Any, ctx: Any) -> Any:
    """The metadata of a value's parts, in the value's structure.

    Parameters
    ----------
    x:
        Any value.
    ctx:
        A context.

    Returns
    -------
    A list or tuple of `Meta` for a list or tuple; a dict of them by key for a dict, by attribute name for an object, by
    element for a set; `NO_METAMETA` if the activation of `ctx` tagged no part.

    >>> class Ctx(Context, tagging=True): ...
    >>> ctx = Ctx()
    >>> metameta(tag([2, 3], ctx, "pair"), ctx)
    [Meta(NO_METADATA), Meta(NO_METADATA)]
    """
    own = _own_tag("metameta", ctx)
    if own is None:
        return NO_METAMETA
    return _mirror(plain(x), own, is_tagged=type(x) is Tagged and own in x._tagged_metas)


def hasmetameta(x: Any, ctx: Any) -> bool:
    """Whether `metameta` returns a structure for a value.

    Parameters
    ----------
    x:
        Any value.
    ctx:
        A context.

    Returns
    -------
    True unless `metameta` returns `NO_METAMETA`.

    >>> class Ctx(Context, tagging=True): ...
    >>> hasmetameta([2, 3], Ctx())
    False
    """
    return metameta(x, ctx) is not NO_METAMETA


def _has_parts(value: Any, own: Tag) -> bool:
    """Whether a part of a value has metadata, or a part of containers in it."""
    store: Store | None = own.store
    return store is not None and bool(store) and store.has_metadata_in([value], _parts)


def _parts(value: Any) -> Iterable[Any]:
    """What a container or an object consists of."""
    if isinstance(value, (*SEQUENCES, set, frozenset)):
        return value
    return value.values() if isinstance(value, dict) else _attributes(value).values()


def _attributes(value: Any) -> dict[str, Any]:
    """The attributes of an object by name, without those that it has from its class; none of a module or a function."""
    if isinstance(value, (types.ModuleType, types.FunctionType)):
        return {}
    found = dict(attributes_of(value))
    for base in type(value).__mro__:
        for name, member in class_namespace(base).items():
            if type(member) is types.MemberDescriptorType and base.__flags__ & _IS_OF_PROGRAM:
                with contextlib.suppress(AttributeError):
                    found[name] = member.__get__(value)
    return found


_IS_OF_PROGRAM: Final = 1 << 9
"""The flag `Py_TPFLAGS_HEAPTYPE`: a class that is made while the program runs."""


def _mirror(value: Any, own: Tag, is_tagged: bool = False) -> Any:
    """The mirror of a value's parts. If the value `is_tagged` itself, no part needs metadata."""
    store: Store | None = own.store
    if store is None or not (is_tagged or _has_parts(value, own)):
        return NO_METAMETA

    def meta(part: Any, metas: Any) -> Meta:
        return Meta(part, (metas or {}).get(own, NO_METADATA), own)

    if isinstance(value, SEQUENCES):
        found = [meta(*pair) for pair in zip(value, store.item_metas(value) or [None] * len(value), strict=True)]
        return tuple(found) if isinstance(value, tuple) else found
    if isinstance(value, (dict, set, frozenset)):
        slots = store.slots_by_key(value)
        return {
            key: meta(value[key] if isinstance(value, dict) else key, slots[key][1] if key in slots else None)
            for key in value
        }
    return _mirror_of_attributes(value, store, meta)


def _mirror_of_attributes(value: Any, store: Store, meta: Callable[[Any, Any], Meta]) -> Any:
    attributes, entry = _attributes(value), store.attributes.of(value)
    made = {}
    for name in dict.fromkeys([*attributes, *(entry.slots if entry is not None else ())]):
        part = attributes[name] if name in attributes else getattr(value, name, None)
        slot = entry.slots.get(name) if entry is not None else None
        made[name] = meta(part, slot[1] if slot is not None and slot[0] is part else None)
    return made or NO_METAMETA


def _own_tag(verb: str, ctx: Any) -> Tag | None:
    """The tag of the activation of a context, if it has one."""
    if not isinstance(ctx, Context):
        raise _not_a_context(verb, ctx)
    return tag_of(ctx)


def _check(verb: str, ctx: Any) -> None:
    if not isinstance(ctx, Context):
        raise _not_a_context(verb, ctx)


def _not_a_context(verb: str, given: Any) -> TypeError:
    return TypeError(f"{verb}: ctx must be an instance of a Context, not {given!r}")


WRAPPER_AWARE.update(
    map(
        id,
        (tag, untag, metadata, hasmetadata, allmetadata, istagged, metameta, hasmetameta, enabletagging, metadatatype),
    )
)
