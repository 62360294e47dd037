"""Masking: recordings contain no secrets. The value of each secret name is written as a placeholder."""

from __future__ import annotations

import base64
import fnmatch
import functools
import html
import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from cassette_import.contexts.recording.values import with_texts

__all__ = ["USUAL_SECRETS", "Mask"]

# ---- how a secret may be spelled in a text

_FIRST_WHOLE_CHARACTER: Final = (0, 2, 3)
"""The first character of base 64 that depends on a secret alone, by the secret's offset in its group of three bytes."""
_ALPHABETS: Final = (b"+/", b"-_")
_RUNS: Final = (re.compile("[A-Za-z0-9+/]+"), re.compile("[A-Za-z0-9_-]+"))


def _spellings(text: str) -> list[str]:
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


class _Base64Secret:
    """A secret in base 64: within other data it has three spellings, and its first and last characters vary.

    Parameters
    ----------
    secret:
        The secret.
    placeholder:
        What replaces it: data that contains the secret becomes data that contains the placeholder, still in base 64.
        So it is the same text that a program with the placeholder makes.

    >>> one = _Base64Secret("correct horse", "<token>")
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


# ---- masking: recordings contain no secrets. The value of each secret name is written as a placeholder

USUAL_SECRETS: Final = (
    "authorization", "proxy-authorization", "cookie", "cookies", "set-cookie", "password", "passwd", "passphrase",
    "auth", "*secret*", "api_key", "api-key", "apikey", "x-api-key", "token", "*_token", "*-token",
)  # fmt: skip
"""Names of arguments, headers and keys whose values are never written: a replay only compares them."""

_SECRET_VARIABLES: Final = (
    "*secret*", "*password*", "*passwd*", "*passphrase*", "*token*", "*api_key*", "*apikey*", "*access_key*",
    "*private_key*", "*credential*",
)  # fmt: skip
"""Names of environment variables whose values are masked."""

_PASSWORD_IN_ADDRESS: Final = re.compile(r"://[^/\s:@]*:(?P<value>[^/\s@]+)@")
_NAMED_VALUES_IN_TEXT: Final = (
    re.compile(r"(?:^|[?&;\s\"'])(?P<name>[\w.\-]+)=(?P<value>[^&;\s#\"']+)"),
    re.compile(r'"(?P<name>[\w.\- ]+)"\s*:\s*"(?P<value>(?:[^"\\]|\\.)+)"'),
    re.compile(r"://[^/\s:@]*:(?P<value>[^/\s@]+)@(?P<name>(?!))?"),
)
"""Names and values in texts: in addresses and forms; in JSON; the password in an address, which has no name."""

_HIDDEN: Final = "***"
_SHORTEST: Final = 6
"""Shorter secrets are masked only beside their names: in other texts they would be found by coincidence."""


class Mask:
    """The secrets and folders of a recording, and how they are masked.

    Parameters
    ----------
    names:
        Patterns (`fnmatch`, in any case) for the names of environment variables, arguments, headers and keys of dicts.
        Their values are replaced by ``<the name>`` in everything that is written from then on, results included.
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
        self._placeholders: dict[str, str] = {path: placeholder for placeholder, path in self._places.items()}
        self._in_base64: list[_Base64Secret] = []

    def hides(self, name: Any) -> bool:
        """Whether a value of this name is secret."""
        return isinstance(name, str) and any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in self.names)

    def learn(self, name: str, value: Any) -> None:
        """Mask this text from now on, also as it is spelled in addresses, in JSON, in digits and in base 64."""
        if isinstance(value, dict) and len(value) == 1:
            value = _in_latin_1(value["base64"]) if "base64" in value else value.get("bytes")
        if not isinstance(value, str) or len(value) < _SHORTEST or value in self._placeholders:
            return
        # In a replay the program has the placeholder itself, and may spell it in another way.
        placeholder = value if _is_placeholder(value) else f"<{name}>"
        spellings = {spelled: placeholder for spelled in _spellings(value) if spelled != placeholder}
        longest_first = sorted({**spellings, **self._placeholders}.items(), key=lambda known: -len(known[0]))
        self._placeholders = dict(longest_first)
        self._in_base64.append(_Base64Secret(value, placeholder))

    def learn_from(self, encoded: Any) -> None:
        """Mask the values of all secret names in an encoded value, in texts too: addresses, forms, JSON."""
        if not self.names:
            return
        for name, value in _named_values(encoded):
            if self.hides(name):
                self.learn(name, value)

    def variable(self, name: str, value: str | None) -> str | None:
        """The value of an environment variable as it is written."""
        if value is None:
            return None
        if self.hides(name) or _is_secret_variable(name):
            self.learn(name, value)
            return f"<{name}>"
        password = _PASSWORD_IN_ADDRESS.search(value)
        if password is not None and not _is_placeholder(password["value"]):
            secret, placeholder = password["value"], f"<password of {name}>"
            self.learn(placeholder.strip("<>"), secret)
            value = value.replace(f":{secret}@", f":{placeholder}@")
        return self.text(value)

    def text(self, text: str, *, canonical: bool = False) -> str:
        """A text without the known secrets; `canonical` if it is only compared, see `_Base64Secret`."""
        for secret, placeholder in self._placeholders.items():
            text = text.replace(secret, placeholder)
        for one in self._in_base64:
            text = one.masked(text, canonical=canonical)
        return text

    def arguments(self, encoded: Any) -> Any:
        """Encoded arguments without secrets."""
        self.learn_from(encoded)
        return self._without_named_secrets(self.value(encoded, canonical=True))

    def value(self, encoded: Any, *, canonical: bool = False) -> Any:
        """An encoded value without the known secrets, also in bytes that are written in base 64."""
        if not self._placeholders:
            return encoded
        return with_texts(encoded, functools.partial(self.text, canonical=canonical), self._bytes)

    def _bytes(self, content: str) -> str:
        """Bytes in base 64 without the known secrets."""
        before = _in_latin_1(content)
        after = self.text(before)
        return content if after == before else base64.b64encode(after.encode("latin-1", "replace")).decode()

    def restored(self, encoded: Any) -> Any:
        """An encoded value with the folders instead of their names. Secrets stay masked."""
        return with_texts(encoded, self._with_folders) if self._places else encoded

    def _with_folders(self, text: str) -> str:
        for placeholder, path in self._places.items():
            text = text.replace(placeholder, path)
        return text

    def _without_named_secrets(self, encoded: Any) -> Any:
        if isinstance(encoded, str):
            return self._without_secrets_in_text(encoded)
        if isinstance(encoded, dict):
            return {key: self._without_named_secrets(item) for key, item in encoded.items()}
        if not isinstance(encoded, list):
            return encoded
        name = _name_in(encoded)
        if name is not None and (_is_usual_secret(name) or self.hides(name)):
            hidden = _HIDDEN if _is_usual_secret(name) else f"<{name}>"
            return [encoded[0], encoded[1] if _is_placeholder(encoded[1]) else hidden]
        return [
            _HIDDEN if _is_secret_option(before) and isinstance(item, str) else self._without_named_secrets(item)
            for before, item in zip([None, *encoded], encoded, strict=False)
        ]

    def _without_secrets_in_text(self, text: str) -> str:
        """The text of an argument without the secrets in an address, a form or JSON."""

        def replaced(match: re.Match[str]) -> str:
            name, value = (match["name"] or "password").lstrip("-"), match["value"]
            if _is_placeholder(value) or not (match["name"] is None or _is_usual_secret(name) or self.hides(name)):
                return match[0]
            start, end = match.start("value") - match.start(), match.end("value") - match.start()
            return match[0][:start] + _HIDDEN + match[0][end:]

        for pattern in _NAMED_VALUES_IN_TEXT:
            text = pattern.sub(replaced, text)
        return text


