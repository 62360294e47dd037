"""The rule for `sys._getframe`."""

from __future__ import annotations

import sys
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import plain


@rule(sys._getframe)
@hidden
def frame(call: LeafCall) -> Any:
    """The frame of the program; `sys._getframe(0)` would be the one that calls it, hidden or not."""
    given = [plain(argument) for argument in call.given]
    if call.keywords or len(given) > 1 or (given and type(given[0]) is not int):
        return call.native()
    return sys._getframe(max(given[0], 0) + 1 if given else 1)
