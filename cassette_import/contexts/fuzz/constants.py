"""The constants of functions, as their source has them: values that are worth writing into inputs.

They are compiled from the source once more, because the code of a function changes when a context is entered.
"""

from __future__ import annotations

import linecache
from types import CodeType
from typing import Any, Final

from cassette_import.contexts.fuzz.match_patterns import may_match

__all__ = ["Constants"]

_LONGEST: Final = 40


class Constants:
    """The constants of functions, by file, first line and name.

    Attributes
    ----------
    matches:
        Whether one of the files has a `match` statement.
    """

    def __init__(self) -> None:
        self.matches = False
        self._files: dict[str, dict[tuple[int, str], CodeType]] = {}

    def of(self, filename: str, line: int, name: str) -> list[Any]:
        """The texts, bytes and numbers among the constants of a function, in order; none if there is no source."""
        if filename not in self._files:
            source = "".join(linecache.getlines(filename))
            self.matches |= may_match(source)
            self._files[filename] = _functions(filename, source)
        code = self._files[filename].get((line, name))
        return [] if code is None else _plain_constants(code)


def _functions(filename: str, source: str) -> dict[tuple[int, str], CodeType]:
    try:
        work = [compile(source, filename, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return {}
    found = {}
    while work:
        code = work.pop()
        found[code.co_firstlineno, code.co_name] = code
        work += [one for one in code.co_consts if isinstance(one, CodeType)]
    return found


def _plain_constants(code: CodeType) -> list[Any]:
    found: list[Any] = []
    work: list[Any] = list(code.co_consts)
    while work:
        one = work.pop(0)
        if type(one) in (tuple, frozenset):
            work += sorted(one, key=repr)
        elif (type(one) in (str, bytes) and 0 < len(one) <= _LONGEST) or type(one) in (int, float):
            found.append(one)
    return found
