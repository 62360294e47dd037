"""A hook that raises under `run`: the user reads which context, hook, event and call site it was."""

import pytest
from helpers.command_line import cassette

from cassette_import import Context, overdub

PROGRAM = """
def price(x):
    return {1: 2}[x]

def main():
    return price(1) + price(2)

main()
"""
CONTEXTS = """
from cassette_import import Context, Events

class Reads(Context):
    def HOOK(self, f, *args, **kwargs):
        if f.__name__ == "price":
            raise ValueError("no")

class ReadsResult(Context):
    def HOOK(self, result, f, *args, **kwargs):
        if f.__name__ == "price":
            raise ValueError("no")

class Misspelt(Context):
    def HOOK(self, f, *args, **kwargs):
        self.cuont += 1

class MisspeltResult(Context):
    def HOOK(self, result, f, *args, **kwargs):
        self.cuont += 1

class MisspeltOperators(Misspelt, events=Events.OPERATORS):
    pass

class MisspeltTruth(Misspelt, events=Events.TRUTH):
    pass

class ArgumentFree(Context):
    def HOOK(self, *args, **kwargs):
        raise ValueError("no")
"""


class Before(Context):
    def prehook(self, f, *args):
        self.cuont += 1


class After(Context):
    def posthook(self, result, f, *args):
        self.cuont += 1


def area(radius):
    return abs(radius)


def stderr_of(folder, hook, context, program=PROGRAM):
    (folder / "shop.py").write_text(program)
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


@pytest.mark.parametrize(
    ("program", "context", "event"),
    [
        ("import math as m\ny = 4.0\nm.sqrt(y)", "Misspelt", "shop.py:3 in <module>, for the call of m.sqrt."),
        ("from math import *\nsqrt(\n    4.0\n)", "Misspelt", "shop.py:3 in <module>, for the call of sqrt."),
        ("print(len('a b'.split()))", "Misspelt", "shop.py:1 in <module>, for the call of 'a b'.split."),
        ("max(\n  min(\n    4, key=None), 3)", "Misspelt", "shop.py:3 in <module>, for the call of min."),
        ("f = lambda y, x: 1\nf(1,\n  x=f)", "Misspelt", "shop.py:3 in <module>, for the call of f."),
        ("f = lambda *x: 1\nf(1,\n  *[])", "Misspelt", "shop.py:3 in <module>, for the call of f."),
        ("dict(a=1, **{}\n  )", "Misspelt", "shop.py:1 in <module>, for the call of dict."),
        ("f = lambda *a: 1\nf(*[])", "Misspelt", "shop.py:2 in <module>, for the call of f."),
        ("(lambda: 1)()", "Misspelt", "shop.py:1 in <module>, for the call of lambda: 1."),
        ("a = 1\nprint(a + a * 2)", "MisspeltOperators", "shop.py:2 in <module>, for the OPERATORS event a * 2."),
        ("a = 1\nprint(\n a +\n a * a)", "MisspeltOperators", "shop.py:4 in <module>, for the OPERATORS event a * a."),
        ("a = 1\nprint(\n a +\n a)", "MisspeltOperators", "shop.py:4 in <module>, for the OPERATORS event a + a."),
        ("a = [1]\na[0] += 2", "MisspeltOperators", "shop.py:2 in <module>, for the OPERATORS event a[0]."),
        ("a = [1]\na[0] = 2", "MisspeltOperators", "shop.py:2 in <module>, for the OPERATORS event a[0]."),
        ("a = 1\na += 2", "MisspeltOperators", "shop.py:2 in <module>, for the OPERATORS event a += 2."),
        ("a = 1\nif int(a):\n  pass", "MisspeltTruth", "shop.py:2 in <module>, for the TRUTH event int(a)."),
    ],
)
def test_a_hook_that_uses_no_function_is_named_with_the_event_that_is_written_at_the_call_site(
    tmp_path, program, context, event
):
    last = stderr_of(tmp_path, "prehook", context, program).splitlines()[-1]
    hook = f"This exception was raised by prehook of the context {context}, at "
    assert last == hook + event


def test_a_posthook_that_uses_no_function_is_named_with_the_event_that_is_written_at_the_call_site(tmp_path):
    last = stderr_of(tmp_path, "posthook", "MisspeltResult", "import math\nmath.sqrt(4.0)").splitlines()[-1]
    assert last.endswith("at shop.py:2 in <module>, for the call of math.sqrt.")


def test_the_traceback_marks_the_whole_event_of_a_hook_that_uses_no_function(tmp_path):
    lines = stderr_of(tmp_path, "prehook", "Misspelt", "import math\nroots = [math.sqrt(4.0)]").splitlines()
    place = lines.index("    roots = [math.sqrt(4.0)]")  # 3.13 marks no call that is all of an assigned value
    assert lines[place + 1].strip() in ("^^^^^^^^^^^^^^", "~~~~~~~~~^^^^^"), lines


@pytest.mark.parametrize("hook", ["prehook", "posthook"])
def test_no_variable_of_such_a_hook_has_the_value_of_something_else(hook):
    context_type = {"prehook": Before, "posthook": After}[hook]
    with pytest.raises(AttributeError) as raised:
        overdub(context_type(), area, 2.0)
    frame = raised.traceback[-1].frame
    assert {name for name in frame.f_locals if not name.startswith("@")} == {"self"}
