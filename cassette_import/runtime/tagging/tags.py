"""Tags: each activation of a context that tags values has one, and metadata is kept by tag."""

from __future__ import annotations

import itertools
import numbers
import types
import typing
import weakref
from typing import Any, Final

from cassette_import.runtime.dispatch.hook_functions import positional_only
from cassette_import.runtime.tagging import live_metadata

# ---- tags: each activation of a context that tags values has one, and metadata is kept by tag

_numbers = itertools.count(1)


class _Nothing:
    """A marker for missing metadata."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return self._name


NO_METADATA: Final = _Nothing("NO_METADATA")
"""What `metadata` returns for a value that has none."""

NO_METAMETA: Final = _Nothing("NO_METAMETA")
"""What `metameta` returns for a value none of whose parts has metadata."""


def _computed_method(context_type: Any) -> Any:
    """The method `computed` of a context type, if it has one, with the signature of a hook."""
    method = getattr(context_type, "computed", None)
    if method is None:
        return None
    known = _computed_methods.get(method)
    if known is None:
        known = _computed_methods[method] = positional_only(method, 3)
    return known


_computed_methods: Final[weakref.WeakKeyDictionary[Any, Any]] = weakref.WeakKeyDictionary()


NO_LEAVES: Final[frozenset[int]] = frozenset()


class Tag:
    """The tag of one activation of one context. `parent` is the tag of the enclosing activation.

    A context that is entered again while it is active keeps its tag.

    `lost` says what happens when a leaf loses metadata of this tag; `exempt` are the leaves, by identity, whose results
    need no metadata. Unless `parts_alike`, the method `computed` gets containers whole, and binds the metadata of their
    parts itself.
    """

    __slots__ = (
        "__weakref__",
        "_context",
        "_token",
        "compared",
        "computed",
        "confusable",
        "depth",
        "entered",
        "exempt",
        "iterated",
        "joined",
        "lost",
        "matched",
        "name",
        "needed",
        "number",
        "parent",
        "parts_alike",
        "recognised",
        "seeded_at",
        "store",
        "tested",
        "text",
        "watched",
    )

    def __init__(self, context: Any) -> None:
        self.number = next(_numbers)
        self.name = type(context).__qualname__
        self.parent: Tag | None = None
        self.entered = False
        self.depth = 0
        self.seeded_at: int | None = None
        """How many entries of the context were active when the program tagged its first value."""
        self.confusable = False
        """Whether the program has tagged values both outside and inside the activation."""
        self.store: Any = None
        self.computed = _computed_method(type(context))
        self.lost = context.lost
        self.exempt = getattr(context, "exempt_leaves", NO_LEAVES)
        self.parts_alike = getattr(context, "parts_alike", True)
        self.compared = getattr(type(context), "compared", None)
        self.iterated = getattr(type(context), "iterated", None)
        self.matched = getattr(type(context), "matched", None)
        self.tested = getattr(type(context), "tested", None)
        self.needed = getattr(type(context), "needed", None)
        self.joined = getattr(type(context), "joined", None)
        self.recognised = frozenset(map(id, context.recognised_types))
        self.watched = getattr(context, "watched", None)
        if self.watched is not None:
            self._token = live_metadata.WATCH
            live_metadata.note_watching(self.watched)
        self.text: Tag | None = None
        """Marks texts that were made of values with metadata of this tag, once there are any (`computed_metadata`)."""
        self._context = weakref.ref(context)

    @property
    def context(self) -> Any:
        """The context, None once it is deleted."""
        return self._context()

    def __repr__(self) -> str:
        return f"<Tag {self.number} of {self.name}{f' in {self.parent.number}' if self.parent is not None else ''}>"


Metas = dict[Tag, Any]
"""Metadata by tag. A dict of this kind never changes once it is made."""


class _NoContext:
    """The context of a tag that belongs to no activation."""

    lost = "ignore"
    recognised_types = ()


RECEIVER: Final = Tag(_NoContext())
"""In the wrapper of a bound method, the receiver's metadata has this tag, which belongs to no activation."""


class _Texts(_NoContext):
    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """Parts of such a text, and what is computed from it, are asked for; `computed_metadata` answers."""


class TextTag(Tag):
    """Marks texts that were made of values with metadata of another tag."""

    __slots__ = ()


def text_tag(tag: Tag) -> Tag:
    """The tag that marks such texts for another tag."""
    if tag.text is None:
        tag.text = TextTag(_Texts())
        tag.text.store = tag.store
    return tag.text


# ---- which metadata a context admits: `metadatatype`, called when a value is tagged and when it is converted


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
