"""Rules for `re.sub` with a function: its call is an event, and the text is computed from its results too."""

from __future__ import annotations

import re
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.c_callers import bare_callback
from cassette_import.runtime.tagging.computed_metadata import with_computed_metadata
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import plain


class _Replacing:
    """A function that returns replacements: it gets matches with metadata, and its results are kept."""

    __slots__ = ("_call", "_function", "results")

    def __init__(self, call: LeafCall, function: Any) -> None:
        self._call = call
        self._function = function
        self.results: list[Any] = []

    @hidden
    def __call__(self, match: Any) -> Any:
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging:
            return self._function(match)
        result = self._call.event(self._function, self._call.with_computed_metadata(match))
        self.results.append(result)
        return plain(result)


@hidden
def _by_text(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether text replaces the matches: a function would be one of the first two arguments."""
    return not any(map(callable, (*arguments[:2], keywords.get("repl"))))


@rule(re.sub, re.subn, re.Pattern.sub, re.Pattern.subn, plain_if=_by_text)
@hidden
def substitute(call: LeafCall) -> Any:
    number = 1 - len(call.leading) if call.function in (re.Pattern.sub, re.Pattern.subn) else 1
    in_keywords = "repl" in call.keywords
    function = bare_callback(
        call.keywords["repl"] if in_keywords else call.given[number] if len(call.given) > number else ""
    )
    if not callable(function):
        return without_rule(call)
    replacing = _Replacing(call, function)
    given, keywords = [plain(argument) for argument in call.given], call.plain_keywords
    if in_keywords:
        keywords["repl"] = replacing
    else:
        given[number] = replacing
    value = call.callee(*given, **keywords)
    arguments = (*call.arguments, *replacing.results)
    return with_computed_metadata(call.activation, call.function, arguments, call.keywords, value)
