"""Root functions whose module is not installed: it is edited, and perhaps reloaded, between their calls."""

import importlib
import linecache
import operator
import os
import sys

import pytest

from cassette_import import Context, overdub


class Counting(Context):
    def __init__(self):
        super().__init__()
        self.functions = []

    def prehook(self, f, *args, **kwargs):
        self.functions.append(f)


FIRST = (
    "def helper(): return len('a')\ndef root(): return helper()\nclass Thing:\n    def root(self): return helper()\n"
)
SECOND = FIRST.replace("len('a')", "max(1, 2)")
LONGER = "import os\n\n" + FIRST.replace("len('a')", "len('abc')")


@pytest.fixture
def edited(make_package, tmp_path, monkeypatch):
    """A module, and a function that writes another source for it."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    name = make_package(FIRST)
    file = tmp_path / name / "__init__.py"
    edits = iter(range(1, 100))

    def edit(source):
        file.write_text(source)
        seconds = file.stat().st_mtime + next(edits)
        os.utime(file, (seconds, seconds))

    return importlib.import_module(name), edit


def run(root):
    ctx = Counting()
    result = overdub(ctx, root)
    return result, ctx.functions


@pytest.mark.parametrize("root", [lambda module: module.root, lambda module: module.Thing().root])
@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
def test_a_reloaded_module_runs_its_new_functions(edited, root, used):
    module, edit = edited
    if used:
        assert run(root(module)) == (1, [module.helper, len])
    for source, result, callee in (SECOND, 2, max), (LONGER, 3, len), (FIRST, 1, len):
        edit(source)
        importlib.reload(module)
        assert run(root(module)) == run(root(module)) == (result, [module.helper, callee])
        assert root(module)() == result


@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
@pytest.mark.parametrize("source", [SECOND, LONGER])
def test_a_module_that_is_edited_and_not_reloaded_runs_its_old_functions(edited, source, used):
    module, edit = edited
    if used:
        run(module.root)
    edit(source)
    assert run(module.root)[0] == run(module.Thing().root)[0] == module.root() == 1


def test_functions_of_before_and_after_a_reload_run_side_by_side(edited):
    module, edit = edited
    old = module.root
    run(old)
    edit(SECOND.replace("def root(): return helper()", "def root(): return helper() + 10"))
    importlib.reload(module)
    assert run(module.root)[0] == 12
    assert run(old)[0] == 2
    assert run(module.root)[0] == 12


TEXTS = ["def grow(x):\n    return x + 1\n", "def shrink(x):\n    return x - 1\n\n\ndef grow(x):\n    return x * 2\n"]


def function_named(name, text, filename, monkeypatch):
    """A function from a text that is in no file, as doctest and notebooks compile them."""
    monkeypatch.setitem(linecache.cache, filename, (len(text), None, text.splitlines(keepends=True), filename))
    namespace = {"__name__": "__test__"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize("names", [("grow", "shrink"), ("grow", "grow")])
def test_a_text_that_has_the_name_of_an_earlier_one_is_overdubbed(names, monkeypatch):
    class Log(Context):
        def prehook(self, f, *args):
            self.metadata.append(f)

    seen = []
    for name, text in zip(names, TEXTS, strict=True):
        events = []
        overdub(Log(events), function_named(name, text, "<doctest example[1]>", monkeypatch), 3)
        seen.append(events)
    assert seen[0] == [operator.add]
    assert len(seen[1]) == 1
