"""A program iterates over the sets in its code in one order, whether it is compiled or read from a cache."""

import marshal

import pytest
from helpers.command_line import cassette

from cassette_import.interpreter.code_objects import has_sets, with_settled_sets

MODULE = """
MODULE_LEVEL = [item for item in {24, 16, 8, 0}]

def iterates():
    return [item for item in {16, 8, 0}]

def displays():
    return list({40, 24, 16, 8, 0}), (lambda: list({16, 8, 0}))()

class Holder:
    ITEMS = list({16, 0, 8, (32,), b"x"})
"""
PROGRAM = "import pkg.sets as s; print(s.MODULE_LEVEL, s.iterates(), s.displays(), s.Holder.ITEMS)"


@pytest.mark.parametrize("context", ["record", "profile", "noop:events=all"])
def test_the_first_and_later_runs_agree(tmp_path, context):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").touch()
    (tmp_path / "pkg/sets.py").write_text(MODULE)
    (tmp_path / "program.py").write_text(PROGRAM)
    variables = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path / "cache")}
    output = ["-o", "it.cassette"] if context == "record" else []
    words = ("run", "-p", "pkg", "-c", context, *output, "program.py")
    runs = [cassette(*words, folder=tmp_path, **variables) for _ in range(3)]
    assert len({done.stdout for done in runs}) == 1
    assert runs[0].stdout


@pytest.mark.parametrize("items", ["16, 8, 0", "'b', 'a', 40, 24, 16, 8, 0, None, 1.5", "(16,), (8,), 0, -1"])
@pytest.mark.parametrize("form", ["lambda x: x in {{{}}}", "[i for i in {{{}}}]", "def f():\n return {{{}}}"])
def test_settled_sets_have_one_order_after_marshal(items, form):
    def orders(code):
        for const in code.co_consts:
            if isinstance(const, type(code)):
                yield from orders(const)
            elif isinstance(const, frozenset):
                yield list(const)

    compiled = compile(form.format(items), "<test>", "exec")
    assert has_sets(compiled)
    settled = with_settled_sets(compiled)
    again = with_settled_sets(marshal.loads(marshal.dumps(settled)))
    assert list(orders(settled)) == list(orders(again))
    assert settled == compiled


def test_code_without_sets_is_not_copied():
    code = compile("def f(x): return x in {1}", "<test>", "exec")
    assert with_settled_sets(code) is code
