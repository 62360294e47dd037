"""Compiled bodies are cached on disk: a second process compiles nothing, for any hash seed, and behaves the same."""

import textwrap

import pytest
from helpers.command_line import run

MODULE = """
    import math


    class Shape:
        sides: int = 4

        def __init__(self, size):
            self.size = size

        def area(self):
            return self.size * self.size

        @property
        def half(self):
            return [part / 2 for part in (self.size, self.area())]


    def steps(count):
        for number in range(count):
            yield Shape(number)


    def fails(what):
        raise ValueError(f"not {what!r}")


    def main():
        add = lambda total, shape: total + shape.area() + sum(shape.half)
        total = 0
        for shape in steps(count=4):
            total = add(total, shape)
        try:
            fails(what=str(total))
        except ValueError as error:
            return len(str(error)), math.floor(total), max(*shape.half, 1)
"""

DRIVER = """
    import os, sys
    import cassette_import
    from cassette_import.specialization.body_compiler import BodyCompiler

    compiled = []
    make = BodyCompiler._compile

    def _compile(self, unit, variants):
        compiled.append(unit.plain.co_qualname)
        return make(self, unit, variants)

    BodyCompiler._compile = _compile
    from contexts_of_mine import *

    cassette_import.install(["shapes"])
    import shapes

    with CONTEXT:
        result = shapes.main()
    print(result, len(compiled))
"""

CONTEXTS = """
    import math
    from cassette_import import Context, Events
    from cassette_import.contexts import Profile, Trace

    class Count(Context, events=Events.CALLS):
        before = after = failed = 0
        def prehook(self, f, *arguments, **keywords):
            self.before += 1
        def posthook(self, result, f, *arguments, **keywords):
            self.after += 1
        def errorhook(self, exception, f, *arguments, **keywords):
            self.failed += 1

    class CountAll(Count, events=Events.ALL):
        pass

    class Look(Context, events=Events.CALLS | Events.OPERATORS | Events.ATTRIBUTES):
        def prehook(self, f, *arguments, **keywords):
            self.last = f, arguments, keywords
        def posthook(self, result, f, *arguments, **keywords):
            self.result = result

    class Replacing(Context):
        pass

    @Replacing.overdub.register(math.floor)
    def _floor(ctx, f, number):
        return "floor"

    class Tagging(Count, tagging=True):
        pass
"""

NAMES = ["Count()", "CountAll()", "Look()", "Replacing()", "Tagging()", "Profile()", "Trace()", "Count(), Look()"]


@pytest.mark.parametrize("context", NAMES)
def test_a_second_process_compiles_nothing(context, tmp_path):
    (tmp_path / "shapes.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "contexts_of_mine.py").write_text(textwrap.dedent(CONTEXTS))
    (tmp_path / "driver.py").write_text(textwrap.dedent(DRIVER).replace("CONTEXT", context))
    found, files = [], []
    for seed in ("1", "2", "3"):
        done = run("driver.py", folder=tmp_path, PYTHONDONTWRITEBYTECODE="", PYTHONHASHSEED=seed)
        assert done.status == 0, done.stderr
        found.append(done.stdout.rpartition(" "))
        files.append(sorted(path.name for path in (tmp_path / "__pycache__").iterdir()))
    results, _, counts = zip(*found, strict=True)
    assert (results[0], results[1]) == (results[2], results[2])
    assert int(counts[0]) > 0
    assert (int(counts[1]), int(counts[2])) == (0, 0)
    assert files[0] == files[1] == files[2]
