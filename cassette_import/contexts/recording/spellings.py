"""How a secret may be spelled in a text: in an address, in JSON, in hexadecimal digits, and in base 64 at any
offset.
"""

from __future__ import annotations

import base64
import html
import json
import re
from typing import Final

__all__ = ["Base64Secret", "spellings"]

_FIRST_WHOLE_CHARACTER: Final = (0, 2, 3)
"""The first character of base 64 that depends on a secret alone, by the secret's offset in its group of three bytes."""
_ALPHABETS: Final = (b"+/", b"-_")
_RUNS: Final = (re.compile("[A-Za-z0-9+/]+"), re.compile("[A-Za-z0-9_-]+"))


def spellings(text: str) -> list[str]:
    """The text itself, and its spellings in addresses, in JSON and HTML, as a literal, and in hexadecimal digits."""
    import urllib.parse  # imported here because only recordings with secrets need it

    data = text.encode("utf-8", "surrogatepass")
    quoted = [urllib.parse.quote(data), urllib.parse.quote(data, safe=""), urllib.parse.quote_plus(data)]
    return [
        text,
        *quoted,
        *(re.sub("%..", lambda match: match[0].lower(), one) for one in quoted),
        json.dumps(text)[1:-1],
        json.dumps(text)[1:-1].replace("/", "\\/"),
        json.dumps(text, ensure_ascii=False)[1:-1],
        repr(text)[1:-1],
        html.escape(text),
        data.hex(),
        data.hex().upper(),
        data.decode("latin-1"),  # in bytes, see `Mask.value`
    ]


class Base64Secret:
    """A secret in base 64: within other data it has three spellings, and its first and last characters vary.

    Parameters
    ----------
    secret:
        The secret.
    placeholder:
        What replaces it: data that contains the secret becomes data that contains the placeholder, still in base 64.
        So it is the same text that a program with the placeholder makes.

    >>> one = Base64Secret("correct horse", "<token>")
    >>> text = base64.b64encode(b"me:correct horse!").decode()
    >>> base64.b64decode(one.masked(f"Basic {text}")[6:])
    b'me:<token>!'
    """

    def __init__(self, secret: str, placeholder: str) -> None:
        self._secret = secret.encode("utf-8", "surrogatepass")
        self._placeholder = placeholder.encode("utf-8", "surrogatepass")
        self._parts = [
            (part, offset)
            for offset in range(3)
            for part in {_whole_characters(self._secret, offset, alphabet) for alphabet in _ALPHABETS}
        ]

    def masked(self, text: str, *, canonical: bool = False) -> str:
        """The text with the placeholder instead of the secret, wherever it is in base 64.

        With `canonical`, the result has the standard alphabet and padding: texts that are only compared.
        """
        for part, offset in self._parts:
            position = text.find(part)
            while position >= 0:
                begin = position - _FIRST_WHOLE_CHARACTER[offset]
                changed = None if begin < 0 else self._changed(text, begin, offset, canonical)
                text = text[:position] + "*" * len(part) + text[position + len(part) :] if changed is None else changed
                position = text.find(part, position + 1)
            if "\n" in text and self._secret != self._placeholder:  # lines of e-mails are wrapped
                text = re.sub("\r?\n?".join(map(re.escape, part)), lambda match: "*" * len(match[0]), text)
        return text

    def _changed(self, text: str, begin: int, offset: int, canonical: bool) -> str | None:
        """The text with the data that begins here changed; None if it is not base 64 there."""
        runs = [(len(found[0]), found[0]) for run in _RUNS if (found := run.match(text, begin))]
        if not runs:
            return None
        longest, encoded = max(runs, key=lambda one: one[0])
        alphabet = _ALPHABETS["-" in encoded or "_" in encoded]
        rest = text[begin + longest :]
        padding = len(rest) - len(rest.lstrip("="))
        try:
            data = base64.b64decode(encoded + "=" * (-longest % 4), alphabet)
        except ValueError:
            return None
        if not data.startswith(self._secret, offset):
            return None
        data = data[:offset] + data[offset:].replace(self._secret, self._placeholder)
        made = base64.b64encode(data, None if canonical else alphabet).decode()
        if longest % 4 and not padding and not canonical:
            made = made.rstrip("=")
        return text[:begin] + made + rest[padding:]


def _whole_characters(secret: bytes, offset: int, alphabet: bytes) -> str:
    """The characters of base 64 that depend on the secret alone."""
    end = (offset + len(secret)) * 8 // 6
    return base64.b64encode(b"\0" * offset + secret, alphabet)[_FIRST_WHOLE_CHARACTER[offset] : end].decode()
