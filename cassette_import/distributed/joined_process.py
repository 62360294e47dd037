"""A process in which a context is active, and what that context has found in it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from cassette_import.activation.context import Context
from cassette_import.contexts.lookup import context_named
from cassette_import.frontends.reporting.report import merged, report
from cassette_import.importing.installation import Installation, install
from cassette_import.kits.merged_files import merged_file
from cassette_import.kits.reporting import chosen_format, is_merging, is_streaming, known_formats, summary_of

__all__ = ["Description", "GatheredResults", "JoinedProcess", "checked"]


# ---- descriptions of contexts, from which each process makes a context of its own: contexts cannot be sent

Description: TypeAlias = str | Callable[[], Context]
"""A context: text as for `-c`, or what makes one in a worker, such as its type; it must be picklable."""


def _context_of(context: Description) -> Context:
    """A context of a description."""
    return context_named(context) if isinstance(context, str) else context()


def checked(context: Any, suffix: str | None = None) -> Description:
    """The description of a context; raise if no worker can make one of it, or if it has no files with the suffix."""
    if isinstance(context, Context) or not (isinstance(context, str) or callable(context)):
        raise TypeError(f"give the text or the type of a context, which workers make themselves, not {context!r}")
    if isinstance(context, str) or (isinstance(context, type) and suffix):
        example = _context_of(context)  # raises if there is none
        if suffix:
            chosen_format(known_formats(example), suffix)
    description: Description = context
    return description


# ---- a process in which a context is active, and what that context has found in it


class JoinedProcess:
    """A process in which the context is active. `suffix` is the format of a context that writes while it runs."""

    def __init__(self, packages: tuple[str, ...], context: Description, suffix: str | None) -> None:
        self.installation: Installation | None = install(packages) if packages else None
        self.context = _context_of(context)
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


# ---- the results of several processes together: summaries and reports by process and as one, and files


class GatheredResults:
    """What a context has found in several processes.

    Parameters
    ----------
    context:
        The description of the context.
    by_process:
        The results of each process (`JoinedProcess.results`), by its name.
    """

    def __init__(self, context: Description, by_process: Mapping[str, Mapping[str, Any]]) -> None:
        self._context = context
        self._by_process = dict(sorted(by_process.items()))

    def summary(self) -> str:
        """The summary of each process, and of all together if the type of the context adds them up."""
        texts = [f"{name}:\n{one['summary']}" for name, one in self._by_process.items() if one["summary"]]
        together = self._together() if len(texts) > 1 else None
        if together is not None:
            texts.append(f"together:\n{summary_of(together)}")
        return "\n\n".join(texts)

    def report(self) -> dict[str, Any]:
        """The reports of all processes as one."""
        return merged([one["report"] for one in self._by_process.values()])

    def write(self, path: str | os.PathLike[str]) -> list[str]:
        """Write a numbered file for each process, and the file itself if its format has a sum; return their names.

        Raises
        ------
        ValueError
            If no process has anything to write, or their files have another format.
        """
        target = Path(path)
        written: list[str] = []
        if any(target.suffix not in one["files"] for one in self._by_process.values()):
            raise ValueError(
                f"{target}: the processes left no such files; give suffix={target.suffix!r} when they start"
            )
        found = {name: one["files"][target.suffix] for name, one in self._by_process.items()}
        contents = {name: content for name, content in found.items() if not isinstance(content, str)}
        if found and not contents:
            raise ValueError(next(iter(found.values())))
        for number, content in enumerate(contents.values(), 1):
            numbered = target.with_name(f"{target.stem}-{number}{target.suffix}")
            numbered.write_bytes(content)
            written.append(str(numbered))
        if self._write_together(contents, target):
            written.insert(0, str(target))
        return written

    def _write_together(self, contents: Mapping[str, bytes], target: Path) -> bool:
        """Write the file of all processes; return whether there is one in this format."""
        together = self._together()
        if together is not None and is_merging(together):
            formats = together.merged_formats
            if target.suffix in formats:
                formats[target.suffix](str(target))
                return True
        streamed = any(one["streamed"] for one in self._by_process.values())
        content = merged_file(contents, target.suffix, streamed=streamed)
        if content is not None:
            target.write_bytes(content)
        return content is not None

    def _together(self) -> Context | None:
        """A context with the results of all processes; None if there are none, or its type does not add them up."""
        portable = [one["portable"] for one in self._by_process.values() if one["portable"] is not None]
        context = _context_of(self._context) if portable else None
        if context is not None and is_merging(context):
            for one in portable:
                context.add_results(one)
        return context
