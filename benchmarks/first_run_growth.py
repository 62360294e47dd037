"""How first runs grow with a package: `python -m benchmarks.first_run_growth` prints a Markdown table.

A package of modules with a hundred functions each is imported whole, and some of its functions are called once. The
functions have twelve lines, with a call of a method, of a builtin and of another function. Whole processes are
measured, as in `first_runs`: their CPU seconds, the least of some rounds.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.first_runs import Bench

_IN_A_MODULE = 100
_SIZES = ((100, 10), (1000, 10), (10_000, 10), (1000, 100), (10_000, 100), (10_000, 1000))
"""How many functions there are, and how many of them are called."""
_FUNCTION = """
def f{number}(items, limit=3):
    found = []
    for item in items:
        if item > limit:
            found.append(item)
        elif not item:
            continue
        else:
            limit = item
    if len(found) > limit:
        return helper(found)
    return limit
"""
_CONTEXTS = ("nothing", "profile")


def _module(functions: int) -> str:
    made = "".join(_FUNCTION.format(number=number) for number in range(functions))
    return f"def helper(found):\n    return found[0]\n{made}"


def _program(there: int, called: int) -> str:
    """Import all modules, and call the first functions of all modules in turn."""
    modules = math.ceil(there / _IN_A_MODULE)
    imports = "".join(f"import grown.m{number} as m{number}\n" for number in range(modules))
    calls = "".join(f"m{number % modules}.f{number // modules}([1, 5, 0])\n" for number in range(called))
    return f"{imports}{calls}"


def _row(python: str, there: int, called: int, rounds: int) -> Iterator[str]:
    least: dict[str, float] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            package = Path(place, "grown")
            package.mkdir()
            package.joinpath("__init__.py").touch()
            for number in range(math.ceil(there / _IN_A_MODULE)):
                package.joinpath(f"m{number}.py").write_text(_module(min(there, _IN_A_MODULE)), encoding="utf-8")
            bench = Bench(python, ["grown"], _program(there, called), Path(place))
            runs = {"cold": bench.plain("none at all"), "plain": min(bench.plain(), bench.plain())}
            for context in _CONTEXTS:
                bench.plain(context)
                bench.overdubbed("none", caches=context)
                runs[f"{context} first"] = bench.overdubbed(context, caches=context)
                runs[f"{context} second"] = bench.overdubbed(context, caches=context)
        for kind, run in runs.items():
            least[kind] = min(run.seconds, least.get(kind, math.inf))
    yield f"{there:,}"
    yield f"{called:,}"
    yield f"{least['plain']:.2f}"
    yield f"{least['cold']:.2f}"
    for context in _CONTEXTS:
        yield f"{least[f'{context} first']:.2f}"
        yield f"{least[f'{context} second']:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with cassette_import")
    given = parser.parse_args()
    heads = ["functions", "called", "plain, s", "cold, s"]
    for context in _CONTEXTS:
        heads += [f"`{context}` first, s", "second, s"]
    print(f"| {' | '.join(heads)} |")
    print(f"|{'--:|' * len(heads)}")
    for there, called in _SIZES:
        print(f"| {' | '.join(_row(given.python, there, called, given.rounds))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
