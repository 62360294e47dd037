"""`Events`: the kinds of events that a context type can choose."""

from __future__ import annotations

import enum


class Events(enum.IntFlag):
    """Kinds of events; combine them with ``|``.

    >>> Events.CALLS in Events.ALL
    True
    >>> Events.CALLS | Events.OPERATORS == Events.DEFAULT
    True
    """

    NONE = 0
    CALLS = 1
    OPERATORS = 2
    ATTRIBUTES = 4
    ITERATION = 8
    TRUTH = 16
    DISPLAYS = 32
    NAMES = 64
    CONTROL = 128
    DEFAULT = CALLS | OPERATORS
    ALL = CALLS | OPERATORS | ATTRIBUTES | ITERATION | TRUTH | DISPLAYS | NAMES | CONTROL
