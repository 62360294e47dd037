"""Times one workload in one way and in plain Python: ``python -m benchmarks.worker WAY WORKLOAD PAIRS SECONDS``.

`compare.py` starts it, in a process for each way and workload. Plain Python and the way take turns in it, with a copy
of the workload each, so that other programs on the machine affect both alike. CPU seconds are measured, not wall clock.
Prints a line of JSON.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import importlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.peers import PEERS, Active, Prepared
from benchmarks.ways import WAYS, Way

WORKLOADS = Path(__file__).parent / "workloads"


def _copy(workload: str, tag: str, folder: Path) -> tuple[str, Path]:
    """Make a copy of the workload that can be imported under a different name."""
    name, below = f"{workload}_{tag}", folder / tag
    below.mkdir()
    shutil.copy(WORKLOADS / f"{workload}.py", below / f"{name}.py")
    sys.path.insert(0, str(below))
    return name, below


def _prepared(way: Way, name: str, folder: Path) -> Prepared:
    if way.peer is not None:
        return PEERS[way.peer](name, folder)
    if way.context is None:
        return importlib.import_module(name), contextlib.nullcontext
    import cassette_import  # plain Python and the peers are measured without it

    cassette_import.install([name])
    module = importlib.import_module(name)
    if way.context == "none":
        return module, contextlib.nullcontext
    return module, functools.partial(_active, way.context.split("+"))


@contextlib.contextmanager
def _active(contexts: list[str]) -> Iterator[None]:
    """Enter contexts, given as `module:type`, each inside the one before it."""
    with contextlib.ExitStack() as stack:
        for context in contexts:
            place, _, maker = context.partition(":")
            stack.enter_context(getattr(importlib.import_module(place), maker)())
        yield


def _timed(main: Callable[[], Any], active: Active, loops: int) -> float:
    """Return the seconds of one run of the workload."""
    gc.collect()
    with active():
        rounds = range(loops)
        start = process_time()
        for _ in rounds:
            main()
        return (process_time() - start) / loops


def _digest(result: object) -> str:
    return hashlib.sha256(repr(result).encode()).hexdigest()


def measure(way: Way, workload: str, pairs: int, seconds: float) -> dict[str, Any]:
    """Return the seconds of plain Python and of the way, run by run, and whether both returned the same."""
    sys.setrecursionlimit(20_000)  # the peers need more frames than a program has by itself
    with tempfile.TemporaryDirectory() as text:
        folder = Path(os.path.realpath(text))
        plain = importlib.import_module(_copy(workload, "plain", folder)[0])
        module, active = _prepared(way, *_copy(workload, "measured", folder))
        expected = _digest(plain.main())
        with active():
            same = _digest(module.main()) == expected
        turns = ((plain.main, contextlib.nullcontext, "plain"), (module.main, active, "way"))
        found: dict[str, list[float]] = {"plain": [], "way": []}
        once = {name: max(_timed(main, manager, 1), 1e-6) for main, manager, name in turns}
        loops = {name: max(1, round(seconds / time)) for name, time in once.items()}
        end = perf_counter() + 40 * seconds + 6 * once["way"]
        while len(found["way"]) < pairs and (not found["way"] or perf_counter() < end):
            for main, manager, name in turns if len(found["way"]) % 2 == 0 else turns[::-1]:
                found[name].append(_timed(main, manager, loops[name]))
    return {"plain": found["plain"], "way": found["way"], "same": same}


if __name__ == "__main__":
    given_way, given_workload, given_pairs, given_seconds = sys.argv[1:]
    result = measure(WAYS[given_way], given_workload, int(given_pairs), float(given_seconds))
    print(json.dumps(result), flush=True)
    os._exit(0)  # some peers do a lot when a program ends
