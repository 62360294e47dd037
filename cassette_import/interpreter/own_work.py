"""Own work: whether this thread does work of cassette_import's own.

Functions of the program that such work calls run plain meanwhile: finders, audit hooks, what replaces `__import__`. To
overdub them may need the very work that calls them. Knows the current thread; must not know what the work is.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


class _OwnWork(threading.local):
    now = False
    makes_function = False


OWN_WORK: Final = _OwnWork()
"""`OWN_WORK.now`: this thread specialises a function or imports a module of cassette_import.

`OWN_WORK.makes_function`: this thread makes a function for a call that is to run plain; only audit hooks can be called.
"""


@contextmanager
def own_work() -> Iterator[None]:
    """A block of own work."""
    before = OWN_WORK.now
    OWN_WORK.now = True
    try:
        yield
    finally:
        OWN_WORK.now = before
