"""Secrets: which names belong to secret values, and the secret values found so far."""

from __future__ import annotations

import fnmatch
import re
from typing import Final

__all__ = ["MASK", "Secrets"]

MASK: Final = "***"
_MOST_SECRETS: Final = 1000
_NAME: Final = re.compile(r"[\w.-]{1,80}")


class Secrets:
    """The names of secrets, given as patterns, and the values that had such a name so far.

    Parameters
    ----------
    patterns:
        Patterns such as ``*password*``, separated by ``+`` or ``|``. Case is ignored.

    Example
    -------
    >>> secrets = Secrets("*password*|token")
    >>> secrets.is_name("db_PASSWORD"), secrets.is_name("tokenize"), secrets.is_name(3)
    (True, False, False)
    """

    def __init__(self, patterns: str = "") -> None:
        parts = [part.strip().lower() for part in re.split(r"[|+]", patterns)]
        translated = "|".join(fnmatch.translate(part) for part in parts if part)
        self._names = re.compile(translated) if translated else None
        self.are_masked = self._names is not None
        """Whether there are any patterns."""
        self._values: dict[str, None] = {}

    def is_name(self, name: object) -> bool:
        """Whether a value of this name is a secret."""
        return (
            self._names is not None
            and type(name) is str
            and _NAME.fullmatch(name) is not None
            and self._names.match(name.lower()) is not None
        )

    def add(self, value: object) -> None:
        """Mask this value from now on, wherever it appears."""
        text = value.decode("latin-1") if type(value) is bytes else value
        if type(text) is str and len(text) > 3 and len(self._values) < _MOST_SECRETS:
            self._values[text] = None

    def are_in(self, text: str) -> bool:
        """Whether the text contains a secret value found before."""
        return any(secret in text for secret in list(self._values))

    def masked(self, text: str) -> str:
        """The text with all secret values found before masked."""
        for secret in list(self._values):
            text = text.replace(secret, MASK)
        return text
