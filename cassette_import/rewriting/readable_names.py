"""Readable names: what readers of rewritten code get to see for a symbol."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from typing import Final

from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import MARK

_HOOK: Final = r"(free)?(pre|post)(\d+)\.(\d+)$"
_KIND: Final = r"(^|\.)(\d+)$"


def readable_name(name: str, variants: Mapping[str, str]) -> str:
    """An identifier for readers; `variants` holds what the variants are called, by prefix.

    >>> readable_name("@7.pre0.1", {"@7": "SinToCos"}), readable_name("@f0", {})
    ('_SinToCos_prehook_calls', '_f0')
    """
    prefix, _, rest = name.partition(".")
    variant = variants.get(prefix)
    first = prefix.removeprefix(MARK) if variant is None else variant
    several = variant is not None and " + " in variant

    def hook(match: re.Match[str]) -> str:
        return f"{match[2]}hook{match[3] if several else ''}.{_kind_name(match[4])}"

    rest = re.sub(_HOOK, hook, rest)
    rest = re.sub(_KIND, lambda match: f"{match[1]}{_kind_name(match[2])}", rest)
    made = "_" + re.sub(r"\W+", "_", f"{first}.{rest}" if rest else first).strip("_")
    return f"{made}_" if keyword.iskeyword(made) else made


def _kind_name(number: str) -> str:
    return (Events(int(number)).name or number).lower().replace("|", "_")
