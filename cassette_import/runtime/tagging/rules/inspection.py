"""Functions that look at the frame they are called from, or at its variables.

Knows that a leaf is called from a hidden frame; must not know how a call got here.
"""

from __future__ import annotations

import sys
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.names import PROVIDED
from cassette_import.runtime.tagging.propagation import Call, rule, tidy
from cassette_import.runtime.tagging.wrappers import Tagged, plain


@rule(sys._getframe)
@hidden
def frame(call: Call) -> Any:
    """The frame of the program; `sys._getframe(0)` would be the one that calls it, hidden or not."""
    given = [plain(argument) for argument in call.given]
    if call.keywords or len(given) > 1 or (given and type(given[0]) is not int):
        return call.native()
    return sys._getframe(max(given[0], 0) + 1 if given else 1)


@hidden
def scope(function: Any, names: dict[str, Any], variables: Any) -> tuple[Any, ...]:
    """What `eval` or `exec` is to look names up in, if there are wrappers among the variables."""
    if function not in (eval, exec) or not any(type(value) is Tagged for value in variables.values()):
        return ()
    return names, tidy(variables)


@hidden
def snapshot(function: Any, found: Any) -> Any:
    """What `locals` or `vars` has given."""
    return tidy(found) if function in (locals, vars) else found


PROVIDED.add({"@locals": locals, "@scope": scope, "@snapshot": snapshot})
