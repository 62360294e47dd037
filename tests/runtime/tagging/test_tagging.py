"""Tagging: the public functions, plain values for unaware code, and the guarantees."""

import abc
import collections
import gc
import operator
import threading
import weakref

import pytest
from programs.tagging import inspecting

from cassette_import import (
    NO_METADATA,
    NO_METAMETA,
    Context,
    Events,
    Tagged,
    enabletagging,
    fallback,
    hasmetadata,
    install,
    istagged,
    metadata,
    metadatatype,
    metameta,
    overdub,
    similarcontext,
    tag,
    untag,
)


class Moving(Context, tagging=True):
    pass


@pytest.fixture(scope="module", autouse=True)
def installed():
    with install([inspecting.__name__]):
        yield


def wrappers_in(value):
    """The wrappers in a value's parts."""
    if type(value) is Tagged:
        return [value]
    if isinstance(value, dict):
        return [found for pair in value.items() for part in pair for found in wrappers_in(part)]
    if isinstance(value, (list, tuple, set)):
        return [found for part in value for found in wrappers_in(part)]
    return []


# ---- the API


def test_untag_returns_the_same_object():
    ctx, value = Moving(), object()
    assert untag(tag(value, ctx), ctx) is value
    assert untag(value, ctx) is value


def test_a_tag_without_metadata_is_a_tag():
    ctx = Moving()
    x = tag(1, ctx)
    assert istagged(x, ctx)
    assert not hasmetadata(x, ctx)
    assert metadata(x, ctx) is NO_METADATA
    assert metadata(x, ctx, "default") == "default"


def test_the_error_for_a_context_without_tagging_names_the_remedy():
    class Plain(Context):
        pass

    with pytest.raises(
        TypeError, match=r"Plain does not tag values: declare it with tagging=True, or use enabletagging"
    ):
        tag(1, Plain(), "m")
    assert metadata(tag(1, ctx := enabletagging(Plain()), "m"), ctx) == "m"


def test_an_argument_that_is_no_context_is_an_error():
    with pytest.raises(TypeError, match="tag: ctx must be an instance of a Context, not 3"):
        tag(1, 3)


def test_metadata_of_a_wrong_type_is_an_error():
    class Named(Context, tagging=True):
        def metadatatype(self, kind):
            return str if issubclass(kind, int) else None

    assert metadatatype(Named(), int) is str
    with pytest.raises(TypeError, match="Named admits str as metadata for values of type int, not 3"):
        tag(1, Named(), 3)
    with pytest.raises(TypeError, match="Named admits no metadata for values of type float"):
        tag(1.0, Named(), "m")


def test_two_contexts_tag_a_value_independently():
    one, other = Moving(), Moving()
    x = tag(tag(1, one, "one"), other, "other")
    assert (metadata(x, one), metadata(x, other)) == ("one", "other")
    assert metadata(untag(x, one), one) is NO_METADATA
    assert metadata(untag(x, one), other) == "other"


def test_a_copy_of_a_context_reads_its_tags():
    ctx = Moving()
    x = tag(1, ctx, "m")
    assert metadata(x, similarcontext(ctx, metadata=3)) == "m"
    assert metadata(x, enabletagging(ctx)) is NO_METADATA


# ---- the plain view


@pytest.mark.parametrize("view", inspecting.VIEWS, ids=lambda view: view.__name__)
def test_unaware_code_gets_the_plain_value(view):
    ctx = Moving()
    result = overdub(ctx, view, tag(3.5, ctx, "m"))
    expected = view(3.5)
    assert untag(result, ctx) == expected
    assert not wrappers_in(untag(result, ctx))
    assert not wrappers_in(inspecting.SEEN)


