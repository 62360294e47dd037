"""Settings from the command line, the environment and `pyproject.toml`, in this order of precedence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from cassette_import.interpreter.records import Record
from cassette_import.interpreter.suggestions import similar_name

__all__ = ["Settings", "SettingsError", "as_environment", "from_environment", "from_file", "names", "resolved"]

_PREFIX: Final = "CASSETTE_IMPORT_"
_VARIABLES: Final = ("ACCELERATOR", "CONTEXT", "DISABLE", "EXCLUDE", "PACKAGES", "REPORT", "RUN", "SUBPROCESSES")
"""The environment variables of cassette_import, without the prefix."""
_FILE: Final = "pyproject.toml"
_TABLE: Final = "cassette_import"
_SWITCHES: Final = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)


class SettingsError(ValueError):
    """A setting has a wrong name or value; the message names its place."""


class Settings(Record):
    """The settings of one source; None for a setting that the source does not contain."""

    packages: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    contexts: tuple[str, ...] | None = None
    """Outermost first; empty for none."""
    report: str | None = None
    disable: bool | None = None
    subprocesses: bool | None = None

    def over(self, other: Settings) -> Settings:
        """These settings, with those of the other source where this one has None."""
        return self._replace(**{name: value for name, value in other._asdict().items() if getattr(self, name) is None})


def names(texts: Iterable[str]) -> tuple[str, ...]:
    """The names in texts, in which commas separate them.

    >>> names(["a, b.c", "d"])
    ('a', 'b.c', 'd')
    """
    return tuple(name for text in texts for name in (part.strip() for part in text.split(",")) if name)


def contexts(texts: Iterable[str]) -> tuple[str, ...]:
    """Descriptions of contexts; the description `none` is removed.

    >>> contexts(["trace:depth=3,width=20", "noop"]), contexts(["none"])
    (('trace:depth=3,width=20', 'noop'), ())
    """
    return tuple(text for text in (text.strip() for text in texts) if text and text != "none")


def from_environment(environment: Mapping[str, str]) -> Settings:
    """The settings in `CASSETTE_IMPORT_PACKAGES`, `_EXCLUDE`, `_CONTEXT`, `_REPORT`, `_SUBPROCESSES` and `_DISABLE`.

    Semicolons separate several contexts, since their options contain commas. An empty variable counts as missing.
    Raises `SettingsError` if a switch is neither on nor off, or if a variable is spelled nearly as one of these.
    """
    for name in environment:
        if name.startswith(_PREFIX) and name.removeprefix(_PREFIX) not in _VARIABLES:
            _refuse_misspelled(name)

    def value(name: str) -> str | None:
        return environment.get(_PREFIX + name) or None

    def switch(name: str) -> bool | None:
        text = value(name)
        if text is None:
            return None
        if text.lower() not in _SWITCHES:
            raise SettingsError(f"{_PREFIX}{name} must be 1 or 0, and is {text!r}")
        return _SWITCHES[text.lower()]

    packages, exclude, context = value("PACKAGES"), value("EXCLUDE"), value("CONTEXT")
    return Settings(
        packages=None if packages is None else names([packages]),
        exclude=None if exclude is None else names([exclude]),
        contexts=None if context is None else contexts(context.split(";")),
        report=value("REPORT"),
        disable=switch("DISABLE"),
        subprocesses=switch("SUBPROCESSES"),
    )


def _refuse_misspelled(name: str) -> None:
    """Raise `SettingsError` if an unknown variable is spelled nearly as a known one."""
    similar = similar_name(name.removeprefix(_PREFIX), _VARIABLES)
    if similar is not None:
        raise SettingsError(f"{name} is no setting; did you mean {_PREFIX}{similar}?")


def as_environment(settings: Settings) -> dict[str, str]:
    """The environment variables for packages and contexts, which `from_environment` can read.

    >>> as_environment(Settings(packages=("a", "b"), contexts=()))
    {'CASSETTE_IMPORT_PACKAGES': 'a,b', 'CASSETTE_IMPORT_EXCLUDE': '', 'CASSETTE_IMPORT_CONTEXT': 'none'}
    """
    return {
        f"{_PREFIX}PACKAGES": ",".join(settings.packages or ()),
        f"{_PREFIX}EXCLUDE": ",".join(settings.exclude or ()),
        f"{_PREFIX}CONTEXT": ";".join(settings.contexts or ("none",)),
    }


def from_file(folder: str) -> Settings:
    """The settings under `[tool.cassette_import]` in the folder's `pyproject.toml`, or in the next one above."""
    while True:
        path = os.path.join(folder, _FILE)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            folder, below = os.path.dirname(folder), folder
            if folder == below:
                return Settings()
            continue
        # Most of these files do not contain the table, and a search is faster than parsing, at each start of a program.
        return _from_toml(data, path) if re.search(rb"\bcassette_import\b", data) else Settings()


def _from_toml(data: bytes, path: str) -> Settings:
    import tomllib  # rarely needed

    try:
        tools = tomllib.loads(data.decode()).get("tool", {})
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from error
    table = tools.get(_TABLE, {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: [tool] {_TABLE} must be a table: write [tool.{_TABLE}]")
    readers: dict[str, Any] = {
        "packages": names,
        "exclude": names,
        "context": contexts,
        "report": _text,
        "disable": bool,
        "subprocesses": bool,
    }
    read: dict[str, Any] = {}
    for key, value in table.items():
        if key not in readers:
            raise SettingsError(f"{path}: [tool.{_TABLE}] has no setting {key!r}; there are {', '.join(readers)}")
        is_switch = readers[key] is bool
        if is_switch:
            is_right = isinstance(value, bool)
        else:
            value = [value] if isinstance(value, str) else value
            is_right = isinstance(value, list) and all(isinstance(item, str) for item in value)
        if not is_right:
            kind = "true or false" if is_switch else "text or a list of texts"
            raise SettingsError(f"{path}: [tool.{_TABLE}] {key} must be {kind}")
        read["contexts" if key == "context" else key] = readers[key](value)
    return Settings(**read)


def _text(values: list[str]) -> str:
    return values[-1] if values else ""


def resolved(given: Settings, environment: Mapping[str, str] | None = None, folder: str | None = None) -> Settings:
    """The settings that apply: the given ones precede the environment, and the environment precedes the file.

    `CASSETTE_IMPORT_DISABLE=1` switches everything off, whatever the other settings are.
    """
    surroundings = from_environment(os.environ if environment is None else environment)
    if surroundings.disable:
        return Settings(disable=True)
    try:
        folder = os.getcwd() if folder is None else folder
    except OSError:  # the current folder was deleted
        return given.over(surroundings)
    return given.over(surroundings).over(from_file(folder))
