"""Secrets, kept out of recordings: what is called by a secret's name is written as a placeholder.

Knows encoded values; must not know what they are recorded for.
"""

from __future__ import annotations

import fnmatch
import functools
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

__all__ = ["USUAL_SECRETS", "Mask"]

USUAL_SECRETS: Final = (
    "authorization", "proxy-authorization", "cookie", "password", "passwd", "passphrase", "auth", "*secret*",
    "api_key", "api-key", "apikey", "x-api-key", "access_token",
)  # fmt: skip
"""Names of arguments, headers and keys whose values are never written. They are needed for comparison alone."""

_HIDDEN: Final = "***"
_SHORTEST: Final = 6
"""Shorter texts are not looked for elsewhere: they would be found where they mean nothing."""


class Mask:
    """What is to be hidden.

    Parameters
    ----------
    names:
        Patterns (`fnmatch`, in any case) for the names of variables of the environment, arguments, headers and keys of
        dicts. Their values are replaced by ``<the name>`` wherever they turn up from then on, in results too.
    places:
        Folders by name. A path in one of them is written as ``<the name>/…``, and `restored` puts the folder back.

    >>> mask = Mask(["TOKEN"])
    >>> mask.arguments([["https://example.org"], [["token", "abcdefgh"]]])
    [['https://example.org'], [['token', '<token>']]]
    >>> mask.text("Bearer abcdefgh")
    'Bearer <token>'
    """

    def __init__(self, names: Iterable[str] = (), places: Mapping[str, str] | None = None) -> None:
        self.names = tuple(name.lower() for name in names)
        longest_first = sorted((places or {}).items(), key=lambda place: -len(place[1]))
        self._places = {f"<{name}>": path for name, path in longest_first if len(path) > len(os.sep)}
        self._known: dict[str, str] = {path: placeholder for placeholder, path in self._places.items()}

    def hides(self, name: Any) -> bool:
        """Whether what has this name is secret."""
        return isinstance(name, str) and any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in self.names)

    def learn(self, name: str, value: Any) -> None:
        """Hide this text from now on."""
        if isinstance(value, dict) and len(value) == 1:
            value = value.get("bytes")
        if isinstance(value, str) and len(value) >= _SHORTEST and value not in self._known:
            self._known[value] = f"<{name}>"

    def text(self, text: str) -> str:
        """A text without the secrets that are known."""
        for secret, placeholder in self._known.items():
            text = text.replace(secret, placeholder)
        return text

    def arguments(self, encoded: Any) -> Any:
        """Encoded arguments without secrets."""
        self._learn_from(encoded)
        return self._hidden(self.value(encoded))

    def value(self, encoded: Any) -> Any:
        """An encoded value without the secrets that are known."""
        if not self._known:
            return encoded
        if isinstance(encoded, str):
            return self.text(encoded)
        if isinstance(encoded, list):
            return [self.value(item) for item in encoded]
        if isinstance(encoded, dict):
            return {key: self.value(item) for key, item in encoded.items()}
        return encoded

    def restored(self, encoded: Any) -> Any:
        """An encoded value with the folders in the places of their names. Secrets stay hidden."""
        if not self._places:
            return encoded
        if isinstance(encoded, str):
            for placeholder, path in self._places.items():
                encoded = encoded.replace(placeholder, path)
            return encoded
        if isinstance(encoded, list):
            return [self.restored(item) for item in encoded]
        if isinstance(encoded, dict):
            return {key: self.restored(item) for key, item in encoded.items()}
        return encoded

    def _learn_from(self, encoded: Any) -> None:
        if not self.names:
            return
        for name, value in _named(encoded):
            if self.hides(name):
                self.learn(name, value)

    def _hidden(self, encoded: Any) -> Any:
        if isinstance(encoded, dict):
            return {key: self._hidden(item) for key, item in encoded.items()}
        if not isinstance(encoded, list):
            return encoded
        if _is_pair(encoded) and _is_usual(encoded[0]):
            return [encoded[0], encoded[1] if _is_placeholder(encoded[1]) else _HIDDEN]
        return [self._hidden(item) for item in encoded]


@functools.lru_cache(1000)
def _is_usual(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in USUAL_SECRETS)


def _is_pair(encoded: list[Any]) -> bool:
    return len(encoded) == 2 and isinstance(encoded[0], str)


def _is_placeholder(encoded: Any) -> bool:
    return isinstance(encoded, str) and encoded[:1] == "<" and encoded[-1:] == ">"


def _named(encoded: Any) -> Iterable[tuple[str, Any]]:
    """All pairs of a name and a value: keywords, and items of dicts."""
    if isinstance(encoded, dict):
        for item in encoded.values():
            yield from _named(item)
    elif isinstance(encoded, list):
        if _is_pair(encoded):
            yield encoded[0], encoded[1]
        for item in encoded:
            yield from _named(item)
