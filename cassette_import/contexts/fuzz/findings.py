"""Findings: exceptions of the function under test, each call site once, and the tests that show them."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any, Final

from cassette_import.contexts.fuzz.inputs import decoded, encoded, is_huge, suffix_of
from cassette_import.contexts.fuzz.running import LaterResult, TooSlow
from cassette_import.kits.events import CallSite, call_site_at

__all__ = ["Finding", "Folder", "Key", "finding_key", "importable", "test_source"]

# ---- the folder of a fuzzed function: its corpus, and its findings with their tests
#
# Each file is written at once or not at all, so a process that is killed leaves whole files.

_SUFFIXES: Final = (".txt", ".bin", ".json")


class Folder:
    """Where inputs and findings are kept.

    Parameters
    ----------
    path:
        The folder; it is made if need be. None to keep nothing.

    The corpus is in `corpus`, the inputs of findings in `findings`; the tests are beside these folders.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path).absolute()  # a function may change the folder
        self._number = 0
        if self.path is not None:
            for name in ("corpus", "findings"):
                (self.path / name).mkdir(parents=True, exist_ok=True)

    def inputs(self) -> list[Any]:
        """The inputs of earlier runs: the corpus in the order in which it was found, then those of findings."""
        if self.path is None:
            return []
        found = []
        for name in ("corpus", "findings"):
            for file in sorted((self.path / name).iterdir()):
                if file.suffix in _SUFFIXES and not file.name.startswith("."):
                    try:
                        found.append(decoded(file.read_bytes(), file.suffix))
                    except ValueError as error:
                        raise ValueError(f"{file} keeps no input: {error}; remove it") from error
        self._number = sum(1 for _ in (self.path / "corpus").iterdir())
        return found

    def keep(self, value: Any) -> None:
        """Add an input to the corpus."""
        if self.path is None:
            return
        contents = encoded(value)
        digest = hashlib.sha256(contents).hexdigest()[:12]
        suffix = suffix_of(value)
        if not any((self.path / "corpus").glob(f"*-{digest}{suffix}")):
            self._number += 1
            _write(self.path / "corpus" / f"{self._number:06}-{digest}{suffix}", contents)

    def keep_finding(self, name: str, value: Any, test: str | None) -> None:
        """Write the input of a finding, and its test."""
        if self.path is not None:
            _write(self.path / "findings" / f"{name}{suffix_of(value)}", encoded(value))
            if test is not None:
                _write(self.path / f"test_{name}.py", test.encode("utf-8"))


