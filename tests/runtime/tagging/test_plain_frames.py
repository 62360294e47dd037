"""Frames that run plainly are notified when the first value is tagged, wherever they are."""

import sys
import threading
import types

import pytest
from helpers.accelerator import installed_program

from cassette_import import NO_METADATA, Context, metadata, overdub, tag
from cassette_import.runtime.tagging import live_metadata

PROGRAM = """
    import threading

    def outermost(depth, make):
        value = outermost(depth - 1, make) if depth else make()
        again = value * 1.0
        return again + 0.0

    def keyword_only(*given, make, **rest):
        first = given[0]
        made = make(first, **rest)
        return first + made, made

    def waiting(values, ready, go_on):
        last = values[0]
        ready.set()
        go_on.wait(20)
        return values[1] * 1.0, last

    def traced(make):
        value = make()
        other = value * 1.0
        return other

    def later(items, turn):
        found = []
        for item in items:
            turn(item)
            found.append(item * 1.0)
        return found

    def adding(x, make):
        total = 0.0
        while total < 3.0:
            total += x
            x = make(x)
        return total
"""


TRACER = {}
exec("def trace(frame, event, argument):\n    return trace", TRACER)


class Tagging(Context, tagging=True):
    recognised_types = (float,)

    def computed(self, result, f, *arguments, **keywords):
        found = [metadata(value, self) for value in arguments]
        return next((one for one in found if one is not NO_METADATA), NO_METADATA)


@pytest.fixture(params=["in C", "in Python"])
def program(request, make_package):
    with installed_program(PROGRAM, request.param, make_package) as module:
        yield module


@pytest.mark.parametrize("depth", [0, 1, 30])
def test_all_frames_that_wait_for_the_call_that_tags_the_first_value_go_on_with_tags(program, depth):
    def run(ctx):
        return metadata(program.outermost(depth, lambda: tag(2.5, ctx, "m")), ctx)

    context = Tagging()
    assert overdub(context, run, context) == "m"


def test_a_function_with_all_kinds_of_parameters_goes_on_with_tags(program):
    def run(ctx):
        both = program.keyword_only(1.5, make=lambda x, y: tag(x + y, ctx, "m"), y=2.0)
        return [metadata(value, ctx) for value in both]

    context = Tagging()
    assert overdub(context, run, context) == ["m", "m"]


def test_frames_of_other_threads_are_told(program):
    context = Tagging()
    values, ready, go_on = [0.5, 1.5], threading.Event(), threading.Event()
    found = []

    def wait():
        with context:
            result, last = overdub(context, program.waiting, values, ready, go_on)
            found.append((result, last))

    def tags(ctx):
        values[1] = tag(2.5, ctx, "m")
        go_on.set()
        thread.join(20)

    thread = threading.Thread(target=wait)
    thread.start()
    ready.wait(20)
    overdub(context, tags, context)
    assert found == [(2.5, 0.5)]


def test_a_frame_is_told_while_a_function_traces_it(program):
    def run(ctx):
        def make():
            return tag(2.5, ctx, "m")

        old = sys.gettrace()
        sys.settrace(TRACER["trace"])
        try:
            result = program.traced(make)
        finally:
            sys.settrace(old)
        return metadata(result, ctx)

    context = Tagging()
    assert overdub(context, run, context) == "m"


def test_a_frame_asks_again_once_all_values_are_gone_and_others_are_tagged(program):
    def run(ctx):
        held = []

        def turn(item):
            held.clear()
            if item == 1.0:
                live_metadata.refresh_names()
            if item == 2.0:
                items[3] = tag(3.0, ctx, "second")
            if item == 0.0:
                held.append(tag(9.0, ctx, "first"))

        items = [0.0, 1.0, 2.0, 3.0]
        return [metadata(value, ctx) for value in program.later(items, turn)]

    context = Tagging()
    assert overdub(context, run, context) == [NO_METADATA, NO_METADATA, NO_METADATA, "second"]


def test_the_first_value_is_tagged_in_a_loop(program):
    def run(ctx):
        return metadata(program.adding(1.0, lambda x: tag(1.0, ctx, "m")), ctx)

    context = Tagging()
    assert overdub(context, run, context) == "m"


def test_an_overload_that_is_registered_while_a_frame_runs_takes_its_next_event(program):
    class Registering(Context, tagging=True):
        pass

    calls = []

    def make():
        @Registering.overdub.register(float.__mul__)
        def _(ctx, f, *arguments):
            calls.append(arguments)
            return f(*arguments)

        return 2.0

    overdub(Registering(), program.traced, make)
    plain = []
    Registering.overdub.register(float.__add__)(lambda ctx, f, *arguments: plain.append(arguments) or f(*arguments))
    assert overdub(Registering(), program.traced, lambda: 2.0) == 2.0


def test_where_greenlets_may_be_used_frames_ask_from_the_beginning(program, monkeypatch):
    monkeypatch.setitem(sys.modules, "greenlet", types.ModuleType("greenlet"))

    def run(ctx):
        return metadata(program.outermost(3, lambda: tag(2.5, ctx, "m")), ctx)

    context = Tagging()
    assert overdub(context, run, context) == "m"
    assert overdub(context, run, context) == "m"
