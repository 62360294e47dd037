"""The results of several processes together: summaries and reports by process and as one, and files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cassette_import.activation.context import Context
from cassette_import.contexts.common.merged_files import merged_file
from cassette_import.contexts.common.reporting import is_merging, summary_of
from cassette_import.distributed.context_descriptions import Description, made
from cassette_import.frontends.reporting.report import merged

__all__ = ["GatheredResults"]


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
        context = made(self._context) if portable else None
        if context is not None and is_merging(context):
            for one in portable:
                context.add_results(one)
        return context
