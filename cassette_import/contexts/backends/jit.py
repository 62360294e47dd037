"""`jit`: an unmodified function and all that it calls, compiled by a backend."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.backends.jitted import BACKENDS, Jitted
from cassette_import.contexts.graph.residual import Residual, marked
from cassette_import.errors import CassetteError
from cassette_import.interpreter.installed_packages import is_installed, needs

__all__ = ["jit"]

_EXTRAS: Final = {"numba": "backends", "jax": "jax"}


def jit(f: Callable[..., Any], *examples: Any, backend: str = "numba") -> Jitted:
    """Compile an unmodified function and all functions that it calls, from whatever package.

    Parameters
    ----------
    f:
        A function. Its own module and installed packages are overdubbed.
    examples:
        Examples of its arguments. If some are marked by `unknown`, the others are known.
    backend:
        ``"numba"``: machine code, for programs of numbers (extra `backends`). ``"jax"``: XLA, for such programs, with
        derivatives by `jax.grad` (extra `jax`). ``"python"``: the residual program.

    Returns
    -------
    The function of the unknown arguments. A path that is not compiled yet is traced, and compiled, too.

    Raises
    ------
    NotRepresentable
        If the function does something that the backend cannot represent exactly. The message names the line.
    NotOverdubbable
        If the function has no Python source.
    ValueError
        If there is no such backend.
    CassetteError
        If the backend is not installed.

    >>> def program(x, y):
    ...     def double(number):
    ...         return number + number
    ...     return double(x) * y if x > 0.0 else y
    >>> compiled = jit(program, 1.0, 2.0, backend="python")
    >>> compiled(3.0, 4.0), compiled(-3.0, 4.0), compiled.paths
    (24.0, 4.0, 2)
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend is one of {', '.join(BACKENDS)}, not {backend!r}")
    if backend in _EXTRAS:
        _check_installed(backend)
    return Jitted(Residual(f, marked(f, examples), "trace", keeps_loops=backend == "python"), backend)


def _check_installed(backend: str) -> None:
    try:
        if not is_installed(backend):
            raise ModuleNotFoundError(f"there is no package {backend}", name=backend)
        importlib.import_module(backend)
    except ImportError as error:
        raise CassetteError(needs(f'backend="{backend}"', backend, _EXTRAS[backend])) from error
