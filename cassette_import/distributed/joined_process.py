"""A process in which a context is active, and what that context has found in it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cassette_import.contexts.common.reporting import (
    chosen_format,
    is_merging,
    is_streaming,
    known_formats,
    summary_of,
)
from cassette_import.distributed.context_descriptions import Description, made
from cassette_import.frontends.reporting.report import report
from cassette_import.importing.installation import Installation, install

__all__ = ["JoinedProcess"]


class JoinedProcess:
    """A process in which the context is active. `suffix` is the format of a context that writes while it runs."""

    def __init__(self, packages: tuple[str, ...], context: Description, suffix: str | None) -> None:
        self.installation: Installation | None = install(packages) if packages else None
        self.context = made(context)
        self._stream: Path | None = None
        if suffix is not None and is_streaming(self.context):
            self._folder = tempfile.TemporaryDirectory(prefix="cassette_import-")
            self._stream = Path(self._folder.name, f"stream{suffix}")
            self.context.stream(str(self._stream))

    def call(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Call a function in the context."""
        self.context.__enter__()
        try:
            return function(*arguments, **keywords)
        finally:
            self.context.__exit__()  # without an exception type: a task that meets no function is nothing to warn of

    def results(self, suffixes: Iterable[str]) -> dict[str, Any]:
        """What the context has found so far: its summary, its files by suffix, and the report of this process."""
        summary = summary_of(self.context)  # first: a trace of the last calls writes them now
        context = self.context
        installations = [] if self.installation is None else [self.installation]
        return {
            "process": os.getpid(),
            "summary": summary,
            "files": {suffix: self._content(suffix) for suffix in suffixes},
            "streamed": self._stream is not None,
            "portable": context.portable_results() if is_merging(context) else None,
            "report": report(installations, [context]),
        }

    def _content(self, suffix: str) -> bytes | str:
        """What a file of this format would have now; as text, why there is none: nothing was called here, perhaps."""
        if is_streaming(self.context):
            if self._stream is None or self._stream.suffix != suffix:
                name = type(self.context).__name__
                raise ValueError(f"{name} writes while tasks run: give suffix={suffix!r} when the workers start")
            return self._stream.read_bytes()
        formats = known_formats(self.context)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f"result{suffix}")
            write = formats[chosen_format(formats, path)]
            try:
                write(path)
            except ValueError as problem:
                return str(problem)
            return Path(path).read_bytes()

    def close(self) -> None:
        """Remove the file to which the context writes."""
        if self._stream is not None:
            self._folder.cleanup()
