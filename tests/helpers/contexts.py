"""Contexts that several tests need: hooks that ignore an event, read it, count it or replace it.

Imports nothing but `cassette_import`: tests copy this file beside programs that run in processes of their own.
"""

import contextlib

from cassette_import import Context, Events, canrecurse, fallback, recurse


class ArgumentFree(Context):
    """Its hooks do not read their arguments."""

    def prehook(self, f, *args, **kwargs):
        pass

    def posthook(self, result, f, *args, **kwargs):
        pass


class ReadsArguments(Context, events=Events.ALL):
    """Its hooks read all arguments of every event and store none of them."""

    def prehook(self, f, *args, **kwargs):
        self.seen = len(args) + len(kwargs)

    def posthook(self, result, f, *args, **kwargs):
        self.same = result is f
        self.seen = len(args) + len(kwargs)


class ReadsEverything(ReadsArguments, events=Events.ALL):
    """It has an errorhook that reads its arguments as well."""

    def errorhook(self, exception, f, *args, **kwargs):
        self.seen = len(args) + len(kwargs)


class Counting(Context):
    """Counts calls and operators."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def prehook(self, f, *args, **kwargs):
        self.calls += 1


class Replacing(Context):
    """An overload replaces every call and runs the callee in the context."""

    def overdub(self, f, *args, **kwargs):
        verb = recurse if canrecurse(self, f, *args, **kwargs) else fallback
        return verb(self, f, *args, **kwargs)


class Tagging(Context, tagging=True):
    """Values could carry metadata, and none do."""


@contextlib.contextmanager
def entered_without_source(*contexts):
    """A block that adopts no module, because code without source enters the contexts.

    So the hooks of a test module are no part of the program for the contexts further out.
    """
    stack = contextlib.ExitStack()
    exec("for context in contexts: stack.enter_context(context)", {"contexts": contexts, "stack": stack})
    with stack:
        yield contexts
