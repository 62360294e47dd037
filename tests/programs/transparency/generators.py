"""Everything that can be suspended: generators, coroutines, asynchronous generators."""

PROGRAMS = {
    "send_throw_close_and_return": """
        log = []

        def generator(x):
            try:
                got = yield abs(x)
                log.append(("got", got))
                try:
                    yield got + 1
                except KeyError as error:
                    log.append(("caught", str(error)))
                    yield len("caught")
                yield 5
                return "end"
            finally:
                log.append("finally")

        def main():
            g = generator(-1)
            values = [next(g), g.send(10), g.throw(KeyError("k"))]
            g.close()
            h = generator(-2)
            next(h), h.send(1), next(h)
            try:
                next(h)
            except StopIteration as stop:
                values.append(stop.value)
            values.append(list(h))
            try:
                next(generator(0).close() or iter([]))
            except StopIteration:
                pass
            return values, log
    """,
    "yields_inside_of_arguments_and_operators": """
        def f(*args, **kwargs):
            return args, kwargs

        def generator():
            x = f((yield 1), (yield 2), k=(yield 3))
            y = (yield x) + (yield 4) * 2
            z = [(yield y)][0] < (yield 5) < (yield 6)
            d = {}
            d[(yield z)] = yield "value"
            d[(yield "key")] += yield "augmented"
            return f(*(yield d), **(yield "mapping"))

        def main():
            g = generator()
            log = [next(g)]
            for value in ["a", "b", "c", 10, 20, 1, 2, 3, "v", "k", "k", "+", [7], {"m": 8}]:
                try:
                    log.append(g.send(value))
                except StopIteration as stop:
                    log.append(stop.value)
                    break
            return log
    """,
    "yield_from_delegates": """
        def inner():
            try:
                x = yield 1
                yield abs(x)
            except ValueError as error:
                yield str(error)
            return "inner result"

        def outer():
            result = yield from inner()
            yield result
            yield from [abs(-7), 8]

        def main():
            g = outer()
            h = outer()
            next(h)
            return [next(g), g.send(-5), next(g), next(g), next(g)], h.throw(ValueError("thrown")), list(h)
    """,
    "state_of_a_generator": """
        import inspect

        def generator(x):
            y = abs(x)
            yield y
            z = y + 1
            yield z

        def main():
            g = generator(-1)
            states = [inspect.getgeneratorstate(g), inspect.getgeneratorlocals(g), g.gi_frame.f_lineno]
            next(g)
            states += [inspect.getgeneratorstate(g), inspect.getgeneratorlocals(g), g.gi_frame.f_lineno]
            next(g)
            states += [
                inspect.getgeneratorlocals(g),
                g.gi_code.co_name,
                g.__name__,
                g.__qualname__,
                g.gi_running,
            ]
            list(g)
            return states + [inspect.getgeneratorstate(g), g.gi_frame]
    """,
    "generator_does_nothing_before_it_is_advanced": """
        log = []

        def generator(x=log.append("default")):
            log.append("started")
            yield len("x")

        def main():
            g = generator()
            before = list(log)
            next(g)
            return before, log
    """,
    "wrong_arguments_of_a_generator_function_raise_at_once": """
        def generator(x):
            yield x

        def main():
            try:
                generator()
            except TypeError as error:
                return str(error)
    """,
    "stop_iteration_inside_of_a_generator": """
        def generator():
            yield 1
            next(iter([]))

        def main():
            try:
                list(generator())
            except RuntimeError as error:
                return str(error), type(error.__cause__).__name__
    """,
    "generator_expressions_bind_their_source_at_once": """
        log = []

        def source():
            log.append("source")
            return [1, 2, 3]

        def main():
            x = 10
            g = (abs(v) + x for v in source() if v > 1)
            before = list(log)
            x = 20
            return before, list(g), log
    """,
    "comprehensions_of_all_kinds": """
        def f(x):
            return x * 2

        def main():
            x = "outer"
            return (
                [f(x) for x in range(3)],
                {f(x) for x in range(3)},
                {x: f(x) for x in range(3)},
                [(x, y) for x in range(3) if f(x) for y in range(x) if not y],
                [[f(i) for i in range(j)] for j in range(3)],
                [y := f(1), y + 1],
                [last := f(i) for i in range(3)],
                last,
                x,
                any(f(v) > 3 for v in (n for n in range(4))),
                [(lambda: i)() for i in range(2)],
                [g() for g in [lambda: i for i in range(2)]],
            )
    """,
    "coroutines": """
        import asyncio

        async def add(x, y):
            await asyncio.sleep(0)
            return x + y

        async def total(xs):
            result = 0
            for x in xs:
                result = await add(result, abs(x))
            return result

        async def main_async():
            first = await total([-1, 2, -3])
            gathered = await asyncio.gather(
                total([1]), total([2, 3]), add(*[await add(1, 1), await add(2, 2)])
            )
            task = asyncio.create_task(total([5]))
            return first, gathered, await task, [await add(i, 1) for i in range(2)]

        def main():
            return asyncio.run(main_async())
    """,
    "async_generators_loops_and_contexts": """
        import asyncio, contextlib

        log = []

        async def numbers(n):
            try:
                for i in range(n):
                    await asyncio.sleep(0)
                    yield abs(-i)
            finally:
                log.append("closed")

        class Manager:
            async def __aenter__(self):
                log.append("enter")
                return len("abc")

            async def __aexit__(self, *exc):
                log.append("exit")
                return True

        @contextlib.asynccontextmanager
        async def managed(x):
            log.append(x)
            yield x
            log.append("left")

        async def main_async():
            found = [x async for x in numbers(3) if x]
            async for x in numbers(5):
                if x == 2:
                    break
            else:
                log.append("never")
            async with Manager() as m, managed("m") as n:
                log.append((m, n))
                raise ValueError
            g = numbers(3)
            sent = [await g.__anext__(), await g.asend(None)]
            await g.aclose()
            return found, sent, {x: y async for x, y in pairs()}, sum([x async for x in numbers(4)])

        async def pairs():
            yield 1, abs(-2)
            yield 3, 4

        def main():
            return asyncio.run(main_async()), log
    """,
    "exceptions_and_cancellation_in_tasks": """
        import asyncio

        log = []

        async def fail(x):
            await asyncio.sleep(0)
            raise ValueError(x)

        async def wait():
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                log.append("cancelled")
                raise

        async def main_async():
            results = await asyncio.gather(fail(1), fail(2), return_exceptions=True)
            task = asyncio.ensure_future(wait())
            await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                log.append("seen")
            try:
                async with asyncio.timeout(0):
                    await asyncio.sleep(10)
            except TimeoutError:
                log.append("timeout")
            return [repr(r) for r in results]

        def main():
            return asyncio.run(main_async()), log
    """,
    "awaitable_objects_and_hand_made_coroutines": """
        import types

        class Awaitable:
            def __init__(self, x):
                self.x = x

            def __await__(self):
                got = yield self.x
                return abs(got)

        @types.coroutine
        def old_style(x):
            got = yield x
            return got * 2

        async def coroutine():
            a = await Awaitable("first")
            b = await old_style("second")
            return a + b

        def main():
            c = coroutine()
            steps = [c.send(None), c.send(-3)]
            try:
                c.send(10)
            except StopIteration as stop:
                steps.append(stop.value)
            return steps
    """,
    "coroutine_that_is_never_awaited_warns": """
        import gc, warnings

        async def never():
            return abs(-1)

        def main():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                never()
                gc.collect()
            return [str(w.message) for w in caught]
    """,
    "context_variables": """
        import asyncio, contextvars

        variable = contextvars.ContextVar("variable", default=0)

        async def work(n):
            variable.set(n)
            await asyncio.sleep(0)
            return variable.get()

        async def main_async():
            return await asyncio.gather(work(1), work(2)), variable.get()

        def inside():
            variable.set(99)
            return variable.get()

        def main():
            token = variable.set(5)
            copied = contextvars.copy_context().run(inside)
            value = variable.get()
            variable.reset(token)
            return asyncio.run(main_async()), copied, value, variable.get()
    """,
    "generators_as_context_managers_and_coroutines_in_classes": """
        import asyncio, contextlib

        class A:
            def __init__(self):
                self.log = []

            @contextlib.contextmanager
            def block(self, x):
                self.log.append(abs(x))
                yield self
                self.log.append("end")

            async def work(self):
                with self.block(-1) as me:
                    await asyncio.sleep(0)
                    return me is self

            def __iter__(self):
                yield from map(abs, [-1, -2])

            async def __aiter__(self):
                for x in self:
                    yield x

            async def collect(self):
                return [x async for x in self]

        def main():
            a = A()
            return asyncio.run(a.work()), a.log, list(a), asyncio.run(a.collect())
    """,
    "kinds_of_functions_are_recognised": """
        import inspect

        def plain():
            return abs(-1)

        def generator():
            yield abs(-1)

        async def coroutine():
            return abs(-1)

        async def async_generator():
            yield abs(-1)

        class A:
            async def m(self):
                pass

        def main():
            plain(), list(generator())
            functions = [plain, generator, coroutine, async_generator, A().m, lambda: (yield)]
            coroutine().close()
            return [
                (
                    inspect.isfunction(f), inspect.isgeneratorfunction(f), inspect.iscoroutinefunction(f),
                    inspect.isasyncgenfunction(f),
                )
                for f in functions
            ]
    """,
}
