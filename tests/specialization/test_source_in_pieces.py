"""Functions of a file that a program compiles in pieces are overdubbed, although they know fewer imports."""

import __future__

import importlib
import math
import textwrap

import pytest

from cassette_import import Context, install, overdub
from cassette_import.specialization.source_file import dedented

TEXT = """\
import math
import os.path

def sine(x):
    return math.sin(x), os.path.basename("a/b")
"""


class Sines(Context):
    """Replaces `math.sin`."""


@Sines.overdub.register(math.sin)
def _(ctx, f, x):
    return "replaced"


TEXTS = [
    "",
    "\n",
    "def f():\n    return 1\n",
    "    def f():\n\n        return 1\n   \n    # end",
    "\t\tdef f():\n\t\t\treturn 1\n\t  pass\n",
    '    def f():\n        """Text\n  less\n        """\r\n        x = 1\r\n',
    "    a\n\tb\n",
    "        a\n      b\n  \n    c\n      ",
    "    a\\\n  \f b\n    c\v\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_dedented_as_by_textwrap(text):
    assert dedented(text) == textwrap.dedent(text)


def test_a_function_that_was_compiled_without_the_imports_of_its_file_is_overdubbed(tmp_path):
    file = tmp_path / "pieces.py"
    file.write_text(TEXT)
    lines = TEXT.splitlines()
    namespace = {}
    for first, last in ((0, 3), (3, 5)):
        piece = "\n" * first + "\n".join(lines[first:last])
        exec(compile(piece, str(file), "exec"), namespace)
    assert overdub(Sines(), namespace["sine"], 0.0) == ("replaced", "b")


def test_a_piece_may_be_compiled_with_features_that_its_text_does_not_name(tmp_path):
    file = tmp_path / "cells.py"
    file.write_text(TEXT)
    lines = TEXT.splitlines()
    namespace = {}
    for first, last in ((0, 3), (3, 5)):
        piece = "\n" * first + "\n".join(lines[first:last])
        exec(compile(piece, str(file), "exec", flags=__future__.annotations.compiler_flag), namespace)
    assert overdub(Sines(), namespace["sine"], 0.0) == ("replaced", "b")


def test_a_function_at_whose_place_the_file_has_another_one_is_left_alone_without_a_warning(make_package):
    module = importlib.import_module(make_package("import math\n\ndef sine(x):\n    return math.sin(x)\n"))
    made = "\ndef accept(f):\n def sine(x): return f(x)\n return sine\n"
    exec(compile(made, module.__file__, "exec"), vars(module))
    sine = module.accept(math.sin)
    with install(module.__name__):
        assert overdub(Sines(), sine, 0.0) == 0.0
        assert overdub(Sines(), module.sine, 0.0) == "replaced"
