"""`Reflection`: the source of a function and what belongs to it, for passes and for readers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.records import Protocol
from cassette_import.rewriting.event_notation import in_event_notation
from cassette_import.rewriting.readable_source import readable
from cassette_import.rewriting.rewriter import overdub_function
from cassette_import.rewriting.trees.scopes import Function, clone
from cassette_import.runtime.callbacks_in_c import callbacks_of
from cassette_import.runtime.variant import Variant
from cassette_import.specialization.passes.failures import failure_of
from cassette_import.specialization.passes.name_resolution import attach_scope
from cassette_import.specialization.registry import registry


class HasVariant(Protocol):
    """What rewriting a function needs of a context."""

    def _variant_alone(self) -> Variant:
        """The variant of a stack with this context alone."""


class Reflection:
    """A function and its source, as passes get it.

    Attributes
    ----------
    function:
        The function. If a `def` has made several closures, one of them.
    tree:
        A copy of its syntax tree, which a pass may change.
    source, filename, lineno:
        Its source text, and where that is. The line is that of the first decorator, if there is one.
    context_type:
        The context type for which it is rewritten, if any.
    """

    def __init__(
        self,
        function: FunctionType,
        tree: Function,
        source: str,
        filename: str,
        lineno: int,
        context_type: type[HasVariant] | None = None,
    ) -> None:
        self.function = function
        self.tree = tree
        self.source = source
        self.filename = filename
        self.lineno = lineno
        self.context_type = context_type
        self._untouched = clone(tree)
        attach_scope(function, tree)

    def __repr__(self) -> str:
        return f"<Reflection of {self.function.__qualname__} ({self.filename}:{self.lineno})>"

    @property
    def signature(self) -> inspect.Signature:
        """The signature of the function. A decorator's wrapper has its own, not that of the wrapped function."""
        return inspect.signature(self.function, follow_wrapped=False)

    def overdubbed(self, context: HasVariant | type[HasVariant]) -> str:
        """The function as it runs in a context, as readable Python.

        Parameters
        ----------
        context:
            A context or a context type. Its passes are applied.

        Returns
        -------
        The text of a definition that Python can parse. Names that cassette_import adds begin with an underscore.

        Raises
        ------
        PassError
            If a pass of the context raises, or returns what does not compile.

        >>> import colorsys, cassette_import
        >>> print(cassette_import.reflect(colorsys._v).overdubbed(cassette_import.Context).partition("\\n")[0])
        def _v(m1, m2, hue):
        """
        variant, made = self._after_passes(context)
        prefix = variant.shape.prefix
        bodies = {} if made is None else {prefix: made}
        return readable(overdub_function(self._copy(), [variant.shape], bodies=bodies), {prefix: variant.name})

    def events(self, context: HasVariant | type[HasVariant]) -> str:
        """The function with a mark at each event of a context: which functions its hooks and overloads get.

        Parameters
        ----------
        context:
            A context or a context type. Its passes are applied.

        Returns
        -------
        The text of the function. ``@f(x)`` is an event of `f`, and ``?f(x)`` one if `f` is among the functions that
        the context has chosen. Python cannot parse it; `overdubbed` returns what is compiled.

        Raises
        ------
        PassError
            If a pass of the context raises, or returns what does not compile.

        >>> import colorsys, cassette_import
        >>> from cassette_import.contexts import Noop
        >>> text = cassette_import.reflect(colorsys.rgb_to_yiq).events(Noop(events="calls+operators"))
        >>> print(text.splitlines()[1].strip())
        y = @operator.add(@operator.add(@operator.mul(0.3, r), @operator.mul(0.59, g)), @operator.mul(0.11, b))
        """
        variant, made = self._after_passes(context)
        return in_event_notation(self._copy() if made is None else made, variant.shape)

    def _after_passes(self, context: HasVariant | type[HasVariant]) -> tuple[Variant, Any]:
        """The variant of a context, and what its passes make of the function; None if it has none."""
        variant = (context.__new__(context) if isinstance(context, type) else context)._variant_alone()
        made = variant.apply_passes(self.function, self._copy(), self.source)
        if made is not None and (failure := failure_of(made)) is not None:
            raise failure
        return variant, made

    def _copy(self) -> Function:
        return clone(self._untouched)


def reflect(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Reflection | None:
    """The source of the Python function that would run for ``f(*args, **kwargs)``, and what belongs to it.

    Parameters
    ----------
    f, args, kwargs:
        The call. It does not take place; the arguments are not needed.

    Returns
    -------
    A `Reflection`; None if the function has no source.

    >>> import colorsys
    >>> reflect(colorsys.rgb_to_hls).lineno > 1
    True
    >>> reflect(len) is None
    True
    """
    function = python_function(f) or next(callbacks_of(f, args, kwargs), None)
    found = registry.index.reflect(function) if function is not None else None
    if function is None or found is None:
        return None
    tree, source = found
    return Reflection(function, tree, source, function.__code__.co_filename, function.__code__.co_firstlineno)
