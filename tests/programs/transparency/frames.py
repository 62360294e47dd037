"""Frames: what a program sees of itself while it runs."""

PROGRAMS = {
    "caller_by_getframe": """
        import sys

        def who():
            frame = sys._getframe(1)
            return frame.f_code.co_name, frame.f_lineno, frame.f_code.co_qualname

        class A:
            def m(self):
                return who()

            def __getitem__(self, key):
                return who()

            def __add__(self, other):
                return who()

        def main():
            a, seen = A(), []
            return [
                who(),
                a.m(),
                a[0],
                a + 1,
                [who() for _ in range(1)],
                (lambda: who())(),
                list(map(lambda x: who(), [1])),
                sorted([2, 1], key=lambda x: seen.append(who()) or x),
                seen,
                next(who() for _ in range(1)),
                str(who()),
            ]
    """,
    "caller_by_getframe_of_special_methods": """
        import sys

        class A:
            def __add__(self, other):
                return sys._getframe(1).f_code.co_name

            def __getitem__(self, key):
                return sys._getframe(1).f_code.co_name

            def __lt__(self, other):
                return sys._getframe(1).f_code.co_name

            def __iadd__(self, other):
                return sys._getframe(1).f_code.co_name

            def __contains__(self, x):
                self.seen = sys._getframe(1).f_code.co_name
                return True

            def __call__(self):
                return sys._getframe(1).f_code.co_name

            def __init__(self):
                self.init = sys._getframe(1).f_code.co_name

        def caller():
            a = A()
            b = a
            b += 1
            3 in a
            return a + 1, a[2], a < 3, b, a.seen, a(), a.init

        def main():
            return caller()
    """,
    "whole_stack_of_names_and_lines": """
        import sys

        def stack():
            frame, seen = sys._getframe(1), []
            while True:
                seen.append((frame.f_code.co_name, frame.f_lineno))
                if frame.f_code.co_name == "main":
                    return seen
                frame = frame.f_back

        class A:
            def __init__(self):
                self.stack = stack()

            @property
            def p(self):
                return self.m(
                    1,
                    stack(),
                )

            def m(self, *args):
                return stack(), args

        def generator():
            yield stack()
            yield [stack() for _ in range(1)]

        def recurse(n):
            return stack() if n == 0 else recurse(
                n - 1
            )

        def main():
            return A().stack, A().p, list(generator()), recurse(3), list(map(lambda x: stack(), [0]))
    """,
    "inspect_stack_and_currentframe": """
        import inspect, os

        def where():
            info = inspect.stack()[1]
            return os.path.basename(info.filename), info.lineno, info.function, info.code_context, info.index

        def line():
            return inspect.currentframe().f_back.f_lineno, inspect.currentframe().f_lineno

        def main():
            inspect.currentframe().f_lineno
            return (
                where(),
                line(),
                [where() for _ in range(1)],
                inspect.currentframe().f_code.co_name,
                inspect.getframeinfo(inspect.currentframe()).lineno,
            )
    """,
    "positions_of_the_frames_above": """
        import sys

        def position():
            frame = sys._getframe(1)
            return list(frame.f_code.co_positions())[frame.f_lasti // 2]

        def f(*args):
            return args

        def main():
            x = position()
            return (
                x, f(position(), position()), [position(), f(1, position())], 1 and position(),
                {"k": position()}, f(*[position()], k=position()) if False else f(*[position()]),
            )
    """,
    "local_variables_by_locals": """
        def f(a, b=2, *args, c=3, **kwargs):
            x = abs(a) + b
            y = [x + i for i in range(2)]
            y[0] += 1
            return sorted(locals().items())

        def nothing():
            abs(-1) + len([])
            return locals()

        def main():
            return f(-1), f(1, 2, 3, c=4, d=5), nothing()
    """,
    "local_variables_by_vars_and_dir": """
        def f(a):
            b = abs(a) + 1
            return sorted(dir()), vars()

        class A:
            def m(self):
                x = max(1, 2)
                return sorted(vars()), dir()

        def main():
            return f(-1), A().m()
    """,
    "locals_of_comprehensions_lambdas_and_generators": """
        def main():
            x = abs(-1)
            return (
                [sorted(locals()) == sorted(locals()) for i in range(1)],
                (lambda y, z=abs(-2): sorted(locals()))(1),
                next(sorted(locals()) for _ in range(abs(-1)) if abs(1)),
            )
    """,
    "locals_under_another_name": """
        look = locals

        def f(a):
            b = abs(a) + len([a])
            return sorted(look())

        def main():
            return f(-1)
    """,
    "locals_of_the_caller_by_frame": """
        import sys

        def peek():
            return sorted(sys._getframe(1).f_locals)

        def f(a):
            b = abs(a) + len([a])
            c = [b for _ in range(2)]
            c[0] += 1
            return peek()

        class A:
            names = peek()

        def main():
            return f(-1), A.names
    """,
    "locals_in_the_frames_of_a_traceback": """
        def fail(x):
            y = abs(x) + len([x])
            return y / (y - y)

        def f(a):
            b = max(a, len("ab"))
            return fail(b) + fail(a + b)

        def main():
            try:
                f(1)
            except ZeroDivisionError as error:
                tb, seen = error.__traceback__, []
                while tb is not None:
                    seen.append((tb.tb_frame.f_code.co_name, sorted(tb.tb_frame.f_locals)))
                    tb = tb.tb_next
                return seen[1:]
    """,
    "frame_writes_to_locals_by_exec": """
        def f(x):
            y = 1
            exec("y = abs(-5); z = x + 1")
            return y, "z" in locals()

        def main():
            return f(1)
    """,
    "eval_and_exec_see_locals_and_globals": """
        g = 10

        def f(x):
            y = abs(x)
            scope = {}
            exec("result = y + g", {"y": y, "g": g}, scope)
            return eval("x + y + g"), eval("[x for _ in range(2)]", {"x": 3}), scope, eval("sorted(locals())")

        class A:
            a = 1
            b = eval("a + 1")
            exec("c = b + 1")

        def main():
            return f(-2), A.b, A.c
    """,
    "eval_and_exec_under_another_name": """
        run = eval

        def f(x):
            y = abs(x)
            return run("x + y")

        def main():
            return f(-2), list(map(eval, ["1 + 1"]))
    """,
    "globals_is_the_namespace_of_the_module": """
        import sys

        def f():
            globals()["made"] = abs(-5)
            return globals() is sys.modules[__name__].__dict__, made

        def main():
            return f(), [globals()["made"] for _ in range(1)], f.__globals__ is globals()
    """,
    "names_of_the_module": """
        import abc

        def f(x):
            return abs(x) + 1

        class C:
            y = f(-1)

        value = f(2) + C.y
        values = [f(i) for i in range(3)]
        values[0] += 1
        small = 0 < value < 10

        for index in range(len(values)):
            last = values[index]

        def main():
            f(1)
            return sorted(k for k in globals() if k not in ("__builtins__", "__cached__"))
    """,
    "names_of_the_module_at_its_own_level": """
        def f(x):
            return abs(x) + 1

        a = f(1) + f(2)
        names = sorted(k for k in globals() if k != "__builtins__")
        local = sorted(k for k in locals() if k != "__builtins__")
        listed = sorted(k for k in dir() if k != "__builtins__")

        def main():
            return a, names, local, listed
    """,
    "dunder_names_of_the_module": '''
        """The docstring."""

        import os, sys

        def main():
            return (
                __name__,
                os.path.basename(__file__),
                __doc__,
                __package__,
                type(__loader__).__mro__[-1].__name__,
                __spec__.name,
                os.path.basename(__spec__.origin),
                __spec__.has_location,
            )
    ''',
    "import_star_and_all": """
        from math import *
        from os.path import *

        __all__ = ["main"]

        def main():
            return sqrt(4), basename("a/b"), __all__
    """,
    "imports_inside_of_functions_and_classes": """
        def f():
            import os.path as p, math
            from collections import OrderedDict as O, deque

            return p.basename("a/b"), math.floor(1.5), O(a=1), deque([1])

        class C:
            import string

            digits = string.digits.upper()

        def main():
            return f(), C.digits, __import__("math").pi
    """,
    "globals_and_nonlocals": """
        counter = 0

        def bump(n):
            global counter, fresh
            counter += n
            fresh = counter * 2
            return counter

        def make():
            total = 0

            def add(n):
                nonlocal total
                total += n
                return total

            def reset():
                nonlocal total
                total = 0

            return add, reset

        def main():
            global counter
            counter = 5
            add, reset = make()
            bump(1), add(2), add(3)
            before = add(0)
            reset()
            del globals()["fresh"]
            try:
                fresh
            except NameError as error:
                return counter, before, add(1), str(error)
    """,
    "nonlocal_and_global_below_other_statements": '''
        x = 1

        def outer():
            y = 1

            def inner():
                """Docstring."""
                z = abs(-1)
                global x
                x = z + 1
                if z:
                    nonlocal y
                    y = abs(-5)
                return y

            return inner(), y

        def main():
            return outer(), x
    ''',
    "deletion_of_names": """
        def f(x):
            y = abs(x)
            del y
            try:
                return y
            except UnboundLocalError as error:
                return str(error)

        def g():
            x = 1

            def h():
                return x

            del x
            try:
                return h()
            except NameError as error:
                return str(error)

        def main():
            return f(1), g()
    """,
    "name_that_is_bound_in_one_branch_only": """
        def f(flag):
            if flag:
                x = abs(-1)
            return x

        def main():
            try:
                f(False)
            except UnboundLocalError as error:
                return f(True), str(error)
    """,
    "closures_made_before_and_after": """
        def counter(start):
            value = start

            def step(by=1):
                nonlocal value
                value = value + by
                return value

            def peek():
                return value

            return step, peek

        step, peek = counter(10)
        functions = [lambda x, i=i: x + i for i in range(3)]
        late = [lambda: i for i in range(3)]

        def main():
            step(), step(5)
            own_step, own_peek = counter(0)
            own_step()
            return (
                peek(),
                own_peek(),
                [f(1) for f in functions],
                [f() for f in late],
                step.__closure__[0].cell_contents,
            )
    """,
    "cells_are_shared_and_can_be_written": """
        def make():
            x = 1

            def get():
                return abs(x)

            def set(v):
                nonlocal x
                x = v

            return get, set

        def main():
            get, set = make()
            first = get()
            set(-5)
            second = get()
            get.__closure__[0].cell_contents = -9
            return first, second, get(), get.__closure__ == set.__closure__, get.__code__.co_freevars
    """,
    "warnings_point_at_their_stack_level": """
        import os, warnings

        def deprecated():
            warnings.warn("old", DeprecationWarning, stacklevel=2)

        def deeper():
            warnings.warn("deep", UserWarning, stacklevel=3)

        class A:
            def __init__(self):
                warnings.warn("class", UserWarning, stacklevel=2)

            def __add__(self, other):
                warnings.warn("add", UserWarning, stacklevel=2)

        def between():
            deeper()

        def main():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                warnings.warn("here")
                deprecated()
                between()
                A() + 1
                [deprecated() for _ in range(1)]
                list(map(lambda x: deprecated(), [1]))
            return [
                (str(w.message), w.category.__name__, os.path.basename(w.filename), w.lineno)
                for w in caught
            ]
    """,
    "warnings_are_shown_once_for_each_place": """
        import warnings

        def deprecated():
            warnings.warn("old", UserWarning, stacklevel=2)

        def f():
            deprecated()

        def main():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("default")
                for _ in range(3):
                    f()
                f()
                deprecated()
            return len(caught)
    """,
    "logging_finds_its_caller": """
        import logging

        class Keep(logging.Handler):
            def __init__(self):
                super().__init__()
                self.records = []

            def emit(self, record):
                self.records.append((record.funcName, record.lineno, record.filename, record.getMessage()))

        log = logging.getLogger(__name__)

        def helper(level):
            log.warning("%s", level, stacklevel=level)

        class A:
            def m(self):
                helper(1), helper(2), log.info("not seen")
                return [log.error("in a comprehension") for _ in range(1)], (lambda: log.error("in a lambda"))()

        def main():
            keep = Keep()
            log.addHandler(keep)
            log.propagate = False
            A().m()
            try:
                int("x")
            except ValueError:
                log.exception("failed", stack_info=False)
            log.removeHandler(keep)
            return keep.records
    """,
    "extracted_stacks": """
        import traceback

        def stack():
            entries = traceback.extract_stack()
            names = [e.name for e in entries]
            start = len(names) - 1 - names[::-1].index("main")
            return [(e.name, e.lineno, e.line, e.colno, e.end_colno) for e in entries[start:]]

        def f(x):
            return [
                stack(),
                x,
            ]

        def main():
            return f(abs(-1)), f(x=len("a"))[0]
    """,
    "formatted_tracebacks": """
        import traceback

        def inner(x):
            return {}["missing"][abs(x)]

        def outer(x):
            return (1 +
                    inner(x))

        def main():
            try:
                outer(-1)
            except KeyError:
                return traceback.format_exc()
    """,
    "frames_of_class_bodies_and_modules": """
        import sys

        class A:
            frame = sys._getframe()
            name, line = frame.f_code.co_name, frame.f_lineno
            back = frame.f_back.f_code.co_name
            del frame

        module_name, module_line = sys._getframe().f_code.co_name, sys._getframe().f_lineno

        def main():
            class B:
                back = sys._getframe(1).f_code.co_name

            return A.name, A.line, A.back, module_name, module_line, B.back
    """,
    "recursion_goes_as_deep_as_without_a_context": """
        import sys

        def depth():
            frame, n = sys._getframe(), 0
            while frame is not None:
                frame, n = frame.f_back, n + 1
            return n

        def countdown(n):
            return 0 if n == 0 else countdown(n - 1) + 1

        class A:
            def method(self, n):
                return 0 if n == 0 else self.method(n - 1) + 1

            @property
            def itself(self):
                return self

        def even(n):
            return True if n == 0 else odd(n - 1)

        def odd(n):
            return False if n == 0 else even(n - 1)

        def main():
            old = sys.getrecursionlimit()
            sys.setrecursionlimit(depth() + 500)
            try:
                return countdown(440), A().method(440), even(440), countdown(*[440])
            finally:
                sys.setrecursionlimit(old)
    """,
    "recursion_through_lambdas_and_closures_goes_as_deep_as_without_a_context": """
        import sys

        def depth():
            frame, n = sys._getframe(), 0
            while frame is not None:
                frame, n = frame.f_back, n + 1
            return n

        def main():
            down = lambda n: 0 if n == 0 else down(n - 1) + 1

            def closure(n):
                return 0 if n == 0 else closure(n - 1) + 1

            old = sys.getrecursionlimit()
            sys.setrecursionlimit(depth() + 500)
            try:
                return down(440), closure(440)
            finally:
                sys.setrecursionlimit(old)
    """,
    "recursion_through_comprehensions_goes_as_deep_as_without_a_context": """
        import sys

        def depth():
            frame, n = sys._getframe(), 0
            while frame is not None:
                frame, n = frame.f_back, n + 1
            return n

        def tree(n):
            return [tree(n - 1) for _ in range(1)] if n else []

        def measure(t):
            n = 0
            while t:
                t, n = t[0], n + 1
            return n

        def main():
            old = sys.getrecursionlimit()
            sys.setrecursionlimit(depth() + 500)
            try:
                return measure(tree(220))
            finally:
                sys.setrecursionlimit(old)
    """,
    "recursion_through_generators_goes_as_deep_as_without_a_context": """
        import sys

        def depth():
            frame, n = sys._getframe(), 0
            while frame is not None:
                frame, n = frame.f_back, n + 1
            return n

        def walk(n):
            yield n
            if n:
                yield from walk(n - 1)

        def main():
            old = sys.getrecursionlimit()
            sys.setrecursionlimit(depth() + 500)
            try:
                return sum(walk(220))
            finally:
                sys.setrecursionlimit(old)
    """,
    "endless_recursion_raises": """
        def f(n):
            return f(n + 1) + 1

        def main():
            try:
                f(0)
            except RecursionError as error:
                return str(error)
    """,
    "program_survives_its_recursion_error": """
        def f(n):
            return f(n + 1) + 1

        def g(x):
            return abs(x)

        def main():
            for _ in range(3):
                try:
                    f(0)
                except RecursionError:
                    pass
            return g(-1), [g(-2)], sorted([-1], key=g)
    """,
    "line_events_of_a_tracer": """
        import sys

        def f(x):
            y = abs(x)
            if y > 1 and x < 0:
                z = [
                    y + i
                    for i in range(
                        2
                    )
                ]
            else:
                z = None
            for i in range(2):
                y += max(
                    i,
                    y,
                )
            try:
                int("x")
            except ValueError:
                y = 0
            finally:
                z[0] += 1
            return y

        def main():
            events = []

            def tracer(frame, event, arg):
                if frame.f_code.co_filename != __file__:
                    return None
                events.append((event, frame.f_code.co_name, frame.f_lineno))
                return tracer

            f(1) if False else None
            f(-2)
            old = sys.gettrace()
            sys.settrace(tracer)
            try:
                f(-2)
            finally:
                sys.settrace(old)
            return events
    """,
    "line_events_of_a_tracer_in_generators_and_methods": """
        import sys

        class A:
            def __init__(self, x):
                self.x = abs(x)

            def m(self):
                return self.x + 1

        def numbers(n):
            for i in range(n):
                yield A(i).m()

        def g():
            total = 0
            for n in numbers(2):
                total += n
            return total

        def main():
            events = []

            def tracer(frame, event, arg):
                if frame.f_code.co_filename != __file__:
                    return None
                events.append((event, frame.f_code.co_name, frame.f_lineno))
                return tracer

            g()
            old = sys.gettrace()
            sys.settrace(tracer)
            try:
                g()
            finally:
                sys.settrace(old)
            return events
    """,
    "line_events_of_a_loop_with_one_call": """
        import sys

        def f(n):
            for i in range(n):
                x = abs(i)
            return x

        def main():
            events = []

            def tracer(frame, event, arg):
                if frame.f_code.co_filename != __file__:
                    return None
                events.append((event, frame.f_lineno))
                return tracer

            f(1)
            old = sys.gettrace()
            sys.settrace(tracer)
            try:
                f(1)
            finally:
                sys.settrace(old)
            return events
    """,
    "profiles_by_cprofile": """
        import cProfile, pstats

        def leaf(x):
            return abs(x)

        def numbers(n):
            for i in range(n):
                yield leaf(i)

        def work(n):
            return sum(numbers(n)) + len(sorted([2, 1], key=lambda x: leaf(x)))

        def main():
            profile = cProfile.Profile()
            result = profile.runcall(work, 3)
            stats = pstats.Stats(profile).stats
            return result, sorted((key[1:], value[:2]) for key, value in stats.items() if key[0] == __file__)
    """,
    "lines_that_coverage_counts": """
        import sys

        def f(x):
            if abs(x) > 1:
                return len("large")
            elif x == 1:
                return len("one")
            while x < 5:
                x += abs(1)
                if x == 3:
                    continue
                else:
                    pass
            with open(__file__) as stream:
                stream.read()
            return x

        def main():
            lines = set()

            def tracer(frame, event, arg):
                if frame.f_code.co_filename != __file__:
                    return None
                lines.add((frame.f_code.co_name, frame.f_lineno))
                return tracer

            old = sys.gettrace()
            sys.settrace(tracer)
            try:
                f(0), f(1), f(2)
            finally:
                sys.settrace(old)
            return sorted(lines)
    """,
}

SINCE_3_12 = {
    "line_events_of_sys_monitoring": """
        import sys

        def f(x):
            y = abs(x)
            if y > 1:
                y += 1
            return [y + i for i in range(2)]

        def main():
            f(-2)
            lines, tool = [], 3
            monitoring = sys.monitoring
            monitoring.use_tool_id(tool, "lines")
            monitoring.register_callback(
                tool,
                monitoring.events.LINE,
                lambda code, line: (
                    lines.append((code.co_name, line)) if code.co_filename == __file__ else None
                ),
            )
            monitoring.set_events(tool, monitoring.events.LINE)
            try:
                f(-2)
            finally:
                monitoring.set_events(tool, 0)
                monitoring.register_callback(tool, monitoring.events.LINE, None)
                monitoring.free_tool_id(tool)
            return [line for line in lines if line[0] == "f"]
    """,
}