@functools.lru_cache(1000)
def _is_usual_secret(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in USUAL_SECRETS)


def _is_secret_variable(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in _SECRET_VARIABLES)


def _is_secret_option(word: Any) -> bool:
    """Whether the next argument of a command is a secret: the value of `--token`."""
    return isinstance(word, str) and word.startswith("--") and _is_usual_secret(word.lstrip("-"))


def _name_in(encoded: list[Any]) -> str | None:
    """The name, if this is a pair of a name and a value."""
    if len(encoded) != 2:
        return None
    name = encoded[0].get("bytes") if isinstance(encoded[0], dict) else encoded[0]
    return name if isinstance(name, str) else None


def _is_placeholder(encoded: Any) -> bool:
    return isinstance(encoded, str) and encoded[:1] == "<" and encoded[-1:] == ">"


def _named_values(encoded: Any) -> Iterable[tuple[str, Any]]:
    """All pairs of a name and a value: keyword arguments, items of dicts, and those in texts."""
    if isinstance(encoded, str):
        for pattern in _NAMED_VALUES_IN_TEXT:
            for match in pattern.finditer(encoded):
                yield match["name"] or "", match["value"]
    elif isinstance(encoded, dict):
        for item in encoded.values():
            yield from _named_values(item)
    elif isinstance(encoded, list):
        name = _name_in(encoded)
        if name is not None:
            yield name, encoded[1]
        for item in encoded:
            yield from _named_values(item)


def _in_latin_1(content: str) -> str:
    """Bytes that are written in base 64 as a text: one character for each byte."""
    return base64.b64decode(content).decode("latin-1")
