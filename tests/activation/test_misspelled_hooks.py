"""Methods of context types that are written like hooks: a warning names the hook, and reasonable names get none."""

import functools
import warnings

import pytest

from cassette_import import CassetteWarning, Context, overdub

MISSPELLED = {
    "prehook": ["preHook", "pre_hook", "PreHook", "PREHOOK", "prehok", "preehook", "prehoko", "pehook"],
    "overdub": ["over_dub", "overDub", "Overdub", "overdb", "overdbu", "overrdub"],
    "posthook": ["postHook", "post_hook", "posthok", "postook", "posthhook"],
    "errorhook": ["error_hook", "errorHook", "errohook", "errrorhook"],
}
REASONABLE = (
    "prehooks _prehook __prehook prehook_ prehook_for prehook2 rehook per_hook pre_hooks hook hooks overdubs "
    "overdubbed overdub_call overdue override posthooks posthoc errors error_hooks errhook on_error on_call before "
    "after enter prepare process execute observe postpone summary"
).split()


def a_method(ctx, *arguments):
    return None


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in MISSPELLED.items() for name in names])
def test_a_misspelled_hook_is_a_warning_at_the_class(kind, name):
    with pytest.warns(CassetteWarning, match=rf"^Ctx\.{name} is no hook, .*; did you mean {kind}\?$") as caught:
        type("Ctx", (Context,), {name: a_method, "__qualname__": "Ctx"})
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, a_method.__code__.co_firstlineno)]


@pytest.mark.parametrize("make", [staticmethod, classmethod, functools.wraps(a_method)])
def test_methods_of_every_form_count(make):
    with pytest.warns(CassetteWarning, match="did you mean prehook"):
        type("Ctx", (Context,), {"pre_hook": make(lambda *arguments: None)})


def test_reasonable_names_are_no_misspellings():
    type("Ctx", (Context,), dict.fromkeys(REASONABLE, a_method))


def test_attributes_that_are_no_methods_are_no_misspellings():
    type("Ctx", (Context,), {"pre_hook": None, "overDub": 3, "error_hook": property(a_method), "post_hook": ["f"]})


@pytest.mark.parametrize("where", ["in the class", "in a base", "in a class beside it"])
def test_a_method_that_the_hook_itself_calls_may_be_named_like_it(where):
    def prehook(ctx, f, *arguments):
        ctx.pre_hook(f)

    seen = []
    methods = {"pre_hook": lambda ctx, f: seen.append(f)}
    if where == "in the class":
        made = type("Ctx", (Context,), {"prehook": prehook, **methods})
    elif where == "in a base":
        made = type("Ctx", (type("Base", (Context,), {"prehook": prehook}),), methods)
    else:
        made = type("Ctx", (type("Beside", (), {"prehook": prehook}), Context), methods)
    overdub(made(), lambda: len("a"))
    assert seen == [len]


def test_a_registered_hook_of_a_base_may_call_a_method_named_like_it():
    class Base(Context):
        pass

    @Base.prehook.register(len)
    def _(ctx, f, text):
        ctx.pre_hook(text)

    class Ctx(Base):
        pre_hook = a_method

    overdub(Ctx(), lambda: len("a"))


def test_a_subclass_does_not_repeat_the_warning_of_its_base():
    with pytest.warns(CassetteWarning):
        base = type("Base", (Context,), {"preHook": a_method})
    type("Ctx", (base,), {})


def test_the_warning_can_be_made_an_error_that_refuses_the_class():
    with warnings.catch_warnings():
        warnings.simplefilter("error", CassetteWarning)
        with pytest.raises(CassetteWarning, match="preHook"):
            type("Ctx", (Context,), {"preHook": a_method})
