"""One run of one fuzzer in a process of its own: `python -m benchmarks.fuzzing_run TOOL TARGET SEED SECONDS FOLDER`.

The inputs that the tool keeps are files in the folder. The kernel ends the process when it has used its seconds of the
processor: all tools write what they find at once, so nothing is lost. `benchmarks/fuzzing.py` starts these processes.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import random
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.fuzzing_targets import HERE, TARGETS, Target

MEMORY: Final = 4 << 30


def by_fuzz(target: Target, seed: int, folder: Path) -> None:
    from cassette_import.contexts.fuzz import fuzz

    fuzz(
        target.call(),
        [target.first],
        seconds=1e6,
        packages=list(target.modules),
        allowed=Exception,
        output=folder.parent,
        seed=seed,
        progress=sys.stderr,
    )


def by_atheris(target: Target, seed: int, folder: Path) -> None:
    """atheris with its hooks for texts and regular expressions."""
    import atheris

    atheris.enabled_hooks.add("str")
    atheris.enabled_hooks.add("RegEx")
    with atheris.instrument_imports(include=list(target.modules)):
        for module in target.modules:
            sys.modules.pop(HERE, None) if module == HERE else None
            importlib.import_module(module)
    call = target.call()
    is_text = isinstance(target.first, str)

    def one(data: bytes) -> None:
        with contextlib.suppress(Exception):
            call(data.decode("utf-8", "ignore") if is_text else data)

    limits = ["-timeout=60", "-rss_limit_mb=0", "-malloc_limit_mb=0", "-verbosity=1", "-print_final_stats=0"]
    atheris.Setup([sys.argv[0], f"-seed={seed + 1}", *limits, str(folder)], one)
    atheris.Fuzz()


def by_hypofuzz(target: Target, seed: int, folder: Path) -> None:
    """HypoFuzz without its dashboard: the loop of one worker with one test."""
    from hypofuzz import corpus
    from hypofuzz.database import HypofuzzDatabase
    from hypofuzz.hypofuzz import FuzzTarget
    from hypothesis import given, strategies
    from hypothesis.database import InMemoryExampleDatabase

    call = target.call()
    last: list[Any] = [target.first]

    @given(strategies.text() if isinstance(target.first, str) else strategies.binary())
    def test(value: Any) -> None:
        last[0] = value
        with contextlib.suppress(Exception):
            call(value)

    considered = corpus.Corpus.consider_coverage

    def consider(self: Any, *arguments: Any, **keywords: Any) -> None:
        before = len(self.corpus)
        considered(self, *arguments, **keywords)
        if len(self.corpus) > before:
            keep(folder, last[0])

    corpus.Corpus.consider_coverage = consider  # type: ignore[method-assign,assignment]
    worker = FuzzTarget.from_hypothesis_test(test, database=HypofuzzDatabase(InMemoryExampleDatabase()))
    worker.random = random.Random(seed)
    worker._enter_fixtures()
    while True:
        worker.run_one()


def keep(folder: Path, value: Any) -> None:
    contents = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    (folder / hashlib.sha256(contents).hexdigest()[:16]).write_bytes(contents)


TOOLS: Final[dict[str, Callable[[Target, int, Path], None]]] = {
    "fuzz": by_fuzz,
    "atheris": by_atheris,
    "hypofuzz": by_hypofuzz,
}


def main() -> None:
    tool, name, seed, seconds, folder = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    if tool != "atheris":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    TOOLS[tool](TARGETS[name], int(seed), Path(folder))


if __name__ == "__main__":
    main()
