"""The settings of a test run, from pytest's command line, the environment and pytest's ini file, in this order."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from cassette_import.frontends import settings

__all__ = ["folders_added_later", "settings_of"]


def settings_of(config: pytest.Config, environment: Mapping[str, str]) -> settings.Settings:
    """The settings that hold: the command line comes before the environment, and that before the ini file."""
    command_line = _read(vars(config.known_args_namespace).get)
    try:
        variables = settings.from_environment(environment)
    except settings.SettingsError as error:
        raise pytest.UsageError(str(error)) from None
    return command_line.over(variables).over(_read(config.getini))


def _read(source: Callable[[str], Any]) -> settings.Settings:
    """The settings of one source of options."""
    packages, exclude = source("cassette_packages"), source("cassette_exclude")
    contexts = source("cassette_context")
    return settings.Settings(
        packages=settings.names(packages) if packages else None,
        exclude=settings.names(exclude) if exclude else None,
        contexts=settings.contexts(contexts) if contexts else None,
        report=source("cassette_report") or None,
    )


def folders_added_later(config: pytest.Config, wanted: settings.Settings) -> list[str]:
    """The folders that pytest will put on `sys.path` when it imports conftests and test modules."""
    folders = [str(config.rootpath), os.getcwd()]
    # Test modules may be overdubbed as well.
    files = {f"{name}.py" for name in wanted.packages or () if name.startswith("test") or name.endswith("test")}
    if files:
        for folder, below, names in os.walk(config.rootpath):
            below[:] = [name for name in below if not name.startswith(".") and name.isidentifier()]
            if not files.isdisjoint(names):
                folders.append(folder)
    return folders
