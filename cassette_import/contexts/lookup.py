"""Contexts described by text, as the option `-c` takes it: ``trace:depth=3`` or ``package.module:Class``."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from cassette_import.activation.context import Context
from cassette_import.contexts import READY_MADE
from cassette_import.contexts.elsewhere import ELSEWHERE
from cassette_import.interpreter.records import Record
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.kits.text import error_line

if TYPE_CHECKING:
    import inspect

__all__ = [
    "ENTRY_POINTS",
    "UnknownContext",
    "context_named",
    "context_type_named",
    "context_types",
    "entry_points",
    "importable_from",
]

ENTRY_POINTS: Final = "cassette_import.contexts"
_NUMBERS: Final = ("int", "float", "bool", "Any")
_SWITCHES: Final = {"true": True, "false": False}
_WHAT_IS_ONE: Final = "; a context type is a subclass of cassette_import.Context"
_OPTION: Final = r"[A-Za-z_][\w.]*="


class UnknownContext(LookupError):
    """There is no context of this description, or it does not take these options. The message is one line."""

    def __str__(self) -> str:
        return str(self.args[0])


class _Description(Record):
    """A parsed description: `target` is a name or `module:attribute`."""

    target: str
    options: dict[str, Any]
    texts: dict[str, str]
    """The values of the options as they are written."""


def _parsed(text: str) -> _Description:
    """Parse a description.

    >>> _parsed("trace:depth=3,file=None")
    _Description(target='trace', options={'depth': 3, 'file': None}, texts={'depth': '3', 'file': 'None'})
    >>> _parsed("substitute:time.time=fakes.noon").options
    {'time.time': 'fakes.noon'}
    >>> _parsed("package.module:Outer.Inner:name=some:text").target
    'package.module:Outer.Inner'
    """
    parts = text.split(":")
    first_option = next(
        (index for index, part in enumerate(parts) if "=" in part and re.match(_OPTION, part)), len(parts)
    )
    target = ":".join(parts[:first_option])
    options: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for part in filter(None, ":".join(parts[first_option:]).split(",")):
        key, equals, value = part.partition("=")
        if not equals or not all(name.isidentifier() for name in key.split(".")):
            meant = f"; several contexts are given one by one: -c {part}" if part in READY_MADE else ""
            raise UnknownContext(f"context {text!r}: {part!r} is not of the form key=value{meant}")
        if key in options:
            raise UnknownContext(f"context {text!r}: {key} is given twice")
        options[key] = _value(value)
        texts[key] = value
    return _Description(target, options, texts)


def _value(text: str) -> Any:
    """The value of a Python literal, or of `true` and `false`; any other text itself.

    >>> _value("3"), _value("None"), _value("true"), _value("many")
    (3, None, True, 'many')
    """
    if text in _SWITCHES:
        return _SWITCHES[text]
    import ast  # not needed without options

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def entry_points() -> Mapping[str, str]:
    """The contexts that installed distributions offer: `module:attribute` by name."""
    # A late import: it takes as long as all others together, and changes `sys.meta_path`.
    import importlib_metadata

    return {entry.name: entry.value for entry in importlib_metadata.entry_points(group=ENTRY_POINTS)}


@contextlib.contextmanager
def importable_from(folders: Iterable[str]) -> Iterator[None]:
    """Append these folders to `sys.path` in the block."""
    added = [folder for folder in dict.fromkeys(folders) if folder not in sys.path]
    sys.path += added
    try:
        yield
    finally:
        for folder in added:
            if folder in sys.path:
                sys.path.remove(folder)


def context_types() -> dict[str, str]:
    """`module:attribute` of every context that has a name; the ready-made ones first."""
    return {**READY_MADE, **{name: value for name, value in entry_points().items() if name not in READY_MADE}}


def context_named(text: str) -> Context:
    """The context that a description names, with its options.

    Parameters
    ----------
    text:
        The name of a ready-made context or of an entry point, or `module:Class`. A colon and options may follow:
        ``key=value``, separated by commas.

    Returns
    -------
    Context
        A new context; or the attribute of the module, if that is a context and not a class.

    A context type whose arguments are more than numbers and text has a class method `from_options`, which takes
    the options instead. Their keys may be dotted names, as in ``substitute:time.time=fakes.noon``.

    Raises
    ------
    UnknownContext
        If there is no such context, or it cannot be made with these options. The message is one line.

    >>> context_named("noop:events=calls").events
    <Events.CALLS: 1>
    """
    target, options, texts = _parsed(text)
    maker = _imported(target)
    if isinstance(maker, Context):
        if options:
            raise UnknownContext(f"context {text!r}: {target} is a context already and takes no options")
        return maker
    if not callable(maker):
        raise UnknownContext(f"context {text!r}: {target} is no context type{_WHAT_IS_ONE}")
    maker = getattr(maker, "from_options", maker)
    if options:
        _check_options(maker, options, text)
        options = {name: _as_expected(maker, name, value, texts[name]) for name, value in options.items()}
    try:
        context = maker(**options)
    except (TypeError, ValueError) as error:
        if not options:
            _check_options(maker, options, text)
        raise UnknownContext(f"context {text!r}: {error}") from error
    except Exception as error:  # raised by a context type of the program
        raise UnknownContext(f"context {text!r}: {error_line(error)}") from error
    if not isinstance(context, Context):
        raise UnknownContext(f"context {text!r}: {target} returned no context, but {_article(context)}{_WHAT_IS_ONE}")
    return context


def _as_expected(maker: Any, name: str, value: Any, text: str) -> Any:
    """The value of an option; its text as it is written if the option takes text, although it looks like a number."""
    import inspect  # not needed without options

    try:
        parameter = inspect.signature(maker).parameters.get(name)
    except ValueError:  # some builtins have no signature
        return value
    annotation = "" if parameter is None else str(parameter.annotation)
    takes_numbers = any(re.search(rf"\b{kind}\b", annotation) for kind in _NUMBERS)
    return text if re.search(r"\bstr\b", annotation) and not takes_numbers and value is not None else value


def _article(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _check_options(maker: Any, options: dict[str, Any], text: str) -> None:
    """Raise `UnknownContext` if the signature does not accept the options."""
    import inspect  # not needed without options

    from cassette_import.kits.option_descriptions import takes_text

    try:
        signature = inspect.signature(maker)
    except ValueError:  # some builtins have no signature
        return
    try:
        signature.bind(**options)
    except TypeError as error:
        unknown = [name for name in options if name not in signature.parameters]
        # Of several problems, `bind` names another one first: that the option is missing whose name is misspelled.
        problem = f"got an unexpected keyword argument {unknown[0]!r}" if unknown else error
        meant = suggestion(unknown[0], signature.parameters) if unknown else ""
        raise UnknownContext(f"context {text!r}: {problem}{_accepted_options(signature)}{meant}") from error
    for name, value in options.items():
        if name in signature.parameters and not takes_text(signature.parameters[name]):
            raise UnknownContext(
                f"context {text!r}: {name} is an object, which only Python can give{_accepted_options(signature)}"
            )
        if (kind := _expected(signature, name, value)) is not None:
            raise UnknownContext(f"context {text!r}: {name} must be {kind}, not {value!r}")


_KINDS: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "bool": ((bool,), "True or False"),
    "None": ((type(None),), "None"),
}
"""The accepted types of options that are not text, and their name in messages, by annotation of the parameter."""


def _expected(signature: inspect.Signature, name: str, value: Any) -> str | None:
    """What the option must be according to its annotation, if it is something else."""
    parameter = signature.parameters.get(name)
    if parameter is None:
        return None
    annotation = parameter.annotation
    parts = [part.strip() for part in str(getattr(annotation, "__name__", annotation)).split("|")]
    if not all(part in _KINDS for part in parts) or any(isinstance(value, _KINDS[part][0]) for part in parts):
        return None
    return " or ".join(_KINDS[part][1] for part in parts)


def _accepted_options(signature: inspect.Signature) -> str:
    from cassette_import.kits.option_descriptions import takes_text

    names = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD) and takes_text(parameter)
    ]
    if names:
        return f"; it takes {', '.join(names)}"
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values())
    return "" if takes_any else "; it takes no options"


def context_type_named(name: str) -> Any:
    """What makes the contexts of a name or `module:Class`: a context type, or another callable.

    Raises
    ------
    UnknownContext
        If there is none. The message is one line.

    >>> context_type_named("noop").__name__
    'Noop'
    """
    return _imported(name)


def _imported(target: str) -> Any:
    """The object that a name or `module:attribute` refers to."""
    given = target = target.rstrip(":")
    if "," in target:
        raise UnknownContext(f"context {target!r}: {_comma_hint(target)}")
    if ":" not in target:
        known = READY_MADE.get(target) or entry_points().get(target)
        if known is None:
            raise UnknownContext(f"no context is called {target!r}; {_what_is_meant(target)}")
        target = known
    module_name, _, path = target.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if target in READY_MADE.values():
            raise UnknownContext(f"context {given!r}: {error}") from error
        if error.name is None or not (module_name + ".").startswith(error.name + "."):
            raise UnknownContext(
                f"context {target!r}: {module_name} cannot be imported: {error_line(error)}"
            ) from error
        meant = _option_hint(target) or f"there is no module {error.name!r}{suggestion(module_name, context_types())}"
        raise UnknownContext(f"context {target!r}: {meant}") from error
    except (ValueError, TypeError) as error:  # an empty or relative name, or raised by the module
        raise UnknownContext(f"context {target!r}: {error}") from error
    except Exception as error:
        raise _not_importable(target, module_name, error) from error
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError as error:
            meant = suggestion(name, vars(found)) if hasattr(found, "__dict__") else ""
            reason = _of_program(path) if module_name == "__main__" else _option_hint(target) or f"{error}{meant}"
            raise UnknownContext(f"context {target!r}: {reason}") from error
    return found


def _of_program(path: str) -> str:
    """Why there is no such context type in the main module, and what to do."""
    return (
        "contexts are made before the program runs, and it is the program that makes __main__; move the class to a "
        f"module beside the program, such as own.py, and write own:{path}"
    )


def _not_importable(target: str, module: str, error: Exception) -> UnknownContext:
    return UnknownContext(f"context {target!r}: {module} cannot be imported: {error_line(error)}")


def _what_is_meant(name: str) -> str:
    """The end of a message about a name that no context has."""
    if name in ELSEWHERE:
        return ELSEWHERE[name].pointer(name)
    types = context_types()
    return f"there are {', '.join(types)}, and module:Class{suggestion(name, types) or _module_hint(name)}"


def _comma_hint(target: str) -> str:
    """How to write what a comma does not separate: a context and its options, or several contexts."""
    first, _, rest = target.partition(",")
    if "=" in rest:
        return f"a colon separates a context and its options: write {first}:{rest}"
    return f"several contexts are given one by one: write {' '.join(f'-c {name}' for name in target.split(','))}"


def _module_hint(name: str) -> str:
    """How the context types of a module are given, if the name is that of one, or of something in one."""
    module, _, last = name.rpartition(".")
    if _is_module(name):
        return f"; {name} is a module: write {name}:Class"
    return f"; {module} is a module: write {module}:{last}" if _is_module(module) else ""


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _option_hint(target: str) -> str:
    """How an option is written that was given without a value, if the target begins with the name of a context."""
    name, _, rest = target.partition(":")
    types = context_types()
    if ":" in target and name in types and target not in types.values():
        import inspect  # only messages need it

        maker = _imported(name)
        signature = inspect.signature(getattr(maker, "from_options", maker))
        given = re.split(r"\W", rest)[0]
        parameter = signature.parameters.get(given)
        if parameter is not None and parameter.kind is not parameter.VAR_KEYWORD:
            value = "True" if parameter.annotation in ("bool", bool) else "…"
            return f"{given} is an option, which takes a value: {name}:{given}={value}"
        meant = suggestion(given, signature.parameters)
        return f"an option of {name} is written {name}:key=value{_accepted_options(signature)}{meant}"
    return ""
