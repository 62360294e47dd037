"""Which code of the bundles that this process has read is hidden already."""

from __future__ import annotations

from types import CodeType
from typing import Final

HIDDEN: Final[dict[int, CodeType]] = {}
"""Hidden code by its identity."""
