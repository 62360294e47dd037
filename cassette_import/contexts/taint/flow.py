"""The metadata of an untrusted value: its sources, the call sites that it passed, and the sinks for which it
is safe.
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

_LONGEST_PATH: Final = 50
_MOST_PATHS: Final = 20


@dataclasses.dataclass(frozen=True)
class Path:
    """The path of one value from its source: the call sites that it passed."""

    source: str
    steps: tuple[CallSite, ...]
    safe_for: frozenset[str] = frozenset()

    def then(self, site: CallSite) -> Path:
        """The path with one more call site. Of several sites in one line, only the last and outermost one is kept."""
        steps = self.steps
        if len(steps) > 1 and (steps[-1].filename, steps[-1].lineno) == (site.filename, site.lineno):
            return dataclasses.replace(self, steps=(*steps[:-1], site))
        if site in steps or len(steps) >= _LONGEST_PATH:
            return self
        return dataclasses.replace(self, steps=(*steps, site))


@dataclasses.dataclass(frozen=True)
class Flow:
    """All paths by which a value came, up to a limit."""

    paths: tuple[Path, ...]

    def then(self, site: CallSite) -> Flow:
        """The flow after one more call site."""
        return Flow(tuple(path.then(site) for path in self.paths))

    def made_safe(self, kinds: frozenset[str]) -> Flow:
        """The flow after a sanitizer for these kinds of sinks."""
        return Flow(tuple(dataclasses.replace(path, safe_for=path.safe_for | kinds) for path in self.paths))

    def harmful(self, kind: str) -> Path | None:
        """The shortest path without a sanitizer for this kind of sink; None if there is none."""
        paths = [path for path in self.paths if kind not in path.safe_for]
        return min(paths, key=lambda path: len(path.steps), default=None)


def merged(flows: Iterable[Flow]) -> Flow:
    """The flow of a value that was computed from several values."""
    found: dict[Any, Path] = {}
    for flow in flows:
        for path in flow.paths:
            key = path.source, path.steps[:1], path.safe_for
            if key not in found and len(found) < _MOST_PATHS:
                found[key] = path
    return Flow(tuple(found.values()))


@dataclasses.dataclass(frozen=True)
class Finding:
    """An untrusted value that reached a sink.

    Attributes
    ----------
    kind, sink:
        The kind of sink, and its name.
    source, path:
        The name of the source, and the call sites that the value passed: the source first, the call of the sink last.
    value:
        The value that reached the sink, shortened.
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
        """The finding as values for JSON."""
        path = [
            {"file": site.filename, "line": site.lineno, "function": site.function, "source": site.source}
            for site in self.path
        ]
        return {"kind": self.kind, "sink": self.sink, "source": self.source, "path": path, "value": self.value}
