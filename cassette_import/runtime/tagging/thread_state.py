"""The state that tagging has for each thread during a call, and which leaf runs at the moment."""

from __future__ import annotations

import threading
from _thread import get_ident
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden

# ---- which leaf or pattern runs at the moment: functions of the program that it calls are entered with plain values

LEAVES: Final[dict[int, Any]] = {}
"""The call of the innermost leaf that runs, by the identity of the thread. It is None while a function of the program
runs that another one has called."""

SUBJECTS: Final[dict[tuple[int, int], Any]] = {}
"""The subjects of `match` statements, by the identities of the frame and its code, while patterns are tested: not while
guards run. Patterns run properties and other special methods of the program."""


@hidden
def outside(function: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call a function of the program from another one: the leaf that runs further out does not pass its arguments."""
    thread = get_ident()
    outer = LEAVES.get(thread)
    if outer is None:
        return function(*arguments, **keywords)
    LEAVES[thread] = None
    try:
        return function(*arguments, **keywords)
    finally:
        LEAVES[thread] = outer


# ---- the state that tagging has for each thread during a call


class _ThreadState(threading.local):
    """The state of one thread.

    `returned` is the wrapper of the value that was returned or yielded last. An overdubbed function returns a plain
    value, because its caller may be written in C; an overdubbed caller takes the wrapper from here.
    `stopped` is the wrapper of the value with which an iterator has ended that the interpreter delegates to.
    `sent` is the wrapper of the value that is being sent into a generator, until a `yield` receives it.
    `wants_wrapped` is true while the program itself advances an iterator, and false while a leaf runs.
    `evaluated` is the code that `eval` or `exec` is about to run.
    `classes` has the decorators of the class statements that are being executed, the innermost last.
    `held` lists the objects that the shadow store has begun to hold, with the table that holds them, the latest last.
    """

    returned: Any = None
    sent: Any = None
    stopped: Any = None
    wants_wrapped = False
    evaluated: Any = None

    def __init__(self) -> None:
        self.held: list[tuple[Any, int]] = []
        self.classes: list[Any] = []


LOCAL: Final = _ThreadState()
