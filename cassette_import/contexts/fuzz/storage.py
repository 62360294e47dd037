"""The folder of a fuzzed function: its corpus, and its findings with their tests.

Each file is written at once or not at all, so a process that is killed leaves whole files.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, Final

from cassette_import.contexts.fuzz.inputs import decoded, encoded, suffix_of

__all__ = ["Folder"]

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
