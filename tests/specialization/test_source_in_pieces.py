"""Functions of a file that a program compiles in pieces are overdubbed, although they know fewer imports."""

import math

from cassette_import import Context, overdub

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


def test_a_function_that_was_compiled_without_the_imports_of_its_file_is_overdubbed(tmp_path):
    file = tmp_path / "pieces.py"
    file.write_text(TEXT)
    lines = TEXT.splitlines()
    namespace = {}
    for first, last in ((0, 3), (3, 5)):
        piece = "\n" * first + "\n".join(lines[first:last])
        exec(compile(piece, str(file), "exec"), namespace)
    assert overdub(Sines(), namespace["sine"], 0.0) == ("replaced", "b")


def test_a_function_at_whose_place_the_file_has_another_one_is_left_alone_without_a_warning(tmp_path):
    file = tmp_path / "generated.py"
    file.write_text("import math\n\ndef sine(x):\n    return math.sin(x)\n")
    namespace = {"math": math}
    made = "def accept():\n def sine(x): return math.sin(x)\n return sine\n"
    exec(compile("\n" * 1 + made, str(file), "exec"), namespace)
    sine = namespace["accept"]()
    assert sine.__code__.co_firstlineno == 3
    assert overdub(Sines(), sine, 0.0) == 0.0
