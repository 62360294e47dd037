"""Programs that compute, in one process and with `parallel`: ``python -m benchmarks.parallel_programs``.

Other programs use the processors of most machines, so elapsed times say little. The processor time of each thread of
the run says how fast it can be on idle processors: no faster than its busiest thread. This time includes what starts
the workers. Needs the extra `distributed`, Pillow and psutil.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

IMAGES = """
from PIL import Image, ImageFilter, ImageStat

def features(path):
    with Image.open(path) as image:
        small = image.convert("RGB").resize((512, 384), Image.Resampling.LANCZOS)
    edges = small.convert("L").filter(ImageFilter.FIND_EDGES)
    smooth = small.filter(ImageFilter.GaussianBlur(4))
    return ImageStat.Stat(smooth).mean + ImageStat.Stat(edges).stddev, edges.histogram()
"""
IMAGES_PROGRAM = """
import pathlib
import sys
import image_features

rows = []
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.jpg")):
    rows.append((path.name, image_features.features(path)))
for name, (means, histogram) in rows:
    print(name, " ".join(f"{mean:.3f}" for mean in means), histogram.index(max(histogram)))
"""
IMAGES_PROGRAM_OF_A_LIST = """
import pathlib
import sys
import image_features

paths = sorted(pathlib.Path(sys.argv[1]).glob("*.jpg"))
rows = [image_features.features(path) for path in paths]
for path, (means, histogram) in zip(paths, rows):
    print(path.name, " ".join(f"{mean:.3f}" for mean in means), histogram.index(max(histogram)))
"""
FILES = """
import ast
import collections
import tokenize

def features(path):
    with tokenize.open(path) as file:
        text = file.read()
    kinds = collections.Counter(type(node).__name__ for node in ast.walk(ast.parse(text)))
    with open(path, "rb") as file:
        tokens = sum(1 for _ in tokenize.tokenize(file.readline))
    loops = kinds["For"] + kinds["While"]
    return {"lines": text.count("\\n"), "tokens": tokens, "calls": kinds["Call"], "loops": loops}
"""
FILES_PROGRAM = """
import pathlib
import sys
import file_features

table = {}
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    if {"site-packages", "test", "tests", "lib2to3"} & set(path.parts):
        continue
    row = file_features.features(str(path))
    table[str(path)] = row
total = {key: sum(row[key] for row in table.values()) for key in ("lines", "tokens", "calls", "loops")}
print(len(table), total)
print(max(table, key=lambda name: table[name]["tokens"]))
"""
SEARCH = """
import random

def loss(rate, steps, seed):
    draw = random.Random(seed)
    points = [(x, 3 * x + draw.gauss(0, 0.1)) for x in (draw.random() for _ in range(400))]
    slope = 0.0
    for _ in range(steps):
        slope -= rate * sum((slope * x - y) * x for x, y in points) / len(points)
    return sum((slope * x - y) ** 2 for x, y in points) / len(points)
"""
SEARCH_PROGRAM = """
import itertools
import sys
from fits import loss

def search():
    losses = {}
    for rate, steps in itertools.product((0.05, 0.1, 0.2, 0.5, 1.0), map(int, sys.argv[1:])):
        losses[rate, steps] = [loss(rate, steps, seed) for seed in range(4)]
    return losses

found = search()
for setting, values in found.items():
    print(setting, values)
