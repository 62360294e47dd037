"""Rules for calls of `logging` that write nothing: their arguments go nowhere."""

from __future__ import annotations

from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.silent_logging import is_silent
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule_of_code
from cassette_import.runtime.tagging.wrappers import plain


@rule_of_code(
    "logging", *(f"Logger.{name}" for name in ("debug", "info", "warning", "error", "critical", "exception", "log"))
)
@hidden
def log(call: LeafCall) -> Any:
    if is_silent(call.function, tuple(map(plain, call.arguments))):
        return call.native()
    return without_rule(call)