def test_numpy_gets_the_plain_value():
    numpy = pytest.importorskip("numpy")

    def program(x):
        return numpy.array([x, 2.0]) * x, numpy.float64(x), numpy.sin(x)

    ctx = Moving()
    array, scalar, sine = overdub(ctx, program, tag(3.5, ctx, "m"))
    assert array.dtype == float
    assert array.tolist() == [12.25, 7.0]
    assert (scalar, sine) == (3.5, numpy.sin(3.5))


def test_hooks_and_overloads_get_wrapped_values():
    seen = []

    class Seeing(Context, tagging=True):
        pass

    @Seeing.overdub.register(operator.mul)
    def _(ctx, f, x: float, y):
        seen.append((metadata(x, ctx), isinstance(x, Tagged)))
        return fallback(ctx, f, x, y)

    ctx = Seeing()
    assert overdub(ctx, lambda x: x * 2, tag(3.5, ctx, "m")) == 7.0
    assert seen == [("m", True)]


def test_tagging_adds_no_events_for_hooks():
    seen = []

    class Calls(Context, tagging=True, events=Events.CALLS):
        def prehook(self, f, *arguments):
            seen.append(f)

    ctx = Calls()
    overdub(ctx, lambda x: [abs(x), x + 1][0], tag(1, ctx))
    assert seen == [abs]


# ---- what is safe


def test_a_leaf_that_changes_a_container_drops_the_metadata():
    leaf = eval("lambda items: items.__setitem__(0, 7)")  # no source: not overdubbed
    ctx = Moving()
    result = overdub(ctx, inspecting.overwritten_by_a_leaf, tag(1, ctx, "m"), leaf)
    assert result == 7
    assert not istagged(result, ctx)


def test_a_tag_of_an_ended_activation_is_not_valid_in_the_next():
    ctx = Moving()
    overdub(ctx, inspecting.through_a_global, tag(1, ctx, "m"))
    old = tag(5, ctx, "old")
    overdub(ctx, inspecting.types, old)
    overdub(ctx, inspecting.types, tag(2, ctx, "m"))
    assert not istagged(old, ctx)
    assert not istagged(overdub(ctx, inspecting.from_the_global), ctx)


def test_each_activation_has_a_fresh_tag():
    ctx, tags = Moving(), []
    for _ in range(2):
        x = tag(1, ctx, "m")
        overdub(ctx, inspecting.types, x)
        tags.append(next(iter(x._tagged_metas)))
    assert tags[0] is not tags[1]


class Thing:
    pass


def test_dead_objects_leave_the_store_while_the_context_runs():
    ctx = Moving()
    sizes = []

    def count(*arguments):
        sizes.append(len(store.items.entries))

    x = tag(1, ctx, "m")
    store = next(iter(x._tagged_metas)).store
    overdub(ctx, inspecting.keep_calling, x, 5000, count)
    assert max(sizes) < 2000


def test_memory_returns_when_the_context_ends():
    ctx, thing = Moving(), Thing()
    alive = weakref.ref(thing)

    def program(x, thing):
        items = [x, thing]
        items.append(items[0])

    x = tag(1, ctx, "m")
    store = next(iter(x._tagged_metas)).store
    overdub(ctx, program, x, thing)
    assert not store.items.entries
    del thing
    gc.collect()
    assert alive() is None


def in_a_list_of_a_function(x):
    thing = Thing()
    held = [x, thing]
    return weakref.ref(held[1])


def in_a_list_that_is_in_an_object(x):
    holder, thing = Thing(), Thing()
    holder.items, holder.own = [x, thing], holder
    return weakref.ref(thing)


def test_objects_of_a_function_die_when_it_returns():
    def program(x):
        return in_a_list_of_a_function(x)() is None

    ctx = Moving()
    assert overdub(ctx, program, tag(1, ctx, "m"))


def test_objects_in_a_temporary_list_die_before_the_next_call():
    def program(x):
        thing = Thing()
        alive = weakref.ref(thing)
        size = len([x, thing])
        del thing
        return size, alive() is None

    ctx = Moving()
    assert overdub(ctx, program, tag(1, ctx, "m")) == (2, True)


