"""Calls: how arguments are evaluated and passed, and what goes wrong with them."""

PROGRAMS = {
    "callee_and_arguments_are_evaluated_from_left_to_right": """
        log = []

        def note(x):
            log.append(repr(x) if not callable(x) else x.__name__)
            return x

        def f(*args, **kwargs):
            log.append("called")
            return args, kwargs

        def main():
            result = note(f)(
                note(1), *note([2]), note(3), *note((4,)), a=note(5), **note({"b": 6}), c=note(7)
            )
            return result, log
    """,
    "splats_are_iterated_before_later_arguments_are_evaluated": """
        log = []

        def numbers(name):
            for i in range(2):
                log.append((name, i))
                yield i

        def note(x):
            log.append(x)
            return x

        def main():
            print_nothing = lambda *args, **kwargs: args
            return print_nothing(*numbers("a"), note("between"), *numbers("b"), k=note("keyword")), log
    """,
    "mapping_splats_are_read_by_keys_and_getitem": """
        log = []

        class Mapping:
            def keys(self):
                log.append("keys")
                return ["a", "b"]

            def __getitem__(self, key):
                log.append(key)
                return key * 2

        def f(**kwargs):
            return kwargs

        def main():
            return f(**Mapping(), c=1), f(**Mapping()), log
    """,
    "arguments_are_new_tuples_and_dicts": """
        def f(*args, **kwargs):
            return args, kwargs

        def main():
            xs, d = (1, 2), {"a": 1}
            args, kwargs = f(*xs, **d)
            kwargs["b"] = 2
            return args == xs, kwargs, d
    """,
    "result_is_the_very_object": """
        def same(x):
            return x

        def main():
            x = object()
            return same(x) is x, [same(x)][0] is x, (lambda: x)() is x
    """,
    "mutable_default_is_shared_between_calls": """
        def f(x, seen=[]):
            seen.append(x)
            return list(seen)

        def main():
            return f(1), f(2), f(3), f.__defaults__
    """,
    "defaults_that_are_replaced_count": """
        def f(x=1, *, y=2):
            return x, y

        def main():
            before = f()
            f.__defaults__ = (10,)
            f.__kwdefaults__ = {"y": 20}
            after = f()
            f.__defaults__ = None
            try:
                f()
            except TypeError as error:
                return before, after, str(error)
    """,
    "every_kind_of_parameter_arrives": """
        def f(a, b=2, /, c=3, *args, d, e=5, **kwargs):
            return a, b, c, args, d, e, kwargs

        def main():
            return f(1, d=4), f(1, 2, 3, 4, 5, d=6, z=7), f(1, c=9, d=4, a=8)
    """,
    "too_few_arguments": """
        def f(x, y):
            pass

        def main():
            f(1)
    """,
    "too_many_arguments": """
        def f(x):
            pass

        def main():
            f(1, 2)
    """,
    "unexpected_keyword": """
        def f(x):
            pass

        def main():
            f(1, y=2)
    """,
    "missing_keyword_only_arguments": """
        def f(*, x, y):
            pass

        def main():
            f()
    """,
    "positional_only_argument_by_keyword": """
        def f(x, /):
            pass

        def main():
            f(x=1)
    """,
    "two_values_for_one_argument": """
        def f(x):
            pass

        def main():
            f(1, x=2)
    """,
    "duplicate_keyword_by_splat": """
        def f(**kwargs):
            pass

        def main():
            f(x=1, **{"x": 2})
    """,
    "duplicate_keyword_of_a_builtin_by_splat": """
        def main():
            dict(x=1, **{"x": 2})
    """,
    "duplicate_keyword_by_two_splats": """
        def f(**kwargs):
            pass

        def main():
            f(**{"x": 1}, **{"x": 2})
    """,
    "keywords_that_are_no_strings": """
        def f(**kwargs):
            pass

        def main():
            f(**{1: 2})
    """,
    "splat_of_what_cannot_be_iterated": """
        def f(*args):
            pass

        def main():
            f(*1)
    """,
    "splat_of_what_cannot_be_iterated_behind_other_arguments": """
        def f(*args):
            pass

        def main():
            f(0, *1)
    """,
    "splat_of_what_cannot_be_iterated_for_a_method": """
        class A:
            def m(self, *args):
                pass

        def main():
            A().m(*None)
    """,
    "splat_of_what_cannot_be_iterated_for_a_builtin": """
        def main():
            max(*3)
    """,
    "mapping_splat_of_what_is_no_mapping": """
        def f(**kwargs):
            pass

        def main():
            f(**1)
    """,
    "mapping_splat_of_what_is_no_mapping_behind_other_keywords": """
        def f(**kwargs):
            pass

        def main():
            f(a=1, **[2])
    """,
    "error_inside_of_a_splatted_generator": """
        def numbers():
            yield 1
            raise ValueError("inside")

        def f(*args):
            pass

        def main():
            f(*numbers())
    """,
    "type_error_inside_of_a_splatted_generator": """
        def numbers():
            yield 1
            raise TypeError("inside")

        def f(*args):
            pass

        def main():
            f(*numbers())
    """,
    "call_of_what_cannot_be_called": """
        def main():
            x = 3
            x(1)
    """,
    "call_of_none_by_attribute": """
        class A:
            m = None

        def main():
            A().m(1)
    """,
    "call_of_an_unknown_name": """
        def main():
            return unknown(1)
    """,
    "call_of_an_unknown_attribute": """
        def main():
            return [].appendd(1)
    """,
    "call_of_a_local_that_is_not_bound_yet": """
        def main():
            f(1)
            f = 2
    """,
    "arguments_are_not_evaluated_when_the_callee_is_missing": """
        log = []

        def main():
            try:
                [].missing(log.append(1))
            except AttributeError as error:
                return str(error), log
    """,
    "arguments_are_evaluated_before_it_is_seen_that_the_callee_cannot_be_called": """
        log = []

        def main():
            try:
                nothing = None
                nothing(log.append(1))
            except TypeError as error:
                return str(error), log
    """,
    "wrong_arguments_of_builtins": """
        def attempt(f, *args, **kwargs):
            try:
                return f(*args, **kwargs)
            except TypeError as error:
                return str(error)

        def main():
            return [
                attempt(lambda: len()),
                attempt(lambda: len(1)),
                attempt(lambda: int("1", bases=2)),
                attempt(lambda: [].append()),
                attempt(lambda: [].append(1, 2)),
                attempt(lambda: "a".join(1)),
                attempt(lambda: dict(1)),
                attempt(lambda: object(1)),
                attempt(lambda: sorted([1, "a"])),
                attempt(lambda: print(1, seperator="")),
                attempt(lambda: list.append(1, 2)),
                attempt(lambda: str.join()),
            ]
    """,
    "wrong_arguments_of_methods_and_classes": """
        class A:
            def __init__(self, x):
                self.x = x

            def m(self, y):
                return y

            @classmethod
            def c(cls, y):
                return y

            @staticmethod
            def s(y):
                return y

            def __call__(self, y):
                return y

        class B:
            pass

        def attempt(f):
            try:
                return f()
            except TypeError as error:
                return str(error)

        def main():
            a = A(1)
            return [
                attempt(lambda: A()),
                attempt(lambda: A(1, 2)),
                attempt(lambda: A(y=1)),
                attempt(lambda: B(1)),
                attempt(lambda: a.m()),
                attempt(lambda: a.m(1, 2)),
                attempt(lambda: A.m(1)),
                attempt(lambda: a.c()),
                attempt(lambda: A.s()),
                attempt(lambda: a()),
                attempt(lambda: a(1, 2)),
                attempt(lambda: (lambda x: x)()),
            ]
    """,
    "callable_objects_are_used_for_nothing_but_the_call": """
        log = []

        class Proxy:
            def __getattribute__(self, name):
                log.append(name)
                return object.__getattribute__(self, name)

            def __eq__(self, other):
                log.append("__eq__")
                return True

            def __hash__(self):
                log.append("__hash__")
                return 1

            def __bool__(self):
                log.append("__bool__")
                return False

            def __call__(self, x):
                return x

            def method(self, x):
                return x

        def take(x):
            return None

        def main():
            proxy = Proxy()
            return proxy(1), proxy.method(2), take(proxy), [take(p) for p in [proxy]], log
    """,
    "attributes_are_looked_up_once_for_each_call": """
        log = []

        class Counting:
            def __getattr__(self, name):
                log.append(name)
                return lambda *args: (name, args)

        def main():
            x = Counting()
            return x.a(1), x.b(), x.c(*[2, 3]), log
    """,
    "objects_that_pretend_to_be_of_another_class": """
        class Pretender:
            @property
            def __class__(self):
                return list

            def __call__(self, x):
                return x

            def append(self, x):
                return ("mine", x)

        def main():
            p = Pretender()
            return p(1), p.append(2), isinstance(p, list), list.append.__name__
    """,
    "operands_are_used_for_nothing_but_the_operation": """
        log = []

        class Value:
            def __getattribute__(self, name):
                log.append(name)
                return object.__getattribute__(self, name)

            def __bool__(self):
                log.append("bool")
                return True

            def __add__(self, other):
                log.append("add")
                return self

            def __getitem__(self, key):
                log.append(("get", key))
                return self

            def __setitem__(self, key, value):
                log.append(("set", key))

            def __lt__(self, other):
                log.append("lt")
                return self

        def main():
            v = Value()
            v + 1
            v[2]
            v[3] = 4
            v[5] += 1
            v < 1
            v < v < v
            return log
    """,
    "callables_that_cannot_be_hashed": """
        class Unhashable:
            __hash__ = None

            def __call__(self, x):
                return x

            def m(self, x):
                return x

        def main():
            u = Unhashable()
            return u(1), u.m(2)
    """,
    "callables_whose_comparison_raises": """
        class Touchy:
            def __eq__(self, other):
                raise AssertionError("compared")

            def __hash__(self):
                raise AssertionError("hashed")

            def __bool__(self):
                raise AssertionError("tested")

            def __call__(self, x):
                return x

            def m(self, x):
                return x

        def same(x):
            return x is not None

        def main():
            t = Touchy()
            return t(1), t.m(2), same(t), max([t], key=lambda x: 0) is t, t is t
    """,
    "recursion_by_fixed_point": """
        def main():
            fixed = lambda f: (lambda x: x(x))(lambda y: f(lambda *args: y(y)(*args)))
            return fixed(lambda self: lambda n: 1 if n == 0 else n * self(n - 1))(6)
    """,
    "functools_of_all_kinds": """
        import functools

        @functools.lru_cache(maxsize=None)
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)

        @functools.singledispatch
        def kind(x):
            return "object"

        @kind.register
        def _(x: int):
            return "int"

        @kind.register(list)
        def _(x):
            return [kind(y) for y in x]

        class Lazy:
            count = 0

            @functools.cached_property
            def value(self):
                Lazy.count += 1
                return fib(20)

            @functools.partialmethod
            def unused(self):
                pass

            def add(self, x, y):
                return x + y

            add_one = functools.partialmethod(add, 1)

        def main():
            lazy = Lazy()
            return (
                fib(30),
                fib.cache_info(),
                kind([1, "a", [2]]),
                lazy.value + lazy.value,
                Lazy.count,
                lazy.add_one(5),
                functools.reduce(lambda a, b: a * 10 + b, [1, 2, 3]),
                sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)),
                functools.partial(pow, 2)(5),
            )
    """,
    "callbacks_from_c": """
        import itertools, re

        def double(m):
            return m.group() * 2

        def main():
            return (
                re.sub("[ab]", double, "abc"),
                list(map(lambda x, y: x + y, [1, 2], [3, 4])),
                list(filter(lambda x: x > 1, [1, 2, 3])),
                [(k, list(g)) for k, g in itertools.groupby([1, 1, 2], key=lambda x: x * 2)],
                list(itertools.accumulate([1, 2, 3], lambda a, b: a * b)),
                list(itertools.starmap(lambda a, b: a - b, [(3, 1)])),
                list(itertools.takewhile(lambda x: x < 3, itertools.count())),
                max([1, -5], key=lambda x: abs(x)),
                list(iter(lambda it=iter([1, 2, 0, 3]): next(it), 0)),
            )
    """,
    "functions_made_by_hand": """
        import types

        def f(x, y=2):
            return x + y

        def g(x):
            return x * 100

        def main():
            made = types.FunctionType(f.__code__, globals(), "made", (5,))
            renamed = types.FunctionType(f.__code__.replace(co_name="renamed"), globals())
            before = f(1), made(1), renamed(1, 1), renamed.__name__
            h = types.FunctionType(f.__code__, {"__builtins__": __builtins__})
            return before, h(1, 3)
    """,
    "code_that_the_program_replaces": """
        def f(x):
            return abs(x)

        def g(x):
            return max(x, 100)

        def main():
            before = f(-1)
            f.__code__ = g.__code__
            return before, f(-1), g(1)
    """,
    "decorators_run_in_order_and_get_what_is_decorated": """
        log = []

        def deco(name):
            log.append(("made", name))

            def decorator(f):
                log.append(("applied", name, f.__name__))
                return f

            return decorator

        def main():
            @deco("outer")
            @deco("inner")
            def f(x=log.append("default")):
                return x

            @deco("class")
            class C(log.append("base") or object):
                log.append("body")

            return f(1), log
    """,
    "decorators_that_replace_what_they_decorate": """
        def main():
            @int
            @lambda f: "42"
            def number():
                pass

            @property
            def p(self):
                return 1

            return number, type(p).__name__
    """,
    "builtins_that_the_module_shadows": """
        def len(x):
            return "mine"

        def main():
            print = lambda *args: ("printed", args)
            return len([]), print(1)
    """,
    "threads_and_executors": """
        import concurrent.futures, threading

        def square(x):
            if x == 3:
                raise ValueError(f"not {x}")
            return abs(x) * abs(x)

        def main():
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                futures = [pool.submit(square, x) for x in range(5)]
                done = [f.exception() and repr(f.exception()) or f.result() for f in futures]
                mapped = list(pool.map(square, [-1, -2]))
            results = []
            thread = threading.Thread(target=lambda: results.append(square(-7)))
            thread.start(), thread.join()
            return done, mapped, results
    """,
    "names_with_every_letter": """
        def größe(λ):
            return λ + 1

        class Ñ:
            def __init__(self, é):
                self.é = é

            def 方法(self):
                return self.é * 2

        def main():
            return größe(1), Ñ(3).方法()
    """,
    "hundreds_of_arguments": """
        def f(*args, **kwargs):
            return len(args), len(kwargs), sum(args) + sum(kwargs.values())

        exec("def many(): return f(" + ", ".join(map(str, range(300))) + ")")

        def main():
            return f(*range(1000), **{f"k{i}": i for i in range(1000)}), many()
    """,
    "deeply_nested_calls": """
        def f(x):
            return x + 1

        def main():
            return f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(f(0))))))))))))))))))))
    """,
    "long_chains_of_methods_and_operators": """
        class Builder:
            def __init__(self):
                self.parts = []

            def add(self, x):
                self.parts.append(x)
                return self

        def main():
            b = Builder()
            b.add(1).add(2).add(3).add(4).add(5).add(6).add(7).add(8).add(9).add(10).add(11).add(12).add(13)
            return sum(b.parts) + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 - 1 - 2 - 3 * 4 * 5 // 2 ** 2
    """,
}
