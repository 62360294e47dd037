"""From text such as ``trace:depth=3`` or ``package.module:Class`` to a context: what `-c` and its likes take.

Knows ready-made contexts, entry points and import; must not know any context.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from cassette_import import Context
from cassette_import.contexts import READY_MADE
from cassette_import.contexts.common.text import error_line

__all__ = ["ENTRY_POINTS", "UnknownContext", "context_named", "context_types", "entry_points", "importable_from"]

ENTRY_POINTS: Final = "cassette_import.contexts"
_OPTION: Final = re.compile(r"[A-Za-z_][\w.]*=")


class UnknownContext(LookupError):
    """No context is meant by this text, or it does not take these options."""

    def __str__(self) -> str:
        return str(self.args[0])


class _Wanted(NamedTuple):
    """A description, taken apart: `target` is a name or `module:attribute`."""

    target: str
    options: dict[str, Any]


def _parsed(text: str) -> _Wanted:
    """Take a description apart.

    >>> _parsed("trace:depth=3,file=None")
    _Wanted(target='trace', options={'depth': 3, 'file': None})
    >>> _parsed("substitute:time.time=fakes.noon").options
    {'time.time': 'fakes.noon'}
    >>> _parsed("package.module:Outer.Inner:name=some:text")
    _Wanted(target='package.module:Outer.Inner', options={'name': 'some:text'})
    """
    parts = text.split(":")
    first_option = next((index for index, part in enumerate(parts) if _OPTION.match(part)), len(parts))
    target = ":".join(parts[:first_option])
    options: dict[str, Any] = {}
    for part in filter(None, ":".join(parts[first_option:]).split(",")):
        key, equals, value = part.partition("=")
        if not equals or not all(name.isidentifier() for name in key.split(".")):
            raise UnknownContext(f"context {text!r}: {part!r} is not of the form key=value")
        options[key] = _value(value)
    return _Wanted(target, options)


def _value(text: str) -> Any:
    """Numbers, True, False and None as such; everything else is text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def entry_points() -> Mapping[str, str]:
    """The contexts that installed distributions offer, and where they are."""
    # Imported late: it takes as long as everything else together, and changes `sys.meta_path`.
    import importlib_metadata

    return {entry.name: entry.value for entry in importlib_metadata.entry_points(group=ENTRY_POINTS)}


@contextlib.contextmanager
def importable_from(folders: Iterable[str]) -> Iterator[None]:
    """Find modules in these folders as well, if they are found nowhere else."""
    added = [folder for folder in dict.fromkeys(folders) if folder not in sys.path]
    sys.path += added
    try:
        yield
    finally:
        for folder in added:
            if folder in sys.path:
                sys.path.remove(folder)


def context_types() -> dict[str, str]:
    """Every name that can be given, and where it is; what is ready-made first."""
    return {**READY_MADE, **{name: value for name, value in entry_points().items() if name not in READY_MADE}}


def context_named(text: str) -> Context:
    """The context that a description means.

    Parameters
    ----------
    text:
        The name of a ready-made context or of an entry point, or `module:Class`; then, if wanted, a colon and
        options, ``key=value``, separated by commas.

    A context type whose arguments are more than numbers and text has a class method `from_options`, which takes
    the options instead; their keys may be dotted names, as in ``substitute:time.time=fakes.noon``.

    Raises
    ------
    UnknownContext
        If there is no such context, or it cannot be made in this way. The message is one line.
    """
    target, options = _parsed(text)
    maker = _located(target)
    if isinstance(maker, Context):
        if options:
            raise UnknownContext(f"context {text!r}: {target} is a context already and takes no options")
        return maker
    if not callable(maker):
        raise UnknownContext(f"context {text!r}: {target} is no context type")
    maker = getattr(maker, "from_options", maker)
    try:
        signature = inspect.signature(maker)
    except ValueError:  # none is to be had
        signature = None
    if signature is not None:
        try:
            signature.bind(**options)
        except TypeError as error:
            raise UnknownContext(f"context {text!r}: {error}{_taken(maker)}") from error
        for name, value in options.items():
            if (kind := _expected(signature, name, value)) is not None:
                raise UnknownContext(f"context {text!r}: {name} must be {kind}, not {value!r}")
    try:
        context = maker(**options)
    except (TypeError, ValueError) as error:
        raise UnknownContext(f"context {text!r}: {error}") from error
    except Exception as error:  # it may be anybody's
        raise UnknownContext(f"context {text!r}: {error_line(error)}") from error
    if not isinstance(context, Context):
        raise UnknownContext(f"context {text!r}: {target} makes no context, but {type(context).__name__}")
    return context


_KINDS: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "bool": ((bool,), "True or False"),
    "None": ((type(None),), "None"),
}
"""What options that are no text are, by the annotations of their parameters."""


def _expected(signature: inspect.Signature, name: str, value: Any) -> str | None:
    """What the option has to be, if its parameter says so, and it is not."""
    parameter = signature.parameters.get(name)
    if parameter is None:
        return None
    annotation = parameter.annotation
    parts = [part.strip() for part in str(getattr(annotation, "__name__", annotation)).split("|")]
    if not all(part in _KINDS for part in parts) or any(isinstance(value, _KINDS[part][0]) for part in parts):
        return None
    return " or ".join(_KINDS[part][1] for part in parts)


def _taken(maker: Any) -> str:
    names = [
        parameter.name
        for parameter in inspect.signature(maker).parameters.values()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return f"; it takes {', '.join(names)}" if names else "; it takes no options"


def _located(target: str) -> Any:
    """What a name or `module:attribute` refers to."""
    target = target.rstrip(":")
    if ":" not in target:
        known = READY_MADE.get(target) or entry_points().get(target)
        if known is None:
            raise UnknownContext(
                f"no context is called {target!r}; there are {', '.join(context_types())}, and module:Class"
            )
        target = known
    module_name, _, path = target.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if target in READY_MADE.values():
            raise UnknownContext(f"context {target.rpartition(':')[2]}: {error}") from error
        if error.name is None or not (module_name + ".").startswith(error.name + "."):
            raise UnknownContext(
                f"context {target!r}: {module_name} cannot be imported: {error_line(error)}"
            ) from error
        raise UnknownContext(f"context {target!r}: there is no module {error.name!r}{_hint(target)}") from error
    except (ValueError, TypeError) as error:  # empty or relative, or its own
        raise UnknownContext(f"context {target!r}: {error}") from error
    except Exception as error:
        raise _not_importable(target, module_name, error) from error
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError as error:
            raise UnknownContext(f"context {target!r}: {error}{_hint(target)}") from error
    return found


def _not_importable(target: str, module: str, error: Exception) -> UnknownContext:
    return UnknownContext(f"context {target!r}: {module} cannot be imported: {error_line(error)}")


def _hint(target: str) -> str:
    """What to do if options of a context that has a name were meant."""
    name = target.partition(":")[0]
    return f"; an option of {name} is written {name}:key=value" if name in context_types() else ""
