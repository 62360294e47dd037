"""Programs whose own code runs while cassette_import imports or specialises: they end as they do in plain Python."""

import textwrap

import pytest
from helpers.command_line import cassette, run

BEGINNING = """
import builtins, sys

def look(name):
    len(name)
"""
END = """
def double(x):
    return x + x

import colorsys
print(double(21))
"""
WATCHERS = {
    "a finder": """
        class Finder:
            def find_spec(name, path=None, target=None):
                return look(name)

        sys.meta_path.insert(0, Finder)
        """,
    "__import__": """
        usual = builtins.__import__

        def replacement(name, *arguments, **keywords):
            look(name)
            return usual(name, *arguments, **keywords)

        builtins.__import__ = replacement
        """,
}


AUDIT_HOOKS = {
    "an audit hook": """
        def hook(event, arguments):
            look(event)

        sys.addaudithook(hook)
        """,
    "an audit hook that causes events": """
        def hook(event, arguments):
            if event != "sys._getframe":
                sys._getframe()
            look(event)

        sys.addaudithook(hook)
        """,
}


def outcomes(folder, watcher, context):
    (folder / "app.py").write_text(BEGINNING + textwrap.dedent(watcher) + END)
    plain = run("app.py", folder=folder)
    assert (plain.status, plain.stdout) == (0, "42\n")
    return plain, cassette("run", "-c", context, "app.py", folder=folder)


@pytest.mark.parametrize("context", ["noop", "noop:events=all", "profile", "taint"])
@pytest.mark.parametrize("watcher", WATCHERS)
def test_own_imports_do_not_disturb_a_program_that_watches_imports(watcher, context, tmp_path):
    plain, done = outcomes(tmp_path, WATCHERS[watcher], context)
    assert done.stdout.startswith("42\n")
    assert done.status == plain.status


@pytest.mark.parametrize("context", ["noop", "noop:events=all"])
@pytest.mark.parametrize("hook", AUDIT_HOOKS)
def test_own_imports_do_not_disturb_a_program_with_an_audit_hook(hook, context, tmp_path):
    plain, done = outcomes(tmp_path, AUDIT_HOOKS[hook], context)
    assert done == plain
