"""Exceptions: their types, texts, chains and tracebacks."""

PROGRAMS = {
    "exception_of_a_function": """
        def f(x):
            raise ValueError("wrong", x)

        def main():
            return f(
                3
            )
    """,
    "exception_through_many_forms_of_calls": """
        import functools

        class A:
            def __init__(self, x):
                self.x = [abs(x) for _ in range(1)]
                self.fail(*self.x, key=1)

            def fail(self, *args, **kwargs):
                with open(__file__):
                    return sorted([1], key=lambda x: self.item(x))

            def item(self, x):
                return functools.partial(self.__class__.last, self)()

            def last(self):
                return next(self.generate())

            def generate(self):
                for x in self.x:
                    yield x / (x - x)

        def main():
            A(-1)
    """,
    "exception_of_each_operator_points_at_the_operator": """
        import sys

        def attempt(f):
            try:
                f()
            except Exception as error:
                tb = error.__traceback__
                while tb.tb_next:
                    tb = tb.tb_next
                positions = list(tb.tb_frame.f_code.co_positions())[tb.tb_lasti // 2]
                return type(error).__name__, str(error), positions

        def augmented():
            x = 1
            x += None

        def augmented_item():
            x = [[1]]
            x[0][5] += 1

        def store():
            x = (1,)
            x[0] = 2

        def delete():
            x = {}
            del x["k"]

        def main():
            n, s, d = 1, "a", {}
            return [
                attempt(f)
                for f in (
                    lambda: n + s,
                    lambda: n - s,
                    lambda: s / n,
                    lambda: n // 0,
                    lambda: n % 0,
                    lambda: s**s,
                    lambda: n @ n,
                    lambda: n << s,
                    lambda: n & s,
                    lambda: n < s,
                    lambda: 0 < n < s,
                    lambda: n in n,
                    lambda: n not in n,
                    lambda: -s,
                    lambda: ~s,
                    lambda: +s,
                    lambda: d["k"],
                    lambda: [][0],
                    lambda: n[0],
                    lambda: (1 + n) + (2 + s) + 3,
                    lambda: [1, 2, 3][s:],
                    lambda: s % (1, 2),
                    augmented,
                    augmented_item,
                    store,
                    delete,
                )
            ]
    """,
    "position_of_the_call_that_raises_among_several_on_a_line": """
        def ok(x=None):
            return 1

        def fail(x=None):
            raise KeyError("k")

        def main():
            return ok(), ok(ok()), ok(fail(ok())), fail()
    """,
    "position_in_an_expression_over_several_lines": """
        def fail(x):
            raise KeyError(x)

        def main():
            return [
                abs(1),
                {
                    "a": 1 + (
                        fail(
                            len("ab")
                        )
                    ),
                },
            ]
    """,
    "exception_at_a_decorator": """
        def deco(f):
            raise ValueError(f.__name__)

        def main():
            @deco
            def f():
                pass
    """,
    "exception_at_a_class_body": """
        def fail():
            raise ValueError("body")

        def main():
            class A:
                x = abs(-1)
                y = (
                    fail()
                )
    """,
    "exception_in_a_default_value": """
        def main():
            def f(x=1 / len([])):
                pass
    """,
    "exception_in_a_comprehension": """
        def f(x):
            return 1 / x

        def main():
            return [f(x) for x in (1, 0)]
    """,
    "exception_in_a_lambda_called_from_c": """
        def main():
            return list(map(lambda x: 1 / x, [1, 0]))
    """,
    "exception_in_a_key_function": """
        def key(x):
            return x.missing

        def main():
            return sorted([1, 2], key=key)
    """,
    "exception_in_a_generator": """
        def numbers():
            yield abs(-1)
            raise ValueError(len("abc"))

        def consume(xs):
            return [x for x in xs]

        def main():
            return consume(numbers())
    """,
    "exception_in_delegated_generators": """
        def inner():
            yield 1
            yield 1 / len([])

        def outer():
            yield from inner()

        def main():
            return list(outer())
    """,
    "exception_in_coroutines": """
        import asyncio

        async def inner(x):
            await asyncio.sleep(0)
            return 1 / x

        async def outer():
            return await inner(len([]))

        def main():
            coroutine = outer()
            try:
                while True:
                    coroutine.send(None)
            finally:
                coroutine.close()
    """,
    "exception_in_a_special_method": """
        class A:
            def __add__(self, other):
                return other.missing

            def __getitem__(self, key):
                raise LookupError(key)

        def main():
            try:
                A()[3]
            except LookupError as error:
                return A() + error
    """,
    "exception_in_a_property": """
        class A:
            @property
            def p(self):
                return self.q

            @property
            def q(self):
                raise AttributeError("inside")

        def main():
            return A().p
    """,
    "exception_in_init_and_new": """
        class A:
            def __new__(cls, x):
                return super().__new__(cls)

            def __init__(self, x):
                self.x = 1 / x

        def main():
            return A(len([]))
    """,
    "explicit_cause": """
        def f():
            try:
                int("x")
            except ValueError as error:
                raise KeyError("outer") from error

        def main():
            f()
    """,
    "implicit_context": """
        def f():
            try:
                1 / len([])
            except ZeroDivisionError:
                [].pop()

        def main():
            f()
    """,
    "suppressed_context": """
        def main():
            try:
                {}[len("k")]
            except KeyError:
                raise ValueError("clean") from None
    """,
    "context_is_that_of_the_handler_and_nothing_else": """
        def fail():
            raise KeyError("k")

        def attempt():
            try:
                fail()
            except KeyError:
                return abs(-1)

        def main():
            try:
                int("x")
            except ValueError as error:
                attempt()
                try:
                    fail()
                except KeyError as second:
                    chain = [type(second.__context__).__name__, second.__context__.__context__]
            try:
                fail()
            except KeyError as third:
                return chain, third.__context__
    """,
    "current_exception_is_seen_by_callees": """
        import sys

        def current():
            return repr(sys.exc_info()[1])

        def reraise():
            raise

        def main():
            before = current()
            try:
                int("x")
            except ValueError:
                inside = current(), [current() for _ in range(1)], list(map(lambda x: current(), [1]))
                try:
                    reraise()
                except ValueError as error:
                    again = str(error)
            return before, inside, again, current()
    """,
    "reraised_exceptions_keep_their_traceback": """
        def fail():
            raise ValueError("x")

        def middle():
            try:
                fail()
            except ValueError:
                abs(-1)
                raise

        def main():
            try:
                middle()
            except ValueError as error:
                raise error
    """,
    "exceptions_raised_twice": """
        error = ValueError("kept")

        def fail():
            raise error

        def main():
            try:
                fail()
            except ValueError:
                pass
            error.__traceback__ = None
            fail()
    """,
    "finally_and_return": """
        log = []

        def f(x):
            try:
                log.append("try")
                return abs(x)
            except TypeError:
                log.append("except")
                return -1
            else:
                log.append("else")
            finally:
                log.append("finally")

        def g():
            for i in range(3):
                try:
                    if i == 1:
                        continue
                    log.append(i)
                finally:
                    log.append("cleanup")
            else:
                log.append("done")

        def h():
            try:
                return abs("x")
            finally:
                return "overridden"  # noqa: B012

        def main():
            import warnings
            return f(-1), f("x"), g(), h(), log
    """,
    "exception_groups": """
        def fail(kind):
            raise kind("x")

        def main():
            log = []
            try:
                try:
                    raise ExceptionGroup("group", [ValueError(abs(-1)), TypeError("t"), KeyError("k")])
                except* ValueError as group:
                    log.append([type(e).__name__ for e in group.exceptions])
                    log.append(len(group.exceptions))
                except* TypeError as group:
                    log.append(str(group.exceptions[0]))
                    fail(OSError)
            except ExceptionGroup as rest:
                log.append(sorted(type(e).__name__ for e in rest.exceptions))
            return log
    """,
    "assertions": """
        def check(x):
            assert abs(x) > 1, f"too small: {abs(x)}"
            return x

        def main():
            check(-2)
            check(-1)
    """,
    "notes": """
        def main():
            try:
                int("x")
            except ValueError as error:
                error.add_note(str(abs(-1)))
                raise
    """,
    "system_exit": """
        import sys

        def main():
            sys.exit(abs(-3))
    """,
    "keyboard_interrupt": """
        def f():
            raise KeyboardInterrupt

        def main():
            try:
                f()
            finally:
                abs(-1)
    """,
    "stop_iteration": """
        def main():
            it = iter([1])
            next(it)
            return next(it)
    """,
    "name_errors_and_attribute_errors_know_their_names": """
        def attempt(f):
            try:
                f()
            except (NameError, AttributeError) as error:
                return type(error).__name__, error.name, str(error)

        def main():
            return [attempt(lambda: unknwon()), attempt(lambda: [].appendd(1)), attempt(lambda: abs(unknwon))]
    """,
    "unpacking_errors": """
        def attempt(f):
            try:
                return f()
            except Exception as error:
                return type(error).__name__, str(error)

        def two():
            a, b = [abs(-1)]

        def many():
            a, b = range(3)

        def starred():
            a, *b, c = [1]

        def none():
            a, b = print(end="")

        def main():
            return [attempt(f) for f in (two, many, starred, none)]
    """,
    "context_managers_and_exceptions": """
        import contextlib

        log = []

        @contextlib.contextmanager
        def managed(name):
            log.append(("enter", name))
            try:
                yield name
            except ValueError as error:
                log.append(("caught", str(error)))
            finally:
                log.append(("exit", name))

        class Suppress:
            def __enter__(self):
                return self

            def __exit__(self, kind, error, tb):
                log.append((kind.__name__, str(error), tb.tb_frame.f_code.co_name, tb.tb_lineno))
                return True

        def main():
            with managed("a") as a, managed("b") as b:
                raise ValueError(a + b)
            with Suppress():
                abs("x")
            with contextlib.ExitStack() as stack:
                stack.callback(log.append, "callback")
                stack.enter_context(managed("c"))
            with contextlib.suppress(ZeroDivisionError):
                1 / len([])
            return log
    """,
    "exception_while_entering_a_with_statement": """
        class Broken:
            def __enter__(self):
                raise ValueError("enter")

            def __exit__(self, *exc):
                return True

        def main():
            with (
                Broken()
            ):
                pass
    """,
    "exception_while_leaving_a_with_statement": """
        class Broken:
            def __enter__(self):
                return self

            def __exit__(self, *exc):
                raise KeyError("exit")

        def main():
            with Broken():
                int("x")
    """,
    "exception_in_a_loop_over_an_iterator": """
        class Numbers:
            def __iter__(self):
                return self

            def __next__(self):
                raise OSError("next")

        def main():
            for x in (
                Numbers()
            ):
                pass
    """,
    "exception_in_a_format": """
        class A:
            def __format__(self, spec):
                raise ValueError(spec)

        def main():
            a = A()
            return f"{a:abc}"
    """,
    "exception_at_module_level": """
        def fail():
            raise ValueError("module")

        try:
            x = abs(-1) + (
                fail()
            )
        except ValueError as error:
            tb = error.__traceback__
            seen = []
            while tb:
                seen.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
                tb = tb.tb_next

        def main():
            return seen
    """,
}
