"""Names that a program gives to keywords, functions, classes and threads begin no lines of a trace, and no escapes."""

import threading

import pytest

from cassette_import import overdub
from cassette_import.contexts import CallTypes, Trace

FORGED = "x\n\x1b[31mforged\r\x9b\u2028("


def takes(*values, **keywords):
    return None


def named(kind):
    return type(FORGED, (kind,), {})


def renamed_function():
    def function():
        return takes(1)

    function.__name__ = function.__qualname__ = FORGED
    return function


PROGRAMS = {
    "a keyword": lambda: takes(**{FORGED: 1}),
    "a keyword beside another": lambda: takes(1, plain=1, **{FORGED: 1}),
    "a key": lambda: takes({FORGED: {FORGED: 1}}),
    "a function": lambda: renamed_function()(),
    "a function as an argument": lambda: takes(renamed_function()),
    "a class": lambda: named(object)(),
    "an object": lambda: takes(named(object)()),
    "a subclass of dict": lambda: takes(value=named(dict)({1: 2})),
    "an attribute": lambda: takes(value=type("C", (), {"__init__": lambda self: vars(self).update({FORGED: 1})})()),
    "an exception": lambda: takes(named(Exception)(FORGED)),
}


def in_a_thread():
    thread = threading.Thread(target=takes, name=FORGED)
    thread.start()
    thread.join()


def lines_of(context_type, program, path):
    if context_type is Trace:
        context = Trace()
        context.stream(str(path))
        overdub(context, program)
        context.formats[".txt"](str(path))
        return path.read_text(encoding="utf-8")
    context = context_type()
    overdub(context, program)
    return context.summary()


@pytest.mark.parametrize("context_type", [Trace, CallTypes])
@pytest.mark.parametrize("name", [*PROGRAMS, "a thread"])
def test_a_name_of_the_program_is_shown_on_one_line_and_without_control_characters(name, context_type, hooks, tmp_path):
    text = lines_of(context_type, {**PROGRAMS, "a thread": in_a_thread}[name], tmp_path / "trace.txt")
    assert all(line.isprintable() for line in text.split("\n"))
    assert not any(line.startswith(("forged", "\\x1b")) for line in text.split("\n"))
    assert r"\n\x1b[31mforged" in text or context_type is CallTypes


def test_printable_keywords_stay_as_they_are(hooks, tmp_path):
    def program():
        return takes(**{"größe": 1, "a b": 2, "日本": 3})

    assert "takes(größe=1, a b=2, 日本=3) -> None" in lines_of(Trace, program, tmp_path / "trace.txt")
