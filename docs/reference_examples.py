"""An extension of griffe for the reference on the site: it makes blocks of code from the examples in docstrings.

griffe itself recognises examples only in a section `Examples`. In other places, Markdown takes `>>>` for a quotation.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*\n?(?:^(?P=indent)\S.*\n?)*", re.MULTILINE)


class ReferenceExamples(griffe.Extension):
    """Puts fences around the examples of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the examples of an object; griffe calls this for each one."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(example: re.Match[str]) -> str:
    indent = example["indent"]
    return f"{indent}```pycon\n{example[0].rstrip()}\n{indent}```\n"
