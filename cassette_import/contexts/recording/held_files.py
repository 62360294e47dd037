"""Files in memory that external objects hold: an archive writes to the `BytesIO` that the program has given to it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from cassette_import.contexts.recording import proxies

__all__ = ["HeldFiles"]


class HeldFiles:
    """The files in memory that the object behind each proxy has got, or the object that made it."""

    def __init__(self) -> None:
        self._by_proxy: dict[int, dict[str, Any]] = {}

    def of_call(self, what: Sequence[Any]) -> Mapping[str, Any]:
        """The files that the receiver of a call holds, under names that no argument has."""
        return self._by_proxy.get(what[2], {}) if len(what) > 2 else {}

    def made(self, value: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], held: Mapping[str, Any]) -> None:
        """Note that a call with these arguments, of an object that holds files, has made a proxy."""
        if not proxies.is_proxy(value):
            return
        files = [*held.values(), *(one for one in (*arguments, *keywords.values()) if _is_file(one))]
        if files:
            known = self._by_proxy.setdefault(proxies.number_of(value), {})
            for file in files:
                if not any(file is other for other in known.values()):
                    known[f"@{len(known)}"] = file


def _is_file(value: Any) -> bool:
    return isinstance(value, io.BytesIO | io.StringIO) and not proxies.is_proxy(value)
