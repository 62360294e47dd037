"""The first and the second run of programs: `python benchmarks/first_runs.py [NAME ...]` prints a Markdown table.

Each program of `first_runs.toml` runs in processes of its own, whose CPU seconds are measured with those of their
children; the least of some rounds counts. `.pyc` files and the files of the cache are in a folder of their own.

* plain: `python program.py`, with `.pyc` files; cold: the same without any
* none: `python -m cassette_import run -p PACKAGES -c none program.py`
* first: `... -c CONTEXT program.py`, with `.pyc` files and without cached bodies; second: the same once more

The context `nothing` replaces a function that no program calls: it costs what beginning costs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

NOTHING = """
import time
from cassette_import import Context


class Nothing(Context):
    pass


@Nothing.overdub.register(time.ctime)
def _(ctx, f, *arguments):
    return f(*arguments)
"""
NAMES = {"nothing": "nothing_context:Nothing"}
PROGRAMS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class Run(NamedTuple):
    """What one process took."""

    seconds: float
    output: str


class Bench:
    """Runs one program."""

    def __init__(self, python: str, packages: list[str], text: str, folder: Path) -> None:
        self._python = python
        self._folder = folder
        self._packages = ",".join(packages)
        folder.joinpath("program.py").write_text(text, encoding="utf-8")
        folder.joinpath("nothing_context.py").write_text(NOTHING, encoding="utf-8")
        self._run("-c", "import cassette_import")

    def _run(self, *words: str, caches: str = "warm") -> Run:
        left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        environment |= {"PYTHONPYCACHEPREFIX": str(self._folder / caches), "PYTHONHASHSEED": "0"}
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            [self._python, *words], env=environment, cwd=self._folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        output, errors = process.communicate()
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode:
            raise RuntimeError(errors.decode().strip().splitlines()[-1])
        seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
        return Run(seconds, output.decode())

    def plain(self, caches: str = "warm") -> Run:
        return self._run("program.py", caches=caches)

    def overdubbed(self, context: str, *options: str, caches: str = "warm") -> Run:
        context = NAMES.get(context, context)
        words = ("-m", "cassette_import", "run", "-p", self._packages, "-c", context, *options, "program.py")
        return self._run(*words, caches=caches)

    def functions(self, context: str) -> int:
        """How many functions a first run specialises."""
        self.overdubbed(context, "--report", "report.json", caches="report")
        report = json.loads(self._folder.joinpath("report.json").read_text(encoding="utf-8"))
        return int(report["specialising"]["functions"])


def measured(python: str, name: str, contexts: list[str], rounds: int) -> dict[str, float]:
    """CPU seconds of one program, by kind of run."""
    least: dict[str, float] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            bench = Bench(python, PROGRAMS[name]["packages"], PROGRAMS[name]["text"], Path(place))
            runs = {"cold": bench.plain("none at all"), "plain": min(bench.plain(), bench.plain())}
            bench.overdubbed("none")
            runs["none"] = bench.overdubbed("none")
            for context in contexts:
                caches = re.sub(r"\W", "", context)
                bench.plain(caches)
                bench.overdubbed("none", caches=caches)
                runs[f"{context} first"] = bench.overdubbed(context, caches=caches)
                runs[f"{context} second"] = bench.overdubbed(context, caches=caches)
                expected = runs["plain"].output
                if not all(run.output.startswith(expected) for run in runs.values()):
                    raise RuntimeError(f"{name}: the output in {context} differs")
            for kind, run in runs.items():
                least[kind] = min(run.seconds, least.get(kind, math.inf))
            least["functions"] = bench.functions(contexts[0])
    return least


def table(found: dict[str, dict[str, float]], contexts: list[str]) -> str:
    """A Markdown table: a row for each program, and the geometric means of the ratios."""
    heads = ["plain, s", "cold, s", "functions", "`none` / plain"]
    ratios = [("none", "plain")]
    for context in contexts:
        heads += [f"`{context}` first / cold", "second / plain"]
        ratios += [(f"{context} first", "cold"), (f"{context} second", "plain")]
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for name, times in found.items():
        cells = [f"{times['plain']:.2f}", f"{times['cold']:.2f}", f"{times['functions']:.0f}"]
        cells += [f"{times[kind] / times[to]:.2f}" for kind, to in ratios]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    means = [math.exp(sum(math.log(times[a] / times[b]) for times in found.values()) / len(found)) for a, b in ratios]
    lines.append(f"| geometric mean | | | | {' | '.join(f'**{mean:.2f}**' for mean in means)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; all by default")
    parser.add_argument("--context", action="append", help="default: nothing and profile")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with the packages and cassette_import")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in PROGRAMS]
    if unknown:
        parser.error(f"no program {unknown[0]}; there are {', '.join(PROGRAMS)}")
    contexts = given.context or ["nothing", "profile"]
    found = {}
    for name in given.names or PROGRAMS:
        try:
            found[name] = measured(given.python, name, contexts, given.rounds)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
    if found:
        print(table(found, contexts))
    return 0 if found else 2


if __name__ == "__main__":
    sys.exit(main())
