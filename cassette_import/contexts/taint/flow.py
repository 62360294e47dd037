"""What is known of a value that came from outside: where from, by which places in the program, and what it is safe for.

Knows call sites; must not know contexts.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable
from typing import Any, Final

from cassette_import.contexts.common.text import short_path
from cassette_import.runtime.dispatch.call_sites import CallSite

__all__ = ["Finding", "Flow", "Path", "merged"]

_LONGEST: Final = 50
_MOST: Final = 20


@dataclasses.dataclass(frozen=True)
class Path:
    """The way of one value from its source."""

    source: str
    steps: tuple[CallSite, ...]
    safe_for: frozenset[str] = frozenset()

    def then(self, site: CallSite) -> Path:
        """The way on through a place; of places in the same line the last counts, which holds the others."""
        steps = self.steps
        if len(steps) > 1 and (steps[-1].filename, steps[-1].lineno) == (site.filename, site.lineno):
            return dataclasses.replace(self, steps=(*steps[:-1], site))
        if site in steps or len(steps) >= _LONGEST:
            return self
        return dataclasses.replace(self, steps=(*steps, site))


@dataclasses.dataclass(frozen=True)
class Flow:
    """All the ways by which a value came; more than a few are not told apart."""

    paths: tuple[Path, ...]

    def then(self, site: CallSite) -> Flow:
        """The same after one more place in the program."""
        return Flow(tuple(path.then(site) for path in self.paths))

    def made_safe(self, kinds: frozenset[str]) -> Flow:
        """The same after a sanitizer."""
        return Flow(tuple(dataclasses.replace(path, safe_for=path.safe_for | kinds) for path in self.paths))

    def harmful(self, kind: str) -> Path | None:
        """The shortest way by which it came without being made safe."""
        paths = [path for path in self.paths if kind not in path.safe_for]
        return min(paths, key=lambda path: len(path.steps), default=None)


def merged(flows: Iterable[Flow]) -> Flow:
    """What is known of a value that several values went into."""
    found: dict[Any, Path] = {}
    for flow in flows:
        for path in flow.paths:
            key = path.source, path.steps[:1], path.safe_for
            if key not in found and len(found) < _MOST:
                found[key] = path
    return Flow(tuple(found.values()))


@dataclasses.dataclass(frozen=True)
class Finding:
    """A value that came from outside and went where it does harm.

    Attributes
    ----------
    kind, sink:
        What goes wrong, and the function that was called.
    source, path:
        Where the value came from, and the places in the program by which it went, the source's first and the call of
        the sink last.
    value:
        What it was, shortened.
    """

    kind: str
    sink: str
    source: str
    path: tuple[CallSite, ...]
    value: str

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.source} reaches {self.sink}"]
        words = ["from", *["by"] * (len(self.path) - 2), "into"][: len(self.path)]
        for word, site in zip(words, self.path, strict=True):
            file = short_path(site.filename, [os.getcwd(), *sys.path])
            lines.append(f"  {word:4}  {file}:{site.lineno} in {site.function}: {' '.join(site.source.split())}")
        return "\n".join([*lines, f"  value {self.value}"])

    def as_json(self) -> dict[str, Any]:
        """What a `.json` file says of it."""
        path = [
            {"file": site.filename, "line": site.lineno, "function": site.function, "source": site.source}
            for site in self.path
        ]
        return {"kind": self.kind, "sink": self.sink, "source": self.source, "path": path, "value": self.value}
