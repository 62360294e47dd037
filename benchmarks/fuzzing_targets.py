"""The functions that `benchmarks/fuzzing.py` fuzzes: parsers of packages of PyPI, and two with values to find.

Each is unmodified and gets one argument. Packages are imported when a target is asked for.
"""

from __future__ import annotations

import importlib
import math
import sys
import zlib
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

HERE: Final = "benchmarks.fuzzing_targets"


class Target(NamedTuple):
    """What is fuzzed.

    Attributes
    ----------
    title:
        Its row in the table.
    modules:
        The packages, or modules, whose branches count.
    function:
        The name of the function in this module.
    first:
        The first input, which is empty; its type is that of all inputs.
    """

    title: str
    modules: Sequence[str]
    function: str
    first: Any

    def call(self) -> Callable[[Any], Any]:
        """The function, its packages imported."""
        for module in self.modules:
            importlib.import_module(module)
        return getattr(importlib.import_module(HERE), self.function)  # type: ignore[no-any-return]

    def is_covered(self, filename: str) -> bool:
        """Whether a file is one of those whose branches count."""
        return filename in {getattr(sys.modules.get(module), "__file__", None) for module in self._files()}

    def _files(self) -> list[str]:
        return [name for name in list(sys.modules) if any(f"{name}.".startswith(f"{one}.") for one in self.modules)]


def toml(text: str) -> Any:
    return importlib.import_module("tomli").loads(text)


def sql(text: str) -> Any:
    return importlib.import_module("sqlparse").format(text, reindent=True, keyword_case="upper")


def hjson(text: str) -> Any:
    return importlib.import_module("hjson").loads(text)


def expression(text: str) -> Any:
    """Evaluates a text. What grows without bounds in C code, which nothing can interrupt, is replaced."""
    parser = importlib.import_module("py_expression_eval").Parser()
    parser.ops2.update({"^": math.pow, "**": math.pow, "*": lambda a, b: float(a) * float(b)})
    parser.functions.update(fac=math.lgamma, pow=math.pow, roll=max)
    parser.ops1.update(fac=math.lgamma)
    return parser.parse(text).evaluate({"x": 2.0, "y": 3.0})


def png(data: bytes) -> Any:
    """The first pixels of an image: each chunk of the file has a CRC."""
    width, height, rows, _ = importlib.import_module("png").Reader(bytes=data).asRGBA8()
    return width, height, [row for row, _ in zip(rows, range(8), strict=False)]


def nested_magic(text: str) -> Any:
    if text[:4] == "MAGI" and text[4:8] == "CVAL":
        for character, expected in zip(text[8:], "secret", strict=False):
            if character != expected:
                return
        if int(text[14:]) == 424242424242:
            raise RuntimeError("all values were found")


def protected(data: bytes) -> Any:
    if len(data) < 8 or int.from_bytes(data[:4], "big") != zlib.crc32(data[4:]):
        return
    if data[4] == 7 and data[5:9] == b"BOOM":
        raise KeyError("behind the checksum")


TARGETS: Final = {
    "tomli": Target("tomli", ["tomli"], "toml", ""),
    "sqlparse": Target("sqlparse", ["sqlparse"], "sql", ""),
    "hjson": Target("hjson, JSON with comments", ["hjson"], "hjson", ""),
    "expression": Target("py_expression_eval", ["py_expression_eval"], "expression", ""),
    "png": Target("pypng, with a CRC for each chunk", ["png"], "png", b""),
    "magic": Target("nested magic values", [HERE], "nested_magic", ""),
    "crc": Target("a format with a CRC", [HERE], "protected", b""),
}
