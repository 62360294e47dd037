"""Files that contexts wrote in several processes, as one file: sums of profiles, and traces one after the other."""

from __future__ import annotations

import io
import json
import marshal
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = ["merged_file"]

_Merger: TypeAlias = Callable[[Mapping[str, bytes]], bytes | None]
"""Makes one content of those of several processes, which are given by the names of the processes."""


def merged_file(contents: Mapping[str, bytes], suffix: str, *, streamed: bool) -> bytes | None:
    """One content for the contents of several processes; None if the format has no sum.

    Parameters
    ----------
    contents:
        The contents, by the name of the process.
    suffix:
        The format.
    streamed:
        Whether the files are traces, which were written while the processes ran.

    Example
    -------
    >>> merged_file({"one": b"main;load 3\\n", "two": b"main;load 4\\nmain 1\\n"}, ".collapsed", streamed=False)
    b'main;load 7\\nmain 1\\n'
    """
    merge = (_OF_TRACES if streamed else _OF_SUMS).get(suffix)
    return None if merge is None or not contents else merge(contents)


def _profile(contents: Mapping[str, bytes]) -> bytes:
    """Profiles in the format of `pstats`."""
    import pstats

    with tempfile.TemporaryDirectory() as folder:
        paths: list[str] = []
        for content in contents.values():
            paths.append(os.path.join(folder, f"{len(paths)}.prof"))
            Path(paths[-1]).write_bytes(content)
        everything: Any = pstats.Stats(*paths, stream=io.StringIO())
        return marshal.dumps(everything.stats)


def _collapsed_stacks(contents: Mapping[str, bytes]) -> bytes:
    """Lines of a call path and a number."""
    total: Counter[str] = Counter()
    for content in contents.values():
        for line in content.decode().splitlines():
            path, _, number = line.rpartition(" ")
            total[path] += int(number)
    return "".join(f"{path} {number}\n" for path, number in total.items()).encode()


def _flame_graph(contents: Mapping[str, bytes]) -> bytes | None:
    """Pages with flame graphs; other pages have no sum."""
    from cassette_import.kits.calls.flamegraph.merging import merged_page

    page = merged_page({name: content.decode() for name, content in contents.items()}, "profile of all processes")
    return None if page is None else page.encode()


def _tree(contents: Mapping[str, bytes]) -> bytes:
    """Texts, each below the name of its process."""
    return b"\n".join(f"{name}:\n".encode() + content for name, content in contents.items())


def _json_lines(contents: Mapping[str, bytes]) -> bytes:
    """JSON objects, one a line, each with the name of its process."""
    lines = [
        json.dumps({**json.loads(line), "process": name})
        for name, content in contents.items()
        for line in content.decode().splitlines()
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _chrome_trace(contents: Mapping[str, bytes]) -> bytes:
    """Trace events of Chrome: each process has the number of its content, and its name."""
    events: list[dict[str, Any]] = []
    for number, (name, content) in enumerate(contents.items(), 1):
        events.append({"name": "process_name", "ph": "M", "pid": number, "tid": 0, "args": {"name": name}})
        events += [{**event, "pid": number} for event in _events(content.decode())]
    return json.dumps(events).encode()


def _events(text: str) -> Iterable[dict[str, Any]]:
    """The events of a list that may lack its end."""
    text = text.strip()
    found: list[dict[str, Any]] = json.loads(text if text.endswith("]") else f"{text or '['}]")
    return found


_OF_SUMS: Final[Mapping[str, _Merger]] = {
    ".prof": _profile,
    ".collapsed": _collapsed_stacks,
    ".folded": _collapsed_stacks,
    ".html": _flame_graph,
}
_OF_TRACES: Final[Mapping[str, _Merger]] = {
    ".txt": _tree,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _chrome_trace,
}
