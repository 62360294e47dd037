"""The counts of a profile are the same however few call paths it keeps apart."""

import asyncio
import functools
import pstats
import re

import pytest

from cassette_import import overdub
from cassette_import.contexts import Profile

NESTED = [1, [2, [3, [4]]]]


def delegating(tree):
    if isinstance(tree, list):
        for item in tree:
            yield from delegating(item)
    else:
        yield tree


def repeating(tree):
    if isinstance(tree, list):
        for item in tree:
            for leaf in repeating(item):
                yield leaf
    else:
        yield tree


async def awaiting(depth):
    if depth:
        await awaiting(depth - 1)
        await asyncio.sleep(0)
    return depth


async def items(depth):
    if depth:
        async for item in items(depth - 1):
            yield item
        yield depth


async def collect():
    return [item async for item in items(4)]


def summing(depth):
    return 1 if depth == 0 else sum(summing(depth - 1) for _ in range(2))


def key(tree):
    return sum(sorted(tree, key=key)) if isinstance(tree, list) else tree


def reducing(depth):
    return 0 if depth == 0 else functools.reduce(lambda one, other: one + reducing(depth - 1), [1, 2], 0)


def closures(depth):
    def inner(count):
        return 0 if count == 0 else inner(count - 1)

    return inner(depth) + (closures(depth - 1) if depth else 0)


class Tree:
    def __init__(self, depth):
        self.children = [Tree(depth - 1) for _ in range(2)] if depth else []

    def __len__(self):
        return 1 + sum(len(child) for child in self.children)

    def __iter__(self):
        yield self
        for child in self.children:
            yield from child

    @property
    def depth(self):
        return 1 + max((child.depth for child in self.children), default=0)


PROGRAMS = {
    "yield from": lambda: list(delegating(NESTED)),
    "loops over generators": lambda: list(repeating(NESTED)),
    "await": lambda: asyncio.run(awaiting(5)),
    "async for": lambda: asyncio.run(collect()),
    "generator expressions": lambda: summing(3),
    "key functions": lambda: key([1]),
    "callbacks": lambda: reducing(3),
    "closures": lambda: closures(4),
    "special methods": lambda: (len(Tree(3)), len(list(Tree(3))), Tree(3).depth),
}


def counts(program, folder, **options):
    profile = Profile(**options)
    overdub(profile, program)
    path = str(folder / "program.prof")
    profile.formats[".prof"](path)
    return {
        label: (entry[:2], {caller: figures[:2] for caller, figures in entry[4].items()})
        for label, entry in pstats.Stats(path).stats.items()
    }


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("options", [{}, {"sites": True}], ids=["functions", "sites"])
def test_recursion_is_counted_the_same_when_paths_are_folded(name, options, tmp_path):
    exact = counts(PROGRAMS[name], tmp_path)
    for paths in (0, 1, 2, 5, 8):
        assert counts(PROGRAMS[name], tmp_path, paths=paths, **options) == exact, paths


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_first_line_has_the_numbers_of_pstats(name, tmp_path):
    profile, path = Profile(), str(tmp_path / "program.prof")
    with profile:
        PROGRAMS[name]()
    profile.formats[".prof"](path)
    expected = pstats.Stats(path)
    calls, primitive, functions = map(
        int, re.match(r"profile: (\d+) calls? \((\d+) primitive\) of (\d+)", profile.summary()).groups()
    )
    assert (calls, primitive, functions) == (expected.total_calls, expected.prim_calls, len(expected.stats))
