"""Secrets, kept out of recordings: what is called by a secret's name is written as a placeholder.

Knows encoded values; must not know what they are recorded for.
"""

from __future__ import annotations

import fnmatch
import functools
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

__all__ = ["USUAL_SECRETS", "Mask"]

USUAL_SECRETS: Final = (
    "authorization", "proxy-authorization", "cookie", "password", "passwd", "passphrase", "auth", "*secret*",
    "api_key", "api-key", "apikey", "x-api-key", "access_token",
)  # fmt: skip
"""Names of arguments, headers and keys whose values are never written. They are needed for comparison alone."""

_IN_TEXT: Final = (
    re.compile(r"(?:^|[?&;\s\"'])(?P<name>[\w.\-]+)=(?P<value>[^&;\s#\"']+)"),
    re.compile(r'"(?P<name>[\w.\- ]+)"\s*:\s*"(?P<value>(?:[^"\\]|\\.)+)"'),
    re.compile(r"://[^/\s:@]*:(?P<value>[^/\s@]+)@(?P<name>(?!))?"),
)
"""Names and values in texts: in addresses and forms; in JSON; the password in an address, which has no name."""

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
        """Hide this text from now on, also where it is spelled as in an address, in JSON or in base 64."""
        if isinstance(value, dict) and len(value) == 1:
            value = value.get("bytes")
        if not isinstance(value, str) or len(value) < _SHORTEST or value in self._known:
            return
        # In a replay, the program has the placeholder, and may spell that in another way.
        placeholder = value if _is_placeholder(value) else f"<{name}>"
        found = {spelled: placeholder for spelled in _spellings(value) if spelled != placeholder}
        longest_first = sorted({**found, **self._known}.items(), key=lambda known: -len(known[0]))
        self._known = dict(longest_first)

    def learn_from(self, encoded: Any) -> None:
        """Hide what the names of secrets stand for in an encoded value, in texts too: addresses, forms, JSON."""
        if not self.names:
            return
        for name, value in _named(encoded):
            if self.hides(name):
                self.learn(name, value)

    def variable(self, name: str, value: str | None) -> str | None:
        """A variable of the environment, as it is to be written."""
        if value is None or not self.hides(name):
            return None if value is None else self.text(value)
        self.learn(name, value)
        return f"<{name}>"

    def text(self, text: str) -> str:
        """A text without the secrets that are known."""
        for secret, placeholder in self._known.items():
            text = text.replace(secret, placeholder)
        return text

    def arguments(self, encoded: Any) -> Any:
        """Encoded arguments without secrets."""
        self.learn_from(encoded)
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

    def _hidden(self, encoded: Any) -> Any:
        if isinstance(encoded, str):
            return self._hidden_in_text(encoded)
        if isinstance(encoded, dict):
            return {key: self._hidden(item) for key, item in encoded.items()}
        if not isinstance(encoded, list):
            return encoded
        name = _name_in(encoded)
        if name is not None and (_is_usual(name) or self.hides(name)):
            hidden = _HIDDEN if _is_usual(name) else f"<{name}>"
            return [encoded[0], encoded[1] if _is_placeholder(encoded[1]) else hidden]
        return [self._hidden(item) for item in encoded]

    def _hidden_in_text(self, text: str) -> str:
        """A text of an argument without the secrets in an address, a form or JSON."""

        def replaced(match: re.Match[str]) -> str:
            name, value = match["name"] or "password", match["value"]
            if _is_placeholder(value) or not (match["name"] is None or _is_usual(name) or self.hides(name)):
                return match[0]
            return (
                match[0][: match.start("value") - match.start()]
                + _HIDDEN
                + match[0][match.end("value") - match.start() :]
            )

        for pattern in _IN_TEXT:
            text = pattern.sub(replaced, text)
        return text


@functools.lru_cache(1000)
def _is_usual(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in USUAL_SECRETS)


def _name_in(encoded: list[Any]) -> str | None:
    """The name, if this is a pair of a name and a value."""
    if len(encoded) != 2:
        return None
    name = encoded[0].get("bytes") if isinstance(encoded[0], dict) else encoded[0]
    return name if isinstance(name, str) else None


def _is_placeholder(encoded: Any) -> bool:
    return isinstance(encoded, str) and encoded[:1] == "<" and encoded[-1:] == ">"


def _named(encoded: Any) -> Iterable[tuple[str, Any]]:
    """All pairs of a name and a value: keywords, items of dicts, and what texts have of them."""
    if isinstance(encoded, str):
        for pattern in _IN_TEXT:
            for match in pattern.finditer(encoded):
                yield match["name"] or "", match["value"]
    elif isinstance(encoded, dict):
        for item in encoded.values():
            yield from _named(item)
    elif isinstance(encoded, list):
        name = _name_in(encoded)
        if name is not None:
            yield name, encoded[1]
        for item in encoded:
            yield from _named(item)


def _spellings(text: str) -> list[str]:
    """The text, and how it looks in addresses, in JSON and in base 64."""
    import base64
    import json
    import urllib.parse  # only where something is secret

    data = text.encode("utf-8", "surrogatepass")
    return [
        text,
        urllib.parse.quote(data),
        urllib.parse.quote(data, safe=""),
        urllib.parse.quote_plus(data),
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        base64.b64encode(data).decode(),
        base64.urlsafe_b64encode(data).decode(),
    ]
