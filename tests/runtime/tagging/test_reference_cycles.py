"""Reference cycles of objects and metadata are collected while a context is active."""

import collections
import gc
import itertools
import sys
import threading
import types
import weakref

import pytest

from cassette_import import Context, metadata, overdub, tag
from cassette_import.runtime.tagging import shadow_store


class Tagging(Context, tagging=True):
    pass


@pytest.fixture(autouse=True)
def no_rest(monkeypatch):
    """Search for cycles in every collection, without a pause."""
    monkeypatch.setattr(shadow_store, "_not_before", 0.0)
    monkeypatch.setattr(shadow_store, "_PAUSE", 0)


class Thing:
    """An object that can be referred to weakly."""


class Items(list):
    """So can this."""


def by_attribute(ctx):
    one, other = Thing(), Thing()
    one.other, other.one = tag(other, ctx, "m"), one
    return one


def by_both_attributes(ctx):
    one, other = Thing(), Thing()
    one.other, other.one = tag(other, ctx, "m"), tag(one, ctx, "m")
    return one


def by_metadata(ctx):
    one = Thing()
    one.number = tag(1, ctx, one)
    return one


def by_metadata_of_an_item(ctx):
    one = Thing()
    one.items = [tag(1, ctx, one)]
    return one


def by_list_in_itself(ctx):
    one = Thing()
    items = [tag(one, ctx, "m")]
    items.append(items)
    return one


def by_dict(ctx):
    one = Thing()
    one.parts = {"one": tag(one, ctx, "m")}
    return one


def by_set(ctx):
    one = Thing()
    one.parts = {tag(one, ctx, "m")}
    return one


def by_tuple(ctx):
    one = Thing()
    one.parts = (tag(one, ctx, "m"), 1)
    return one


def by_deque(ctx):
    one = Thing()
    one.parts = collections.deque([tag(one, ctx, "m")])
    return one


def by_class_of_the_program(ctx):
    one = Items()
    one.append(tag(one, ctx, "m"))
    return one


def by_closure(ctx):
    one = Thing()
    one.method = tag(lambda: one, ctx, "m")
    return one


def by_class(ctx):
    class Made:
        pass

    Made.known = Thing()
    Made.known.kind = [tag(Made(), ctx, "m")]
    return Made


def by_iterator(ctx):
    one = Thing()
    items = [tag(one, ctx, "m")]
    one.iterator = iter(items)
    return one


def by_suspended_generator(ctx):
    one = Thing()

    def numbers():
        kept = [tag(one, ctx, "m")]
        yield kept

    one.running = tag(numbers(), ctx, "m")
    next(one.running)
    return one


def by_namespace(ctx):
    names = {}
    exec("def function(): pass", names)
    names["one"] = one = Thing()
    one.function = tag(names["function"], ctx, "m")
    return one


def by_module(ctx):
    module = types.ModuleType("nowhere")
    exec("def function(): pass", vars(module))
    module.one = one = Thing()
    one.function = tag(module.function, ctx, "m")
    return one


def by_long_chain(ctx):
    first = last = Thing()
    for _ in range(1000):
        last.next = tag(Thing(), ctx, "m")
        last = last.next
    last.next = tag(first, ctx, "m")
    return first


CYCLES = [value for name, value in list(globals().items()) if name.startswith("by_")]


@pytest.mark.parametrize("cycle", CYCLES, ids=lambda cycle: cycle.__name__)
def test_a_cycle_that_only_the_shadow_store_holds_is_collected(cycle):
    if cycle is by_suspended_generator and sys.version_info >= (3, 14):
        pytest.skip("what is suspended is not followed there")
    ctx = Tagging()

    def work():
        alive = weakref.ref(cycle(ctx))
        gc.collect()
        return alive() is None

    assert overdub(ctx, work)


@pytest.mark.parametrize("cycle", CYCLES, ids=lambda cycle: cycle.__name__)
def test_a_cycle_lives_as_long_as_something_refers_to_it(cycle):
    ctx = Tagging()

    def work():
        found = cycle(ctx)
        alive = weakref.ref(found)
        gc.collect()
        return alive() is found

    assert overdub(ctx, work)


def holder_in_a_list(ctx):
    found = by_attribute(ctx)
    return [found.other], lambda held: held[0].one


def holder_of_the_middle(ctx):
    return by_attribute(ctx).other, lambda held: held.one


def holder_in_a_closure(ctx):
    found = by_attribute(ctx)
    return (lambda: found), lambda held: held()


def holder_in_a_generator(ctx):
    def numbers(found):
        yield
        yield found

    running = numbers(by_attribute(ctx))
    next(running)
    return running, next


def holder_in_an_iterator(ctx):
    return itertools.chain([by_attribute(ctx)]), next


def holder_in_a_cycle(ctx):
    items = [by_attribute(ctx)]
    items.append(items)
    return items, lambda held: held[1][0]


def holder_with_metadata(ctx):
    other = Thing()
    other.found = tag(by_attribute(ctx), ctx, "m")
    return other, lambda held: held.found


HOLDERS = [value for name, value in list(globals().items()) if name.startswith("holder_")]


@pytest.mark.parametrize("holder", HOLDERS, ids=lambda holder: holder.__name__)
def test_an_object_in_use_keeps_its_metadata(holder):
    ctx = Tagging()

    def work():
        held, read = holder(ctx)
        gc.collect()
        return metadata(read(held).other, ctx, None)

    assert overdub(ctx, work) == "m"


def test_a_finalizer_reads_plain_values_that_still_exist():
    ctx, seen = Tagging(), []

    class Final(Thing):
        def __del__(self):
            seen.append((self.other.name, metadata(self.other, ctx, None)))

    def work():
        one, other = Final(), Thing()
        one.other, other.one, other.name = tag(other, ctx, "m"), one, "other"
        one = other = None
        gc.collect()
        return list(seen)

    assert overdub(ctx, work) == [("other", None)]


def test_cycles_of_two_threads_of_a_context_are_collected():
    ctx, found = Tagging(), []

    def work():
        found.append(weakref.ref(by_attribute(ctx)))

    def run():
        overdub(ctx, work)

    def outer():
        work()
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        gc.collect()

    overdub(ctx, outer)
    assert [one() for one in found] == [None, None]


@pytest.mark.parametrize("cycle", [by_closure, by_suspended_generator], ids=lambda cycle: cycle.__name__)
def test_hooks_of_the_context_are_not_followed(cycle, monkeypatch):
    if cycle is by_suspended_generator and sys.version_info >= (3, 14):
        pytest.skip("what is suspended is not followed there")
    ctx = Tagging()
    monkeypatch.setattr(shadow_store, "MOST", 50)

    def work():
        one = cycle(ctx)
        one.refers_to = lambda: ctx
        alive = weakref.ref(one)
        del one
        gc.collect()
        return alive() is None

    assert overdub(ctx, work)


def test_entries_that_lead_to_too_many_objects_are_kept(monkeypatch):
    ctx = Tagging()
    monkeypatch.setattr(shadow_store, "MOST", 100)

    def work():
        alive = weakref.ref(by_long_chain(ctx))
        gc.collect()
        return alive() is None

    assert not overdub(ctx, work)
