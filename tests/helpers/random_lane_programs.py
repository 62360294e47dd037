"""Random programs: functions of numbers with nested control flow, exceptions, shared lists and objects.

All functions that they call are exact, so that the results of lanes and of a loop must be equal.
"""

from __future__ import annotations

import math
import random
import struct
from typing import Any

PRELUDE = """
import contextlib
import math

from helpers.random_lane_prelude import Box, Failure, fill, helper, pair, recursive


"""

VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, 7.0, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 100.0, 3.0]
INTEGERS = [0, 1, -1, 2, 3, 5, -7, 10, 2**31, -(2**62), 2**63 - 1, 4, 6, 8, 12, 20]


class Writer:
    """Writes one random function."""

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.lines: list[str] = []
        self.counters = 0
        self.size = 0

    def choose(self, *options: Any) -> Any:
        return options[self.random.randrange(len(options))]

    def number(self) -> str:
        return self.choose(
            "x", "y", "n", "a", "b", "c", "k", "0", "1", "2", "0.5", "-1.5", "3", "s[0]", "s[1]", "box.value"
        )

    def expression(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.25:
            return self.number()
        one, other = self.expression(depth - 1), self.expression(depth - 1)
        return self.choose(
            f"({one} + {other})",
            f"({one} - {other})",
            f"({one} * {other})",
            f"({one} / {other})",
            f"({one} // {other})",
            f"({one} % {other})",
            f"-{one}",
            f"abs({one})",
            f"min({one}, {other})",
            f"max({one}, {other}, 1)",
            f"({one} if {self.test()} else {other})",
            f"({one} or {other})",
            f"({one} and {other})",
            f"math.floor({one})",
            f"int({one})",
            f"round({one})",
            f"float({one})",
            f"math.copysign({one}, {other})",
            f"math.sqrt({one})",
            f"math.fmod({one}, {other})",
            f"helper({one}, {other})",
            f"recursive({self.choose('k', '3', 'int(c)')}, {one})",
            f"s[{self.choose('0', '1', '2', 'k % 3', 'k')}]",
            f"table[{self.choose('k', 'n', 'k % 4')}]",
            f"sorted([{one}, {other}, 1])[{self.choose(0, 1)}]",
            f"sum([{one}, {other}])",
            f"box.add({one})",
            f"pair({one})[0]",
            f"closure({one})",
            f"divmod({one}, {other})[0]",
            f"[{one}, {other}][{self.test()}]",
            f"d.get({self.choose('k', '1')}, {one})",
            "box.half",
            "len(s)",
        )

    def test(self, depth: int = 1) -> str:
        one, other = self.number(), self.number()
        simple = self.choose(
            f"{one} < {other}",
            f"{one} <= {other} < 5",
            f"{one} == {other}",
            f"{one} != {other}",
            f"{one} > 0",
            f"not {one}",
            f"isinstance({one}, float)",
            f"{one} in (0, 1, 2.5)",
            "v is None",
            "v is not None",
            f"math.isnan({one})",
            f"0 < {one} < {other} < 9",
            f"type({one}) is int",
            "k & 1",
        )
        if depth and self.random.random() < 0.3:
            return f"({simple} {self.choose('and', 'or')} {self.test(depth - 1)})"
        return str(simple)

    def write(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, indent: int, loop: bool, depth: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.size += 1
            self.statement(indent, loop, depth if self.size < 40 else 0)

    def statement(self, indent: int, loop: bool, depth: int) -> None:
        kinds = ["assign"] * 4 + ["augment", "list", "attribute", "call", "unpack", "dict", "property", "none", "late"]
        if depth:
            kinds += ["if"] * 4 + ["while", "for", "range", "try", "try", "jump", "alias", "with"]
        elif self.random.random() < 0.2:
            kinds += ["jump"]
        getattr(self, f"write_{self.choose(*kinds)}")(indent, loop, depth)

    def write_assign(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, f"{self.choose('a', 'b', 'c')} = {self.expression()}")

    def write_augment(self, indent: int, loop: bool, depth: int) -> None:
        target = self.choose("a", "b", "s[1]", "box.value", "box.count", "box.items[0]")
        self.write(indent, f"{target} {self.choose('+=', '-=', '*=')} {self.expression(1)}")

    def write_list(self, indent: int, loop: bool, depth: int) -> None:
        self.write(
            indent,
            self.choose(
                f"s[{self.choose('0', '2', 'k % 3')}] = {self.expression(1)}",
                f"s.append({self.number()})",
                f"fill(s, {self.expression(1)})",
                f"t[1] = {self.expression(1)}",
                f"s = [{self.expression(1)}, {self.number()}, 0]",
                "s = t",
                "s += [1]",
                "s.sort()",
                f"b = s.pop() if len(s) > 3 else {self.number()}",
            ),
        )

    def write_attribute(self, indent: int, loop: bool, depth: int) -> None:
        self.write(
            indent,
            self.choose(
                f"box.value = {self.expression(1)}",
                f"box.extra = {self.number()}",
                f"c = getattr(box, 'extra', {self.number()})",
                f"box = Box({self.expression(1)})",
                f"box.items = [{self.number()}, 1]",
                f"c = box.items[{self.choose(0, 1)}]",
                "other = box",
                f"other.value = {self.number()}",
            ),
        )

    def write_property(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, f"box.half = {self.number()}")

    def write_call(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, f"{self.choose('a', 'c')} = {self.choose('helper(a, b)', 'box.add(x)', 'closure(b)')}")

    def write_unpack(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, self.choose("a, b = b, a", "a, v = pair(x)", "s[0], c = c, s[0]", "(a, b), c = (b, c), a"))

    def write_dict(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, f"d[{self.choose(1, 2, repr('z'))}] = {self.expression(1)}")

    def write_none(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, f"v = {self.choose('None', 'x', 'True', repr('text'))}")

    def write_late(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, self.choose(f"late = {self.number()}", "a = late"))

    def write_if(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, f"if {self.test()}:")
        self.block(indent + 1, loop, depth - 1)
        if self.random.random() < 0.3:
            self.write(indent, f"elif {self.test()}:")
            self.block(indent + 1, loop, depth - 1)
        if self.random.random() < 0.5:
            self.write(indent, "else:")
            self.block(indent + 1, loop, depth - 1)

    def write_while(self, indent: int, loop: bool, depth: int) -> None:
        self.counters += 1
        name = f"w{self.counters}"
        self.write(indent, f"{name} = 0")
        self.write(indent, f"while {self.choose(self.test(), 'True', f'{name} < k % 5')}:")
        self.write(indent + 1, f"{name} += 1")
        self.write(indent + 1, f"if {name} > {self.choose(2, 3, 'k % 4')}:")
        self.write(indent + 2, "break")
        self.block(indent + 1, True, depth - 1)
        self.end_of_loop(indent, loop, depth)

    def write_for(self, indent: int, loop: bool, depth: int) -> None:
        iterable = self.choose("(1, x, y)", "s[:4]", "enumerate_pairs", "list(s)", "zip(s, (a, b))", "iter([1, n])")
        target = "i, j" if iterable.startswith(("enum", "zip")) else "i"
        iterable = "enumerate([x, 2])" if iterable.startswith("enum") else iterable
        self.write(indent, f"for {target} in {iterable}:")
        self.write(indent + 1, f"{self.choose('a', 'c')} = i")
        self.block(indent + 1, True, depth - 1)
        self.end_of_loop(indent, loop, depth)

    def write_range(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, f"for i in range({self.choose('3', 'k % 5', '1, k % 6', '4, k % 3, -1')}):")
        self.write(indent + 1, f"{self.choose('a', 'c')} = {self.choose('i', 'a + i')}")
        self.block(indent + 1, True, depth - 1)
        self.end_of_loop(indent, loop, depth)

    def end_of_loop(self, indent: int, loop: bool, depth: int) -> None:
        if self.random.random() < 0.3:
            self.write(indent, "else:")
            self.block(indent + 1, loop, depth - 1)

    def write_try(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, "try:")
        self.block(indent + 1, loop, depth - 1)
        if self.random.random() < 0.8:
            kind = self.choose(
                "ZeroDivisionError", "(ValueError, OverflowError)", "Exception", "Failure", "LookupError"
            )
            self.write(indent, f"except {kind}:")
            self.block(indent + 1, loop, depth - 1)
            if self.random.random() < 0.3:
                self.write(indent, "else:")
                self.block(indent + 1, loop, depth - 1)
            if self.random.random() > 0.3:
                return
        self.write(indent, "finally:")
        self.write_assign(indent + 1, loop, depth)

    def write_with(self, indent: int, loop: bool, depth: int) -> None:
        self.write(indent, f"with contextlib.suppress({self.choose('ValueError', 'ZeroDivisionError', 'Failure')}):")
        self.block(indent + 1, loop, depth - 1)

    def write_jump(self, indent: int, loop: bool, depth: int) -> None:
        options = [
            f"return {self.expression(1)}",
            "return [a, b]",
            f"raise Failure({self.number()})",
            "return s[0], box.value",
        ]
        if loop:
            options += ["break", "continue"] * 3
        if self.random.random() < 0.7:
            self.write(indent, f"if {self.test()}:")
            indent += 1
        self.write(indent, self.choose(*options))

    def write_alias(self, indent: int, loop: bool, depth: int) -> None:
        self.write(
            indent, self.choose("t = s", "t = list(s)", "t = box.items", "other = Box(a)", "box, other = other, box")
        )

    def function(self, name: str) -> str:
        self.write(0, f"def {name}(x, y, n, k):")
        self.write(1, "a, b, c, v = x, y, 0, None")
        self.write(1, "s = [x, 1.0, 2]")
        self.write(1, "t = [0, y, 5]")
        self.write(1, "d = {1: x}")
        self.write(1, "table = (0, 1.5, -2, 7)")
        self.write(1, "box = Box(y)")
        self.write(1, "other = box")
        self.write(1, "def closure(z):")
        self.write(2, "if z > c:")
        self.write(3, "return z")
        self.write(2, "return c")
        for _ in range(3):
            self.block(1, False, 3)
        self.write(1, "return a, [b, c], s, {'value': box.value, 'count': box.count, 'items': box.items}, v, t, d")
        return "\n".join(self.lines) + "\n"


def program(source: random.Random, name: str = "f") -> str:
    """The text of a random function."""
    return Writer(source).function(name)


def arguments(source: random.Random, count: int) -> list[tuple[Any, ...]]:
    """Random arguments, a tuple for each lane: two floats, an integer and a small one."""
    choose = source.choice
    return [(choose(VALUES), choose(VALUES), choose(INTEGERS), source.randrange(-2, 9)) for _ in range(count)]


def alike(one: Any, other: Any) -> bool:
    """Whether two results are equal: NaN is equal to NaN, and zeros have signs. Types of numbers may differ."""
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return isinstance(other, dict) and list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        if isinstance(one, float) and isinstance(other, float):
            return struct.pack("d", one) == struct.pack("d", other) or (one != one and other != other)
        return one == other
    if hasattr(one, "__dict__"):
        return type(one) is type(other) and alike(vars(one), vars(other))
    return bool(one == other)
