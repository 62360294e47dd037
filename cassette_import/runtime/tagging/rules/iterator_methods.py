"""Rules for the methods of generators and iterators: `__next__`, `send`, `throw`, `close`.

A generator gets plain values, as its caller may be written in C. The wrapper of a value that is sent waits for the
`yield` that receives it. Knows generators, driven ones too; must not know how bodies are rewritten.
"""

from __future__ import annotations

import sys
from types import GeneratorType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.driven_generators import DrivenGenerator
from cassette_import.runtime.tagging.fast_path import STEPPED_TYPES
from cassette_import.runtime.tagging.iterator_metadata import LAZY_TYPES, next_item
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.overdubbed_calls import runs_overdubbed
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged

_OF_ITERATORS: Final = [kind.__next__ for kind in (*LAZY_TYPES, *STEPPED_TYPES) if kind is not GeneratorType]
_RETURNING: Final = (GeneratorType.close,) if sys.version_info >= (3, 13) else ()
_OF_GENERATORS: Final = (GeneratorType.__next__, GeneratorType.throw, *_RETURNING)


@rule(*_OF_ITERATORS, while_untagged=True)
@rule(
    *_OF_GENERATORS, DrivenGenerator.__next__, DrivenGenerator.send, DrivenGenerator.throw, returns_method_result=True
)  # fmt: skip
@hidden
def advance(call: LeafCall) -> Any:
    return next_item(call.store, call.owner, call.native) if call.arguments else call.native()


@rule(GeneratorType.send, returns_method_result=True)
@hidden
def send(call: LeafCall) -> Any:
    """The wrapper of the value is left for the `yield` that receives the value."""
    given = call.arguments[-1] if len(call.arguments) == 2 else None
    if type(given) is not Tagged or type(call.owner) is not GeneratorType or not runs_overdubbed(call.owner):
        return advance(call)
    before, LOCAL.sent = LOCAL.sent, given
    try:
        return advance(call)
    finally:
        LOCAL.sent = before
