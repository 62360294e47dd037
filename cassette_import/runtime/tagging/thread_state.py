"""The state that tagging has for each thread during a call."""

from __future__ import annotations

import threading
from typing import Any, Final


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
