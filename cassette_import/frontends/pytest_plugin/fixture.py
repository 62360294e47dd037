"""The object behind the fixture `overdubbing`: contexts for a part of a test."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import Any

from cassette_import.frontends.pytest_plugin.state import ContextLike, Packages, PluginState

__all__ = ["Overdubbing"]


class Overdubbing:
    """The value of the fixture `overdubbing`: runs a part of a test, or the rest of it, in contexts."""

    def __init__(self, state: PluginState, rest_of_test: contextlib.ExitStack) -> None:
        self._state = state
        self._rest_of_test = rest_of_test

    def __call__(
        self, *contexts: ContextLike, packages: Packages = (), exclude: Packages = ()
    ) -> AbstractContextManager[Any]:
        """``with overdubbing(context):`` runs part of a test in a context.

        Parameters
        ----------
        contexts:
            Contexts, context types, or text as the command line takes it; the first one is outermost.
        packages, exclude:
            What to overdub for the duration of the block, in addition to the installed packages.

        Returns
        -------
        A context manager, whose value is the context, or a tuple if there are several.
        """
        return self._state.active(*contexts, packages=packages, exclude=exclude)

    def start(self, *contexts: ContextLike, packages: Packages = (), exclude: Packages = ()) -> Any:
        """Enter the contexts until the test ends; return the context, or a tuple if there are several."""
        return self._rest_of_test.enter_context(self(*contexts, packages=packages, exclude=exclude))
