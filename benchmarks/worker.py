"""Times one workload in one way: ``python -m benchmarks.worker WAY WORKLOAD LOOPS WARMUPS VALUES FILE``.

`compare.py` starts it; pyperf takes the values and writes them. CPU seconds are measured, not wall clock: other
processes of the machine then matter least.
"""

from __future__ import annotations

import contextlib
import cProfile
import gc
import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from time import process_time
from typing import Any

import pyperf

from benchmarks.counting_profiler import Counter
from benchmarks.ways import WAYS

PACKAGE = "benchmarks.workloads"


@contextlib.contextmanager
def _under_setprofile() -> Iterator[None]:
    sys.setprofile(Counter().profile)
    try:
        yield
    finally:
        sys.setprofile(None)


def _installed(context: str | None) -> AbstractContextManager[Any]:
    """Install the workloads, and make what the way wants to be active while they run."""
    if context is None:
        return contextlib.nullcontext()
    import cassette_import  # plain Python is measured without it

    cassette_import.install([PACKAGE])
    if context == "none":
        return contextlib.nullcontext()
    module, _, name = context.partition(":")
    made: AbstractContextManager[Any] = getattr(importlib.import_module(module), name)()
    return made


def _timed(main: Callable[[], Any], active: Callable[[], AbstractContextManager[Any]]) -> Callable[[int], float]:
    def run(loops: int) -> float:
        rounds = range(loops)
        gc.collect()
        with active():
            start = process_time()
            for _ in rounds:
                main()
            return process_time() - start

    return run


def measure(way: str, workload: str, loops: str, warmups: str, values: str, file: str) -> None:
    """Time a workload; the values go to a file, together with what identifies its result."""
    context = _installed(WAYS[way].context)
    active: Callable[[], AbstractContextManager[Any]] = lambda: context
    if way == "setprofile":
        active = _under_setprofile
    elif way == "cprofile":
        active = cProfile.Profile
    main = importlib.import_module(f"{PACKAGE}.{workload}").main
    with active():
        result = repr(main())
    run = _timed(main, active)
    if loops == "calibrate":
        loops = str(max(1, round(0.02 / max(run(1), 1e-6))))
    sys.argv = [sys.argv[0]]
    runner = pyperf.Runner()
    runner.parse_args(["--worker", "--quiet", "--loops", loops, "--warmups", warmups, "--values", values])
    benchmark = runner.bench_time_func(workload, run, metadata={"result": hashlib.sha256(result.encode()).hexdigest()})
    if os.path.exists(file):
        os.remove(file)
    benchmark.dump(file)


if __name__ == "__main__":
    measure(*sys.argv[1:])
