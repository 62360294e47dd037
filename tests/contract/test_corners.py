"""Corners of the contract: what a context, a target, a hook may be, and hooks that fail or come late."""

import asyncio
import contextvars
import functools
import math
import pickle
import subprocess
import sys
import typing

import pytest

from cassette_import import Context, Events, OverdubRecursionError, disablehooks, overdub, similarcontext


def leaf(x):
    return x


def calls_leaf(x):
    return leaf(x)


def any_arguments(*args, **kwargs):
    return args, kwargs


def passes_keyword():
    return any_arguments(1, a=2)


def loop(step):
    for i in range(3):
        leaf(i)
        step(i)


def results(step):
    out = []
    for i in range(3):
        out.append(leaf(i))
        step(i)
    return out


def recursion(n):
    return recursion(n + 1)


def test_overdub_works_where_context_variables_were_copied_in_a_context_that_has_been_left():
    with Context():
        copied = contextvars.copy_context()
    assert copied.run(overdub, Context(), calls_leaf, 1) == 1


def test_overdub_works_in_a_callback_that_was_made_in_a_context_that_has_ended():
    async def main():
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def callback():
            try:
                future.set_result(overdub(Context(), calls_leaf, 1))
            except IndexError as error:
                future.set_exception(error)

        with Context():
            loop.call_soon(callback)
        return await future

    assert asyncio.run(main()) == 1


DEEP = """
import sys
from cassette_import import Context, overdub
def leaf(x):
    return x
def deep(n):
    return deep(n - 1) if n else overdub(Context(), leaf, 1)
for n in range(sys.getrecursionlimit() - 100, sys.getrecursionlimit()):
    try:
        deep(n)
    except RecursionError:
        pass
print(overdub(Context(), leaf, 1))
"""


def test_overdub_works_after_a_recursion_error_at_its_entry(tmp_path):
    """In a separate process: what the test leaves behind would disturb all other tests."""
    script = tmp_path / "deep.py"
    script.write_text(DEEP)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_hooks_may_come_from_a_mixin():
    seen = []

    class Mixin:
        def prehook(self, f, *args, **kwargs):
            seen.append(f)

    class Ctx(Mixin, Context):
        pass

    overdub(Ctx(), calls_leaf, 1)
    assert seen == [leaf]


@pytest.mark.parametrize("kind", ["posthook", "errorhook"])
def test_a_hook_that_raises_leaves_the_outer_context_paired(kind):
    log = []

    class Outer(Context):
        def prehook(self, f, *args, **kwargs):
            log.append("pre")

        def posthook(self, result, f, *args, **kwargs):
            log.append("post")

        def errorhook(self, exception, f, *args, **kwargs):
            log.append("error")

    def raises(self, result, f, *args, **kwargs):
        raise KeyError

    Inner = type("Inner", (Context,), {kind: raises})
    number = 1 if kind == "posthook" else -1
    with pytest.raises(KeyError), Outer():
        overdub(Inner(), lambda: math.sqrt(number))
    assert log == ["pre", "error"]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="Placeholder is new in 3.14")
def test_placeholders_of_partial_objects_are_filled_in():
    square = functools.partial(math.pow, getattr(functools, "Placeholder", None), 2.0)

    class Ctx(Context):
        pass

    @Ctx.overdub.register(math.pow)
    def _(ctx, f, *args):
        return f(*args)

    assert overdub(Ctx(), lambda: square(3.0)) == 9.0


def test_a_local_target_does_not_remove_a_hook_without_target():
    seen = []

    class Ctx(Context):
        pass

    @Ctx.prehook.register
    def _(ctx, f, x):
        seen.append(f)

    def local(a, b, c):
        return a

    @Ctx.prehook.register(local)
    def _(ctx, f, *args):
        seen.append(f)

    overdub(Ctx(), lambda: (local(1, 2, 3), math.sin(1)))
    assert seen == [local, math.sin]


@pytest.mark.parametrize("annotation", ["Undefined", 3])
def test_a_bare_hook_with_a_bad_annotation_is_refused(annotation):
    class Ctx(Context):
        pass

    def hook(ctx, f, x):
        pass

    hook.__annotations__ = {"x": annotation}
    with pytest.raises((NameError, TypeError)):
        Ctx.prehook.register(hook)


def test_keyword_only_parameters_make_another_signature():
    class Ctx(Context):
        pass

    @Ctx.overdub.register(any_arguments)
    def _(ctx, f, *, a):
        return "a"

    @Ctx.overdub.register(any_arguments)
    def _(ctx, f, *, b):
        return "b"

    assert overdub(Ctx(), any_arguments, b=1) == "b"
    assert overdub(Ctx(), any_arguments, a=1) == "a"


def test_an_overload_that_does_not_accept_the_arguments_does_not_match():
    class Ctx(Context):
        pass

    @Ctx.overdub.register(any_arguments)
    def _(ctx, f, a, *rest):
        return "overload"

    assert overdub(Ctx(), passes_keyword) == ((1,), {"a": 2})


@pytest.mark.parametrize("kind", ["prehook", "posthook"])
def test_a_hook_registered_in_a_running_function_counts_beside_one_that_reads_no_arguments(kind):
    seen = []

    def looks_at_f(self, *arguments, **keywords):
        raise AssertionError

    if kind == "prehook":

        class Ctx(Context):
            def prehook(self, f, *args, **kwargs):
                str(f)

    else:

        class Ctx(Context):
            def posthook(self, result, f, *args, **kwargs):
                str(f)

    def step(i):
        if i == 0:

            @getattr(Ctx, kind).register(leaf)
            def _(ctx, *arguments):
                seen.append(arguments[-1])

    overdub(Ctx(), loop, step)
    assert seen == [1, 2]


