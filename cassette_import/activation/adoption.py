"""Adoption: a `with` block that enters a context has the module around it overdubbed; a block that meets nothing
warns.
"""

from __future__ import annotations

import inspect
import os
import warnings
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

from cassette_import.activation.variants import variants
from cassette_import.errors import CassetteWarning
from cassette_import.importing.finder import finder
from cassette_import.interpreter.heap import functions_below
from cassette_import.interpreter.late_modules import late
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.runtime.variant import Family
from cassette_import.specialization.registry import registry

if TYPE_CHECKING:
    from cassette_import.specialization import wildcard_variant
else:
    (wildcard_variant,) = late("cassette_import.specialization", "wildcard_variant")

_warned: Final[set[tuple[CodeType, int]]] = set()
"""The code and the lines of blocks that a warning has named."""
_HELPERS: Final = frozenset({"contextlib", "unittest.case", "unittest.async_case"})
"""The modules whose functions enter context managers for their callers."""


def entering_frame(frame: FrameType | None) -> FrameType | None:
    """The frame of the program that enters a context, for the frame that calls `__enter__`.

    Returns
    -------
    The innermost frame that is not in a method `__enter__`, in `contextlib` or the like; None if it is one of
    cassette_import, which enters contexts for commands and for pytest.
    """
    while frame is not None and _is_passing(frame):
        frame = frame.f_back
    return None if frame is None or frame.f_code.co_filename.startswith(PACKAGE_FOLDER) else frame


def _is_passing(frame: FrameType) -> bool:
    """Whether a frame enters a context for its caller."""
    code = frame.f_code
    if code.co_name in ("__enter__", "__exit__") or frame.f_globals.get("__name__") in _HELPERS:
        return True
    if not (code.co_filename.startswith(PACKAGE_FOLDER) and code.co_flags & inspect.CO_GENERATOR):
        return False
    caller = frame.f_back  # a generator of `contextlib.contextmanager`, or a hook wrapper of pytest
    return caller is not None and caller.f_globals.get("__name__") in _HELPERS


def adopted_file(frame: FrameType | None) -> str | None:
    """The file that is overdubbed because a frame enters a context; None if it is installed or has no source."""
    if frame is None:
        return None
    name = frame.f_globals.get("__name__")
    return registry.add_root_code(frame.f_code, name if isinstance(name, str) else "", frame.f_globals)


def makes_functions(code: CodeType) -> bool:
    """Whether code makes functions, or classes with methods, while it runs."""
    return any(isinstance(const, CodeType) for const in code.co_consts)


def instrument_functions_of(frame: FrameType, filename: str) -> None:
    """Instrument the functions that the variables of an entering frame lead to.

    The frame has made them perhaps after the context was entered first: its code runs plain, and makes plain functions.
    """
    code = frame.f_code
    if code.co_name == "<module>" or code.co_flags & inspect.CO_OPTIMIZED:  # that of a class body may run code
        namespace = frame.f_globals if code.co_name == "<module>" else frame.f_locals
        for function in list(functions_below(namespace, {filename})):
            registry.instrument_new(function)


def warn_if_nothing_was_met(context: Any, family: Family, frame: FrameType) -> None:
    """Warn if a block was left in which no function met its context, and none could have met it elsewhere.

    Parameters
    ----------
    context, family:
        The context that was left, and the family of its activation's variant.
    frame:
        The frame that called `__exit__`.
    """
    context_type = type(context)
    all_variants = list(variants.by_keys.values())
    own = [other for other in all_variants if any(key.context_type is context_type for key in other.keys)]
    family.is_silent = wildcard_variant.any_wildcard_is_met() or any(variant.family.is_met for variant in own)
    met_functions = family.is_silent
    if (met_functions and context.met_calls is not False) or any(variant.shape.intercepts_nothing for variant in own):
        return
    entering = entering_frame(frame)
    if entering is None:
        return
    code = entering.f_code
    if (code, entering.f_lineno) in _warned:
        return  # one warning for each block is enough
    _warned.add((code, entering.f_lineno))
    place = os.path.basename(code.co_filename)
    record = registry.records.get(code.co_filename)
    has_source = adopted_file(entering) or (record is not None and record.installed)
    why = f"no function of {place} was called in it" if has_source else f"{place} has no source"
    if met_functions:
        why = f"no function of {place} made one"
    if finder.selections:
        names = [name for selection in finder.selections for name in selection.packages]
        what = "made one" if met_functions else "was called in it"
        why = f"no function of {', '.join(dict.fromkeys(names))} {what}, and {why}"
    else:
        why = f"no package is installed, and {why}"
    warnings.warn_explicit(
        f"{type(context).__qualname__} met no {'external call' if met_functions else 'function'} in this block: {why}. "
        'The code of the block itself runs as it is. Call install("package"), or overdub(ctx, function)',
        CassetteWarning,
        code.co_filename,
        entering.f_lineno,
        module=entering.f_globals.get("__name__"),
        registry=entering.f_globals.setdefault("__warningregistry__", {}),
    )