print(min(found, key=lambda setting: sum(found[setting])))
"""
NOTHING = "def nothing(number):\n    return number\n"
NOTHING_PROGRAM = "import idle, sys\nprint([idle.nothing(number) for number in range(int(sys.argv[1]))])\n"


class Program(NamedTuple):
    """A program that knows nothing of tasks."""

    name: str
    module: str
    source: str
    target: str
    program: str
    arguments: tuple[str, ...] = ()
    """What the program computes with; without them, a folder of images."""

    @property
    def context(self) -> str:
        """The option `-c` with which it runs on two workers."""
        return f"parallel:targets={self.module}:{self.target},workers=2"

    def write(self, folder: Path) -> str:
        """Write the program and its module; return the name of the program."""
        (folder / f"{self.module}.py").write_text(self.source)
        (folder / "program.py").write_text(self.program)
        return "program.py"


IDLE = Program(
    "nothing: two calls, so this is what starts workers", "idle", NOTHING, "nothing", NOTHING_PROGRAM, ("2",)
)
LOOP_OF_IMAGES = Program("features of images, a loop", "image_features", IMAGES, "features", IMAGES_PROGRAM)
LIST_OF_IMAGES = Program("features of images, a list", "image_features", IMAGES, "features", IMAGES_PROGRAM_OF_A_LIST)
FEATURES_OF_FILES = Program(
    "features of Python files", "file_features", FILES, "features", FILES_PROGRAM, (str(Path(os.__file__).parent),)
)
SEARCH_FOR_PARAMETERS = Program("search for parameters", "fits", SEARCH, "loss", SEARCH_PROGRAM, ("4000", "8000"))
PROGRAMS = (IDLE, LOOP_OF_IMAGES, LIST_OF_IMAGES, FEATURES_OF_FILES, SEARCH_FOR_PARAMETERS)


class Run(NamedTuple):
    """What a run took, in seconds."""

    output: str
    elapsed: float
    threads: Mapping[tuple[int, int], float]
    """The processor time of each thread, by process and thread."""

    @property
    def total(self) -> float:
        """The processor time of all threads."""
        return sum(self.threads.values())

    @property
    def busiest(self) -> float:
        """The processor time of the busiest thread, or of a worker with all its threads."""
        return max([*self.threads.values(), *self.by_process().values()])

    def by_process(self) -> dict[int, float]:
        """The processor time of each process."""
        sums: dict[int, float] = {}
        for (process, _), seconds in self.threads.items():
            sums[process] = sums.get(process, 0.0) + seconds
        return sums


def observed(command: list[str], folder: Path) -> Run:
    """Run a command, and look at the threads of its processes until it ends."""
    import psutil

    start = time.perf_counter()
    threads: dict[tuple[int, int], float] = {}
    known: dict[int, Any] = {}
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        top = psutil.Process(running.pid)
        while running.poll() is None:
            try:
                known.update({one.pid: one for one in (top, *top.children(recursive=True)) if one.pid not in known})
            except psutil.Error:
                pass
            for process in known.values():
                try:
                    threads.update(
                        {(process.pid, one.id): one.user_time + one.system_time for one in process.threads()}
                    )
                except psutil.Error:  # it has ended
                    pass
            time.sleep(0.05)
        output, errors = running.communicate()
    if running.returncode:
        raise RuntimeError(errors)
    return Run(output, time.perf_counter() - start, threads)


def make_images(folder: Path, count: int, size: tuple[int, int] = (2000, 1500)) -> None:
    """A folder of photographs: pictures of smooth shapes with noise, as JPEG."""
    from PIL import Image, ImageFilter

    for number in range(count):
        noise = Image.effect_noise((200, 150), 40.0 + number).filter(ImageFilter.GaussianBlur(3))
        bands = [noise.rotate(90 * turn).resize(size) for turn in range(3)]
        Image.merge("RGB", bands).save(folder / f"{number:03}.jpg", quality=90)


def main(say: Callable[[str], None] = print) -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "images").mkdir()
        make_images(folder / "images", options.images)
        say("program | CPU in one process | CPU of all threads | processes | threads of the program | bound | elapsed")
        for one in PROGRAMS:
            if options.only not in one.name:
                continue
            arguments = [one.write(folder), *(one.arguments or ["images"])]
            tasks = [sys.executable, "-m", "cassette_import", "run", "-c", one.context, *arguments]
            for _ in range(options.times):
                plain = observed([sys.executable, *arguments], folder)
                found = observed(tasks, folder)
                assert found.output == plain.output, "the outputs differ"
                processes = sorted(found.by_process().items())
                of_program = sorted((t for (p, _), t in found.threads.items() if p == processes[0][0]), reverse=True)
                say(
                    f"{one.name} | {plain.total:.2f} | {found.total:.2f} | "
                    f"{', '.join(f'{seconds:.2f}' for _, seconds in processes)} | "
                    f"{', '.join(f'{seconds:.2f}' for seconds in of_program[:3])} | "
                    f"{plain.total / found.busiest:.2f} | {plain.elapsed:.1f} : {found.elapsed:.1f}"
                )


if __name__ == "__main__":
    main()
