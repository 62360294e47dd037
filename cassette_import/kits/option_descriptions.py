"""The options of a context type with their defaults and descriptions, read from its signature and its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from cassette_import.interpreter.records import Record

__all__ = ["DescribedOption", "described_options", "takes_text"]

_OBJECTS: Final = re.compile(r"\b(IO|object|Mapping\[str)\b")
"""Annotations of parameters whose values are objects that no text describes."""


class DescribedOption(Record):
    """One option, as a user reads about it."""

    name: str
    default: str | None
    """The default as text, which may be empty; None if the option is required."""
    description: str
    """One paragraph; empty if no docstring describes the option."""

    @property
    def usage(self) -> str:
        """The option with its default: ``limit=30``, ``mask=``, or ``target=…`` if it is required."""
        return f"{self.name}={'…' if self.default is None else self.default}"


def described_options(context_type: Any) -> list[DescribedOption]:
    """The options that `-c` takes for a context type, in the order of its signature.

    >>> from cassette_import.contexts import Noop
    >>> [option.usage for option in described_options(Noop)]
    ['events=None']
    """
    maker = getattr(context_type, "from_options", context_type)
    try:
        signature = inspect.signature(maker)
    except (TypeError, ValueError):  # some builtins have no signature
        return []
    descriptions = {**_descriptions(context_type), **_descriptions(maker)}
    return [_described(parameter, descriptions) for parameter in signature.parameters.values() if takes_text(parameter)]


def takes_text(parameter: inspect.Parameter) -> bool:
    """Whether the value of a parameter may be given as text, as the command line does."""
    return parameter.kind is not parameter.VAR_POSITIONAL and not _OBJECTS.match(str(parameter.annotation))


def _described(parameter: inspect.Parameter, descriptions: Mapping[str, str]) -> DescribedOption:
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:  # each option is a target with its replacement
        return DescribedOption("TARGET", None, descriptions.get(parameter.name, ""))
    default = None if parameter.default is parameter.empty else _as_text(parameter.default)
    return DescribedOption(parameter.name, default, descriptions.get(parameter.name, ""))


def _as_text(default: object) -> str:
    """A default as the option would be written."""
    return default if isinstance(default, str) else "" if default == () else repr(default)


def _descriptions(documented: Any) -> Mapping[str, str]:
    """What the section `Parameters` of a docstring says of each parameter, as one paragraph."""
    text = inspect.getdoc(documented) or ""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", text, re.DOTALL | re.MULTILINE)
    return MappingProxyType(dict(_paragraphs(found[1]))) if found else MappingProxyType({})


def _paragraphs(section: str) -> Iterator[tuple[str, str]]:
    """The names of a section with the indented text that follows each."""
    for names, body in re.findall(r"^(\w[\w, ]*):?[^\n]*\n((?:[ \t]+[^\n]*\n?|\n(?=[ \t]))+)", section, re.MULTILINE):
        for name in names.split(","):
            yield name.strip(), " ".join(body.split())
