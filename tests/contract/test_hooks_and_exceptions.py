"""Errorhooks, and hooks that raise exceptions themselves."""

import operator

import pytest

from cassette_import import Context, overdub


def identity(x):
    return x


class Stop(Exception):
    pass


def raise_stop():
    raise Stop("stop")


def test_errorhook_gets_exception_function_and_arguments(Recorder):
    ctx = Recorder()
    with pytest.raises(ValueError, match="invalid literal") as info:
        overdub(ctx, lambda: int("x"))
    assert ctx.errors == [(info.value, int, ("x",))]


def test_posthook_is_not_called_for_a_call_that_raises(Recorder):
    ctx = Recorder()
    with pytest.raises(ValueError, match="invalid literal"):
        overdub(ctx, lambda: int("x"))
    assert ctx.results == []


def test_errorhook_is_called_for_every_call_that_the_exception_leaves(Recorder):
    def middle():
        raise_stop()

    ctx = Recorder()
    with pytest.raises(Stop):
        overdub(ctx, lambda: middle())
    assert [f for _, f, _ in ctx.errors] == [raise_stop, middle]


def test_exception_propagates_whatever_the_errorhook_returns():
    class Own(Context):
        def errorhook(self, exception, f, *args):
            return True

    with pytest.raises(Stop):
        overdub(Own(), lambda: raise_stop())


def test_exception_is_the_same_object_with_and_without_errorhook(Recorder):
    exception = Stop()

    def fail():
        raise exception

    with pytest.raises(Stop) as info:
        overdub(Recorder(), lambda: fail())
    assert info.value is exception
    assert exception.__context__ is None
    assert exception.__cause__ is None


def test_program_can_catch_the_exception(Recorder):
    def root():
        try:
            raise_stop()
        except Stop:
            return "caught"

    ctx = Recorder()
    assert overdub(ctx, root) == "caught"
    assert [f for _, f, _ in ctx.errors] == [raise_stop]


def test_operator_that_raises_gets_its_errorhook(Recorder):
    ctx = Recorder()
    with pytest.raises(ZeroDivisionError):
        overdub(ctx, lambda x: 1 / x, 0)
    assert [(f, args) for _, f, args in ctx.errors] == [(operator.truediv, (1, 0))]


def test_stop_iteration_gets_its_errorhook(Recorder):
    def root():
        try:
            next(iter([]))
        except StopIteration:
            return "end"

    ctx = Recorder()
    assert overdub(ctx, root) == "end"
    assert [(type(exception), f) for exception, f, _ in ctx.errors] == [(StopIteration, next)]


@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_exceptions_that_are_no_errors_get_their_errorhook(exception, Recorder):
    def fail():
        raise exception

    ctx = Recorder()
    with pytest.raises(exception):
        overdub(ctx, lambda: fail())
    assert [(type(error), f) for error, f, _ in ctx.errors] == [(exception, fail)]


def test_wrong_arguments_get_their_errorhook(Recorder):
    ctx = Recorder()
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        overdub(ctx, lambda: identity())
    assert ctx.calls == [(identity, ())]
    assert [(f, args) for _, f, args in ctx.errors] == [(identity, ())]


def test_every_prehook_is_paired():
    balance = []

    class Own(Context):
        def prehook(self, f, *args):
            balance.append(1)

        def posthook(self, result, f, *args):
            balance.append(-1)

        def errorhook(self, exception, f, *args):
            balance.append(-1)

    def sometimes(n):
        if n % 2:
            raise Stop
        return n

    def root():
        for n in range(6):
            try:
                sometimes(n)
            except Stop:
                pass
            try:
                [][n]
            except IndexError:
                pass

    overdub(Own(), root)
    assert balance
    assert sum(balance) == 0


def test_no_errorhook_for_an_exception_that_no_call_raises(Recorder):
    def root():
        raise Stop

    ctx = Recorder()
    with pytest.raises(Stop):
        overdub(ctx, root)
    assert ctx.errors == []


# Hooks that raise


class HookError(Exception):
    pass


def raise_hook_error(self, *args):
    raise HookError("hook")


def test_call_does_not_happen_when_the_prehook_raises():
    called = []
    Own = type("Own", (Context,), {"prehook": raise_hook_error})
    with pytest.raises(HookError):
        overdub(Own(), lambda: called.append(1))
    assert called == []


@pytest.mark.parametrize("hook", ["prehook", "posthook"])
def test_exception_of_a_hook_reaches_the_program(hook):
    Own = type("Own", (Context,), {hook: raise_hook_error})

    def root():
        try:
            abs(-1)
        except HookError:
            return "caught"

    assert overdub(Own(), root) == "caught"


def test_exception_of_an_overload_reaches_the_program_and_the_errorhook(Recorder):
    @Recorder.overdub.register(abs)
    def _(ctx, f, x):
        raise HookError

    ctx = Recorder()
    with pytest.raises(HookError):
        overdub(ctx, lambda: abs(-1))
    assert [(type(exception), f, args) for exception, f, args in ctx.errors] == [(HookError, abs, (-1,))]


def test_exception_of_an_errorhook_replaces_that_of_the_program():
    Own = type("Own", (Context,), {"errorhook": raise_hook_error})
    with pytest.raises(HookError) as info:
        overdub(Own(), lambda: raise_stop())
    assert isinstance(info.value.__context__, Stop)


def test_context_stays_active_after_a_hook_has_raised():
    class Own(Context):
        def prehook(self, f, *args):
            self.metadata.append(f)
            if f is abs:
                raise HookError

    def root():
        try:
            abs(-1)
        except HookError:
            pass
        return len([1])

    ctx = Own(metadata=[])
    assert overdub(ctx, root) == 1
    assert ctx.metadata == [abs, len]
