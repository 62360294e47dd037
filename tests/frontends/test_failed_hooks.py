"""A hook that raises under `run`: the user reads which context, hook, event and call site it was."""

import pytest
from helpers.command_line import cassette

PROGRAM = """
def price(x):
    return {1: 2}[x]

def main():
    return price(1) + price(2)

main()
"""
CONTEXTS = """
from cassette_import import Context

class Reads(Context):
    def HOOK(self, f, *args, **kwargs):
        if f.__name__ == "price":
            raise ValueError("no")

class ReadsResult(Context):
    def HOOK(self, result, f, *args, **kwargs):
        if f.__name__ == "price":
            raise ValueError("no")

class ArgumentFree(Context):
    def HOOK(self, *args, **kwargs):
        raise ValueError("no")
"""


def stderr_of(folder, hook, context):
    (folder / "shop.py").write_text(PROGRAM)
    (folder / "mine.py").write_text(CONTEXTS.replace("HOOK", hook))
    done = cassette("run", "-c", f"mine:{context}", "shop.py", folder=folder)
    assert done.status == 1
    return done.stderr


@pytest.mark.parametrize(
    ("hook", "context"), [("prehook", "Reads"), ("posthook", "ReadsResult"), ("errorhook", "ReadsResult")]
)
def test_a_hook_that_raises_is_named_with_context_event_and_call_site(tmp_path, hook, context):
    last = stderr_of(tmp_path, hook, context).splitlines()[-1]
    assert last == (
        f"This exception was raised by {hook} of the context {context}, at shop.py:6 in main, for the call of price."
    )


def test_a_hook_that_does_not_read_its_event_is_named_with_the_call_site(tmp_path):
    last = stderr_of(tmp_path, "prehook", "ArgumentFree").splitlines()[-1]
    assert last.startswith("This exception was raised by prehook of the context ArgumentFree, at shop.py:8 in <module>")


def test_an_overload_that_raises_is_named(tmp_path):
    last = stderr_of(tmp_path, "overdub", "ArgumentFree").splitlines()[-1]
    assert last.startswith("This exception was raised by overdub of the context ArgumentFree, at shop.py:8 in <module>")


def test_an_exception_of_the_program_itself_has_no_such_line(tmp_path):
    (tmp_path / "shop.py").write_text(PROGRAM)
    done = cassette("run", "-c", "noop", "shop.py", folder=tmp_path)
    assert done.stderr.splitlines()[-1] == "KeyError: 2"