def test_garbage_collection_frees_objects_that_only_the_store_holds():
    def program(x):
        alive = in_a_list_that_is_in_an_object(x)
        gc.collect()
        return alive() is None

    ctx = Moving()
    assert overdub(ctx, program, tag(1, ctx, "m"))


def test_each_thread_has_its_own_tags():
    ctx, found, barrier = Moving(), {}, threading.Barrier(4)

    def program(x):
        barrier.wait()
        inspecting.SEEN.append(x)
        return [x, [x]][1][0]

    def work(number):
        x = tag(number, ctx, f"m{number}")
        found[number] = metadata(overdub(ctx, program, x), ctx)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"m{number}" for number in range(4)}


def test_functions_that_read_frames_get_plain_values():
    class Item:
        def __init__(self):
            self.name = 1

    def program(text, item):
        return eval(text), vars(item), dir(item)[-1], __import__(text).__name__, type(text) is str

    ctx = Moving()
    found = overdub(ctx, program, tag("abc", ctx, 1), tag(Item(), ctx, 1))
    assert found == (abc, {"name": 1}, "name", "abc", True)


def test_a_lambda_in_a_generator_that_a_pass_was_run_on_is_rewritten_once():
    class Passing(Context, tagging=True):
        passes = (lambda context_type, reflection: reflection.tree,)

    def differences(pairs):
        key = lambda pair: pair[0] - pair[1]
        for pair in pairs:
            yield key(pair)

    def work():
        return list(differences([(1, 2)]))

    assert overdub(Passing(), work) == [-1]


def test_a_function_in_a_generator_that_a_pass_was_run_on_is_rewritten_once():
    class Passing(Context, tagging=True):
        passes = (lambda context_type, reflection: reflection.tree,)

    def differences(pairs):
        def key(pair):
            return pair[0] - pair[1]

        for pair in pairs:
            yield key(pair)

    def work():
        return list(differences([(1, 2)]))

    assert overdub(Passing(), work) == [-1]


def test_the_length_of_a_deque_may_be_tagged():
    def work(length):
        limited = collections.deque([1, 3, length], maxlen=length)
        also = collections.deque([1, 3, length], length)
        return limited.maxlen, also.maxlen, *limited

    ctx = Moving()
    assert overdub(ctx, work, tag(2, ctx, "m")) == (2, 2, 3, 2)


class Holder:
    def __init__(self, held):
        self.held = held


class SlotHolder:
    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held


@pytest.mark.parametrize("holder", [Holder, SlotHolder])
@pytest.mark.parametrize(
    "hold",
    [
        pytest.param(lambda x: x, id="value"),
        pytest.param(lambda x: [x], id="list"),
        pytest.param(lambda x: (0, x), id="tuple"),
        pytest.param(lambda x: {"a": x}, id="dict"),
        pytest.param(lambda x: {x}, id="set"),
        pytest.param(lambda x: Holder(x), id="object"),
        pytest.param(lambda x: SlotHolder([x]), id="object with slots"),
        pytest.param(lambda x: [Holder({"a": x})], id="nested"),
    ],
)
def test_an_object_is_tagged_if_a_part_of_its_attributes_is(holder, hold):
    class Tagging(Context, tagging=True):
        pass

    def program(ctx, value):
        made = holder(hold(value))
        return istagged(made, ctx), metameta(made, ctx) is not NO_METAMETA

    ctx = Tagging()
    assert overdub(ctx, lambda: program(ctx, tag(1.5, ctx, "m"))) == (True, True)
    assert overdub(ctx, lambda: program(ctx, 1.5)) == (False, False)


def test_a_class_cannot_be_tagged():
    class Tagging(Context, tagging=True):
        pass

    with pytest.raises(TypeError, match="classes carry no metadata"):
        tag(Holder, Tagging(), "m")
