"""Methods of context types whose names are misspellings of hooks: no event calls them, so there is a warning."""

from __future__ import annotations

import warnings

from cassette_import.errors import CassetteWarning
from cassette_import.interpreter.callables import python_function
from cassette_import.runtime.dispatch.hook_functions import KINDS
from cassette_import.runtime.dispatch.hook_points import hook_points_of

_METHODS = type(lambda: None), staticmethod, classmethod


def warn_of_misspelled_hooks(context_type: type) -> None:
    """Warn of each method that is written like a hook, if the class and its bases have no hook of this kind.

    Where they have one, it may well call the method: ``pre_hook`` may be what subclasses define.
    """
    for name, value in tuple(context_type.__dict__.items()):
        if name[0] not in _FIRST_LETTERS or not isinstance(value, _METHODS):
            continue
        for kind in KINDS:
            if is_misspelling(name, kind) and not _has_hook(context_type, kind):
                function = python_function(value)
                if function is not None:
                    code = function.__code__
                    text = f"{context_type.__qualname__}.{name} is no hook, and no event calls it; did you mean {kind}?"
                    warnings.warn_explicit(text, CassetteWarning, code.co_filename, code.co_firstlineno, registry={})


def is_misspelling(name: str, kind: str) -> bool:
    """Whether a name can only be meant as that of a hook.

    It has other capitals or underscores, or is one word in which a letter is missing, added or has changed places with
    the next one. Names that say more (``prehooks``, ``overdub_call``) and private names are chosen on purpose.

    >>> [name for name in ("preHook", "pre_hook", "prehok", "prehooks", "_prehook") if is_misspelling(name, "prehook")]
    ['preHook', 'pre_hook', 'prehok']
    """
    word = name.lower()
    if name == kind or word.strip("_") != word:
        return False
    if word.replace("_", "") == kind:
        return True
    if "_" in word or word[0] != kind[0] or kind in word:
        return False
    shorter, longer = sorted((word, kind), key=len)
    if len(shorter) == len(longer):
        return any(_swapped(word, at) == kind for at in range(len(word) - 1))
    return any(longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer)))


def _swapped(word: str, at: int) -> str:
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _has_hook(context_type: type, kind: str) -> bool:
    return any(point.method is not None or point.handlers for point in hook_points_of(context_type, (kind,)))


_FIRST_LETTERS = {letter for kind in KINDS for letter in (kind[0], kind[0].upper())}
