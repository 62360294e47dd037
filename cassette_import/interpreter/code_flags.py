"""The flags of code objects, which are those of `inspect`: importing that takes long, and few programs need all of it.

Knows numbers; must not know what they are used for.
"""

from typing import Final

OPTIMIZED: Final = 0x01
NEWLOCALS: Final = 0x02
VARARGS: Final = 0x04
VARKEYWORDS: Final = 0x08
NESTED: Final = 0x10
GENERATOR: Final = 0x20
COROUTINE: Final = 0x80
ITERABLE_COROUTINE: Final = 0x100
ASYNC_GENERATOR: Final = 0x200
METHOD: Final = 0x8000000
"""From 3.14 on; never set before."""