def _write(path: Path, contents: bytes) -> None:
    """Write a file so that it is there as a whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    with open(unfinished, "wb") as file:
        file.write(contents)
        file.flush()
    os.replace(unfinished, path)


# ---- findings: exceptions of the function under test, each call site once, and the tests that show them

Key = tuple[str, str, str, str, int]
"""What makes two exceptions the same finding: the module and name of the type, and the file, function and line."""

_WHERE_IT_TURNS: Final = 60
"""So many of the innermost frames of a recursion tell which functions call each other."""


@dataclass
class Finding:
    """An input for which the function raises an exception.

    Attributes
    ----------
    input:
        The smallest input that was found.
    exception:
        The exception that the function raised for it.
    callsite:
        The innermost place in the packages: of a recursion without end, the function that occurs most often.
    executions:
        After how many executions it was found.

    Example
    -------
    >>> from cassette_import.contexts.fuzz import fuzz
    >>> [found] = fuzz(lambda text: text.index("b"), ["b"], executions=200)
    >>> found.input, found.exception
    ('', ValueError('substring not found'))
    """

    input: Any
    exception: BaseException
    callsite: CallSite
    executions: int = 0

    def __str__(self) -> str:
        try:
            text = repr(self.input)
        except ValueError:  # it has an integer with too many digits
            text = _literal(self.input)
        shown = text if len(text) <= 200 else f"{text[:200]}…"
        message = _message(self.exception)
        error = type(self.exception).__name__ + (f": {message}" if message else "")
        return f"{error}\n  at {self.callsite}\n  for {shown}"

    @property
    def name(self) -> str:
        """A name for files: the same for the same type and function."""
        place = self.callsite
        text = f"{type(self.exception).__qualname__} {place.module} {place.function} {place.source}"
        words = re.sub(r"\W+", "_", f"{type(self.exception).__name__}_in_{place.function}").strip("_").lower()
        return f"{words[:60]}_{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def finding_key(error: BaseException, is_covered: Callable[[str], bool]) -> tuple[Key, CallSite]:
    """What tells an exception from others, and its place.

    Parameters
    ----------
    error:
        An exception with its traceback.
    is_covered:
        Whether a file belongs to the packages.
    """
    frames = [(one.tb_frame.f_code, one.tb_lasti, one.tb_lineno, one.tb_frame.f_globals) for one in _chain(error)]
    own = [frame for frame in frames if is_covered(frame[0].co_filename)] or frames
    if isinstance(error, (RecursionError, TooSlow)) and own:
        turning = own[-_WHERE_IT_TURNS:] if isinstance(error, RecursionError) else own
        counts = Counter((code.co_filename, code.co_firstlineno) for code, *_ in turning)
        most = max(counts.values()) / 2
        file, first = min(place for place, count in counts.items() if count >= most)
        own = [frame for frame in own if (frame[0].co_filename, frame[0].co_firstlineno) == (file, first)]
    code, instruction, line, names = own[-1]
    site = _site(code, instruction, line, names)
    number = code.co_firstlineno if isinstance(error, (RecursionError, TooSlow)) else line
    kind = type(error)  # by its name: the function may make the class anew for each exception
    return (kind.__module__, kind.__qualname__, code.co_filename, code.co_qualname, number), site


def _chain(error: BaseException) -> list[TracebackType]:
    found, traceback = [], error.__traceback__
    while traceback is not None:
        found.append(traceback)
        traceback = traceback.tb_next
    return found


def _site(code: CodeType, instruction: int, line: int, names: dict[str, Any]) -> CallSite:
    positions = list(code.co_positions())
    known = positions[instruction // 2] if 0 <= instruction // 2 < len(positions) else (line, line, None, None)
    return call_site_at(code, (line, *known[1:]), names)


def importable(f: Any) -> tuple[str, str] | None:
    """The module from which a test can import a function, and its path there; None if no test can.

    >>> importable(importable)
    ('cassette_import.contexts.fuzz.findings', 'importable')
    """
    module, path = getattr(f, "__module__", None), getattr(f, "__qualname__", "")
    if not module or module == "__main__" or "<" in path or module not in sys.modules:
        return None
    found: Any = sys.modules[module]
    for name in path.split("."):
        found = getattr(found, name, None)
    inner = getattr(getattr(found, "hypothesis", None), "inner_test", None)
    if inner is f:
        return module, f"{path}.hypothesis.inner_test"
    return (module, path) if found == f else None  # another object may have the name by now; methods are made anew


def test_source(finding: Finding, module: str, function: str, timeout: float | None, later: LaterResult | None) -> str:
    """The source of a pytest file that fails as long as the function raises the exception.

    Parameters
    ----------
    finding:
        The finding.
    module, function:
        Where the function is imported from.
    timeout:
        The seconds that a run may take; None for no bound.
    later:
        How the function's results are run, if they run later.
    """
    lines = [f'"""{type(finding.exception).__name__} at {_place(finding.callsite)}"""', ""]
    slow = isinstance(finding.exception, TooSlow)
    root, _, rest = function.partition(".")
    modules = sorted({*(["faulthandler"] if slow else []), *([later.module] if later is not None else [])})
    lines += [*(f"import {name}" for name in modules), ""] if modules else []
    name = "function" if root.lower().startswith("test") else root  # pytest would run it, too
    lines += [
        f"from {module} import {root}" + (f" as {name}" if name != root else ""),
        "",
        f"INPUT = {_literal(finding.input)}",
        "",
        "",
    ]
    lines += [f"def test_{finding.name}():"]
    call = f"{name}{f'.{rest}' if rest else ''}(INPUT)"
    run = [line.format(call=call) for line in (later.lines if later is not None else ("{call}",))]
    if slow:
        run = [
            f"faulthandler.dump_traceback_later({timeout!r}, exit=True)  # it took longer",
            *run,
            "faulthandler.cancel_dump_traceback_later()",
        ]
    else:
        raised = f"{type(finding.exception).__name__}: {_comment(_message(finding.exception))}"
        run[0] += f"  # {raised}"
    lines += [f"    {line}" if line else "" for line in run]
    return "\n".join(lines) + "\n"


def _message(error: BaseException) -> str:
    """The first line of what an exception says; empty if it says nothing, or cannot."""
    try:
        return (str(error).splitlines() or [""])[0]
    except Exception:
        return ""


def _comment(message: str) -> str:
    return message.encode("ascii", "backslashreplace").decode()[:80].rstrip()


def _place(site: CallSite) -> str:
    return f"{site.module}, line {site.lineno}, in {site.function}".encode("ascii", "backslashreplace").decode()


def _literal(value: Any) -> str:
    """The source of a value; `nan` and `inf` are no names of Python."""
    if type(value) is float and repr(value).strip("-") in ("nan", "inf"):
        return f'float("{value!r}")'
    if type(value) is int and is_huge(value):
        return hex(value)
    if type(value) is list:
        return f"[{', '.join(map(_literal, value))}]"
    if type(value) is dict:
        return f"{{{', '.join(f'{key!a}: {_literal(item)}' for key, item in value.items())}}}"
    return _shortened(value)


def _shortened(value: Any) -> str:
    """The source of a text: one with a long run of a piece is written as a product."""
    if type(value) in (str, bytes) and len(value) > 200:
        for size in range(1, 5):
            pattern: Any = f"(?s)(.{{{size}}})\\1{{40,}}"
            match = re.search(pattern if type(value) is str else pattern.encode(), value)
            if match is not None:
                product = f"{match[1]!a} * {len(match[0]) // size}"
                before, after = value[: match.start()], value[match.end() :]
                parts = [_shortened(before)] * bool(before) + [product] + [_shortened(after)] * bool(after)
                return " + ".join(parts)
    return ascii(value)