def test_a_hook_that_is_assigned_to_the_class_counts():
    seen = []

    class Ctx(Context):
        pass

    Ctx.prehook = lambda self, f, *args, **kwargs: seen.append(f)
    overdub(Ctx(), calls_leaf, 1)
    assert seen == [leaf]


@pytest.mark.parametrize("how", ["through another function", "through a similar context"])
def test_an_overload_that_re_enters_itself_indirectly_gets_an_error(how):
    class Ctx(Context):
        pass

    @Ctx.overdub.register(leaf)
    def _(ctx, f, x):
        if how == "through another function":
            return overdub(ctx, calls_leaf, x)
        return overdub(similarcontext(ctx, metadata=1), f, x)

    with pytest.raises(OverdubRecursionError):
        overdub(Ctx(), leaf, 1)


class Thing:
    @property
    def size(self):
        return 1

    def __call__(self, x):
        return x


def test_a_property_as_a_target_is_matched():
    class Ctx(Context):
        pass

    @Ctx.overdub.register(Thing.size)
    def _(ctx, f, thing):
        return 2

    assert overdub(Ctx(), lambda thing: thing.size, Thing()) == 2


def test_dunder_call_as_a_target_is_matched_by_a_call_of_the_object():
    class Ctx(Context):
        pass

    @Ctx.overdub.register(Thing.__call__)
    def _(ctx, f, thing, x):
        return "overload"

    assert overdub(Ctx(), lambda thing: thing(1), Thing()) == "overload"


def test_a_callback_in_a_partial_object_of_a_leaf_runs_its_overload():
    mapped = functools.partial(map, math.sin)

    class Ctx(Context):
        pass

    @Ctx.overdub.register(math.sin)
    def _(ctx, f, x):
        return "overload"

    assert overdub(Ctx(), lambda: list(mapped([1.0]))) == ["overload"]


def test_a_map_of_a_target_can_be_pickled():
    class Ctx(Context):
        pass

    @Ctx.overdub.register(math.sin)
    def _(ctx, f, x):
        return 0.5

    pickled = overdub(Ctx(), lambda: pickle.dumps(map(math.sin, [1.0])))
    assert list(pickle.loads(pickled)) == [math.sin(1.0)]


def test_a_frozen_dataclass_may_be_a_context():
    import dataclasses

    @dataclasses.dataclass(frozen=True)
    class Ctx(Context):
        number: int = 1

    assert disablehooks(Ctx()).number == 1


def test_an_alias_of_a_union_is_an_annotation():
    if sys.version_info < (3, 12):
        pytest.skip("the statement is new in 3.12")
    namespace = {}
    exec("type Number = int | float", namespace)

    class Ctx(Context):
        pass

    def hook(ctx, f, x):
        return "overload"

    hook.__annotations__ = {"x": namespace["Number"]}
    Ctx.overdub.register(leaf)(hook)
    assert overdub(Ctx(), leaf, 1) == "overload"


def test_an_annotation_that_isinstance_does_not_accept_is_refused_when_it_is_registered():
    class Shape(typing.Protocol):
        def area(self): ...

    class Ctx(Context):
        pass

    def hook(ctx, f, x):
        pass

    hook.__annotations__ = {"x": Shape}
    with pytest.raises(TypeError):
        Ctx.overdub.register(leaf)(hook)


def test_a_property_as_a_target_is_matched_beside_hooks_of_all_events():
    seen = []

    class Ctx(Context, events=Events.ALL):
        def prehook(self, f, *arguments, **keywords):
            seen.append(f)

    @Ctx.overdub.register(Thing.size)
    def _(ctx, f, thing):
        return 2

    assert overdub(Ctx(), lambda thing: [thing.size for _ in range(2)], Thing()) == [2, 2]
    assert seen.count(getattr) == 2


def test_hooks_of_a_property_see_it_where_it_is_read():
    seen = []

    class Ctx(Context):
        pass

    @Ctx.posthook.register(Thing.size)
    def _(ctx, result, f, thing):
        seen.append((result, f, thing))

    thing = Thing()
    assert overdub(Ctx(), lambda: thing.size + thing.size) == 2
    assert seen == [(1, Thing.size.fget, thing)] * 2


def test_other_attributes_are_what_they_are_beside_a_property_that_is_a_target():
    class Other:
        size = 7

    class Ctx(Context):
        pass

    @Ctx.overdub.register(Thing.size)
    def _(ctx, f, thing):
        return 2

    def read(other):
        try:
            return other.size, other.missing
        except AttributeError as error:
            return other.size, str(error)

    assert overdub(Ctx(), read, Other()) == (7, "'Other' object has no attribute 'missing'")


def test_a_misspelled_keyword_of_a_context_type_is_named_with_those_that_there_are():
    with pytest.raises(
        TypeError, match="'taging'; a context type takes events, inherit, tagging; did you mean tagging"
    ):

        class Misspelled(Context, taging=True):
            pass


def test_other_keywords_reach_the_class_beside_the_context_that_takes_them():
    class Named:
        def __init_subclass__(cls, *, label, **keywords):
            super().__init_subclass__(**keywords)
            cls.label = label

    class Both(Context, Named, label="both"):
        pass

    assert Both.label == "both"
