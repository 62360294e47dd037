"""Rules for the methods of generators and iterators: what is sent into a generator, and what comes out.

A generator gets plain values, as its caller may be written in C. The wrapper of what is sent waits for the `yield` that
receives it. Must not know how bodies are rewritten.
"""

from __future__ import annotations

import sys
from types import GeneratorType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.driven_generators import DrivenGenerator
from cassette_import.runtime.names import PROVIDED
from cassette_import.runtime.tagging.fast_path import STEPPED_TYPES, always, claiming
from cassette_import.runtime.tagging.overdubbed_calls import runs_overdubbed
from cassette_import.runtime.tagging.propagation import Call, rule
from cassette_import.runtime.tagging.rules.iterators import LAZY_TYPES, step
from cassette_import.runtime.tagging.wrappers import LOCAL, Tagged

_OTHERS: Final = [kind.__next__ for kind in (*LAZY_TYPES, *STEPPED_TYPES) if kind is not GeneratorType]
_RETURNING: Final = (GeneratorType.close,) if sys.version_info >= (3, 13) else ()
_OF_GENERATORS: Final = (GeneratorType.__next__, GeneratorType.throw, *_RETURNING)


@always(*_OTHERS)
@claiming(*_OF_GENERATORS, DrivenGenerator.__next__, DrivenGenerator.send, DrivenGenerator.throw)
@rule(*_OTHERS)
@rule(*_OF_GENERATORS, DrivenGenerator.__next__, DrivenGenerator.send, DrivenGenerator.throw)
@hidden
def advance(call: Call) -> Any:
    """A step, whatever it is that makes the iterator go on."""
    return step(call.store, call.owner, call.native) if call.arguments else call.native()


@claiming(GeneratorType.send)
@rule(GeneratorType.send)
@hidden
def send(call: Call) -> Any:
    """The same, with a value that the generator receives."""
    given = call.arguments[-1] if len(call.arguments) == 2 else None
    if type(given) is not Tagged or type(call.owner) is not GeneratorType or not runs_overdubbed(call.owner):
        return advance(call)
    before, LOCAL.sent = LOCAL.sent, given
    try:
        return advance(call)
    finally:
        LOCAL.sent = before


@hidden
def received(value: Any) -> Any:
    """What a `yield` gives: a value that was sent."""
    found, LOCAL.sent = LOCAL.sent, None
    return found if found is not None and found._tagged_value is value else value


PROVIDED.add({"@received": received})
