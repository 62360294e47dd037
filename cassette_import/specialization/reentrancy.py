"""Whether this thread is specialising: functions of the program that specialising itself calls run plain meanwhile.

Knows the current thread; must not know what specialising is.
"""

from __future__ import annotations

import threading
from typing import Final


class _Specialising(threading.local):
    now = False


SPECIALISING: Final = _Specialising()
"""`SPECIALISING.now`: this thread is specialising a function."""
