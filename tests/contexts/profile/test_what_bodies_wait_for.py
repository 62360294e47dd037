"""What generators and coroutines wait for keeps its protocol under a profile: methods, errors, what it is asked."""

import pytest

from cassette_import.contexts import Profile

SOURCE = """
    import types

    def driven(coroutine):
        steps = []
        try:
            while True:
                steps.append(coroutine.send(None))
        except StopIteration as stop:
            return steps, stop.value

    class Steps:
        def __init__(self, *items): self.items = list(items)
        def __iter__(self): return self
        def __next__(self):
            if not self.items:
                raise StopIteration("over")
            return self.items.pop(0)

    class Sent(Steps):
        def send(self, value): return "sent", value
        def throw(self, *error): return "thrown", type(error[0]).__name__
        def close(self): self.items = "closed"

    class Named:
        def __getattr__(self, name):
            asked.append(name)
            raise AttributeError(name)
        def __iter__(self): return self
        def __next__(self): return 1

    class Waiting:
        def __init__(self, iterator): self.iterator = iterator
        def __await__(self): return self.iterator

    class Failing:
        def __await__(self): raise ValueError("no await")

    class Numbers:
        def __init__(self, items): self.items = iter(items)
        def __aiter__(self): return self
        async def __anext__(self):
            for item in self.items:
                return item
            raise StopAsyncIteration

    class NoItems:
        def __aiter__(self): return 5

    class WrongItems:
        def __aiter__(self): return self
        def __anext__(self): return 5

    class Manager:
        async def __aenter__(self): return "entered"
        async def __aexit__(self, kind, error, frames): return kind is KeyError

    class OfInstance:
        def __init__(self):
            self.__aenter__ = self.__aexit__ = lambda *arguments: None

    class Meta(type):
        async def __aenter__(cls): return cls.__name__
        async def __aexit__(cls, *error): return None

    class OfMeta(metaclass=Meta): pass

    asked = []

    def passed_on(iterable):
        return (yield from iterable)

    async def waits(awaitable): return await awaitable

    async def collects(items): return [item async for item in items]

    async def numbers(n):
        for k in range(n):
            await Waiting(Steps(k))
            yield k

    async def loops(items):
        found = []
        async for item in items:
            found.append(item)
        return found

    async def manages(manager, error=None):
        async with manager as one:
            if error is not None:
                raise error
            return one
        return "suppressed"

    @types.coroutine
    def old(x):
        got = yield x
        return got

    def first(): return driven(waits(Waiting(Steps(1, 2))))
    def iterators(): return list(passed_on(Steps(1, 2))), list(passed_on("ab")), list(passed_on({1: 2}))

    def result_of_iterator():
        def outer(): yield (yield from Steps())
        return list(outer())

    def sends():
        run = passed_on(Sent(1, 2))
        return next(run), run.send(3), run.throw(KeyError()), run.close()

    def sends_without_send():
        run = passed_on(Steps(1, 2))
        next(run)
        return run.send(3)

    def throws_without_throw():
        run = passed_on(Steps(1, 2))
        next(run)
        return run.throw(KeyError("thrown"))

    def asks():
        asked.clear()
        run = passed_on(Named())
        next(run)
        try:
            run.throw(KeyError("thrown"))
        except KeyError:
            pass
        run = passed_on(Named())
        next(run)
        run.close()
        return asked

    def no_iterable(): return list(passed_on(5))
    def no_awaitable(): return driven(waits(5))
    def wrong_awaitable(): return driven(waits(Waiting(5)))
    def coroutine_awaitable():
        coroutine = waits(old(1))
        try:
            return driven(waits(Waiting(coroutine)))
        finally:
            coroutine.close()

    def failing_awaitable(): return driven(waits(Failing()))
    def generator_awaitable(): return driven(waits(passed_on(Steps(1))))
    def old_coroutine(): return driven(waits(old(1)))

    def twice():
        coroutine = waits(old(1))
        run = waits(coroutine), waits(coroutine)
        run[0].send(None)
        return run[1].send(None)

    def async_items(): return driven(loops(Numbers([1, 2]))), driven(collects(Numbers([1, 2])))
    def async_generators(): return driven(loops(numbers(3))), driven(collects(numbers(3)))
    def expressions(): return driven(collects(x + 1 async for x in numbers(3) if x)), driven(collects(
        (x, y) async for x in numbers(2) async for y in Numbers([x])))
    def no_async_items(): return driven(loops(5))
    def wrong_async_items(): return driven(loops(NoItems()))
    def wrong_next(): return driven(loops(WrongItems()))
    def wrong_next_of_expression(): return driven(collects(x async for x in WrongItems()))
    def failing_expression(): return driven(collects(1 // x async for x in Numbers([1, 0])))
    def failing_items(): return sum(x for x in passed_on(1 // y for y in (1, 0)))
    def nested_items(): return [list(x * y for x in range(3) for y in passed_on(range(x))) for _ in range(2)]

    def managers():
        return driven(manages(Manager())), driven(manages(Manager(), KeyError(1))), driven(manages(OfMeta))

    def failing_manager(): return driven(manages(Manager(), ValueError("passed on")))
    def no_manager(): return driven(manages(5))
    def manager_of_instance(): return driven(manages(OfInstance()))

    def thrown_into_items():
        async def catches(items):
            try:
                async for item in items:
                    pass
            except KeyError as error:
                return str(error)
        run = catches(numbers(3))
        run.send(None)
        try:
            run.throw(KeyError("thrown"))
        except StopIteration as stop:
            return stop.value

    def exceptions_as_values():
        def returns(value):
            yield 1
            return value
        async def value(x): return x
        return [
            (list(passed_on(returns(x))), driven(waits(value(x)))) for x in (None, (1, 2), (), KeyError, "text")
        ]
"""

CASES = [line.split()[1].split("(")[0] for line in SOURCE.splitlines() if line.startswith("    def ") and "():" in line]


def outcome(program, name):
    try:
        return repr(getattr(program, name)())
    except Exception as error:
        causes = []
        while error is not None:
            causes.append((type(error).__name__, str(error).replace(program.__name__, "program")))
            error = error.__cause__
        return causes


@pytest.mark.parametrize("name", CASES)
def test_the_outcome_is_what_it_is_without_a_profile(name, make_program):
    expected = outcome(make_program(SOURCE), name)
    program = make_program(SOURCE)
    with Profile():
        assert outcome(program, name) == expected
