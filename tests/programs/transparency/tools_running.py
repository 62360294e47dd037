"""Tools that run, watch or stop programs: threads, tasks, tracers, profilers, signals, finalisers."""

PROGRAMS = {
    "asyncio_debug_mode": """
        import asyncio, logging, sys

        messages = []

        class Keep(logging.Handler):
            def emit(self, record):
                messages.append(record.levelname)

        async def child(n):
            await asyncio.sleep(0)
            return abs(n)

        async def parent():
            tasks = [asyncio.create_task(child(-n), name=f"task {n}") for n in range(3)]
            never_awaited = child(1)
            origins = [(name, line) for file, line, name in never_awaited.cr_origin if file == __file__]
            never_awaited.close()
            frames = asyncio.current_task().get_stack()
            stack = [(f.f_code.co_name, f.f_lineno) for f in frames if f.f_code.co_filename == __file__]
            try:
                async with asyncio.timeout(0.001):
                    await asyncio.sleep(10)
            except TimeoutError:
                late = "late"
            loop = asyncio.get_running_loop()
            tracked = sys.get_coroutine_origin_tracking_depth() > 0
            return await asyncio.gather(*tasks), origins, stack, late, loop.get_debug(), tracked

        def main():
            logger, keep = logging.getLogger("asyncio"), Keep(logging.ERROR)
            logger.addHandler(keep)
            try:
                found = asyncio.run(parent(), debug=True)
            finally:
                logger.removeHandler(keep)
            return found, messages
    """,
    "sys_settrace_calls_and_returns": """
        import sys

        def leaf(x):
            return abs(x)

        def numbers(n):
            for i in range(n):
                yield leaf(i)

        class A:
            def __add__(self, other):
                return leaf(other)

        def work():
            return sum(numbers(2)), A() + 1, [leaf(x) for x in (1, 2)], sorted([2, 1], key=leaf), fail()

        def fail():
            try:
                return int("x")
            except ValueError:
                return len("x")

        def main():
            work()
            events = []

            def tracer(frame, event, arg):
                if frame.f_code.co_filename != __file__:
                    return None
                if event in ("call", "return"):
                    events.append((event, frame.f_code.co_name, arg, frame.f_back.f_code.co_name))
                elif event == "exception":
                    events.append((event, frame.f_code.co_name, arg[0].__name__, frame.f_lineno))
                return tracer

            old = sys.gettrace()
            sys.settrace(tracer)
            try:
                work()
            finally:
                sys.settrace(old)
            return [event for event in events if not (event[0] == "return" and event[1] == "main")]
    """,
    "sys_settrace_exceptions_on_their_way": """
        import sys

        def entered_for_the_first_time():
            raise ValueError("gate")

        def failing():
            yield 1
            raise ValueError("generator")

        def in_a_loop():
            for item in failing():
                pass

        def in_a_comprehension():
            return [item for item in failing()]

        def in_a_block():
            with open(__file__) as file:
                fail(file)

        def fail(x):
            raise ValueError(x)

        def in_a_generator():
            yield fail(1)

        def in_a_class():
            class A:
                x = fail(2)

        def unpacking():
            a, b = failing()

        def with_splats():
            fail(*[1])

        def by_name():
            fail(len(vars()))

        def attempt(function, *arguments):
            try:
                function(*arguments)
            except ValueError:
                return 1

        def work():
            attempt(entered_for_the_first_time)
            attempt(in_a_loop)
            attempt(in_a_comprehension)
            attempt(in_a_block)
            attempt(list, in_a_generator())
            attempt(in_a_class)
            attempt(unpacking)
            attempt(with_splats)
            attempt(by_name)
            attempt(list, map(fail, [1]))

        def main():
            events = []

            def tracer(frame, event, arg):
                if frame.f_code.co_filename != __file__:
                    return None
                if event == "exception":
                    events.append((frame.f_code.co_name, arg[0].__name__, frame.f_lineno))
                elif event == "return":
                    events.append((frame.f_code.co_name, arg, frame.f_lineno))
                return tracer

            old = sys.gettrace()
            sys.settrace(tracer)
            try:
                work()
            finally:
                sys.settrace(old)
            return [event for event in events if event[0] != "main"]
    """,
    "sys_settrace_sees_the_same_lines": """
        import sys

        def work(x):
            total = 0
            for i in range(3):
                if abs(i - x) > 1:
                    total += len(str(i))
                else:
                    total -= i
            while total > 0:
                total = total - max(1, 2)
            try:
                total = int("x")
            except ValueError:
                total = abs(total)
            return total

        def main():
            work(1)
            lines = []

            def tracer(frame, event, arg):
                if frame.f_code is not main.__code__ and frame.f_code.co_filename == __file__ and event == "line":
                    lines.append(frame.f_lineno)
                return tracer

            old = sys.gettrace()
            sys.settrace(tracer)
            try:
                result = work(1)
            finally:
                sys.settrace(old)
            first = work.__code__.co_firstlineno
            return result, [line - first for line in lines if line <= first + 15]
    """,
    "sys_setprofile_calls_and_returns": """
        import sys

        def leaf(x):
            return abs(x)

        def numbers(n):
            for i in range(n):
                yield leaf(i)

        class A:
            def m(self):
                return leaf(*[1])

        def work():
            return sum(numbers(2)), A().m(), sorted([2, 1], key=leaf)

        def main():
            work()
            events = []

            def profiler(frame, event, arg):
                if frame.f_code.co_filename == __file__ and event in ("call", "return"):
                    events.append((event, frame.f_code.co_name, repr(arg)))

            old = sys.getprofile()
            sys.setprofile(profiler)
            try:
                work()
            finally:
                sys.setprofile(old)
            return events
    """,
    "sys_setprofile_calls_of_c_functions": """
        import sys

        def leaf(x):
            return abs(x)

        def work(xs):
            xs.append(leaf(-1))
            return len(xs), "a".upper()

        def main():
            work([])
            events = []

            def profiler(frame, event, arg):
                if frame.f_code.co_filename == __file__ and event.startswith("c_"):
                    events.append((event, frame.f_code.co_name, arg.__qualname__))

            old = sys.getprofile()
            sys.setprofile(profiler)
            try:
                work([])
            finally:
                sys.setprofile(old)
            return [event for event in events if event[2] in ("abs", "list.append", "len", "str.upper")]
    """,
    "sys_setprofile_calls_of_c_functions_with_splats": """
        import sys

        def work(xs):
            return max(*xs, 5)

        def main():
            work([1])
            events = []

            def profiler(frame, event, arg):
                if event == "c_call" and arg is max:
                    events.append(frame.f_code.co_name)

            old = sys.getprofile()
            sys.setprofile(profiler)
            try:
                work([1])
            finally:
                sys.setprofile(old)
            return events
    """,
    "cprofile_call_counts": """
        import cProfile, pstats

        def leaf(x):
            return abs(x)

        def numbers(n):
            for i in range(n):
                yield leaf(i)

        def work(n):
            total = sum(numbers(n)) + len(sorted([2, 1], key=lambda x: leaf(x)))
            return total + (work(n - 1) if n else 0)

        def main():
            work(1)
            profile = cProfile.Profile()
            result = profile.runcall(work, 3)
            stats = pstats.Stats(profile).stats
            return result, sorted((key[1:], value[:2]) for key, value in stats.items() if key[0] == __file__)
    """,
    "cprofile_call_counts_by_caller": """
        import cProfile, pstats

        BUILTINS = "<built-in method builtins.abs>", "<method 'upper' of 'str' objects>"

        def leaf(x):
            return abs(x)

        def work(n):
            return [leaf(i) for i in range(n)], "a".upper(), len("a"), leaf(x=1)

        def main():
            work(1)
            profile = cProfile.Profile()
            profile.runcall(work, 3)
            found = []
            for (_, _, name), (*_, callers) in pstats.Stats(profile).stats.items():
                for (file, _, caller), counts in callers.items():
                    if file == __file__:
                        found.append((name, caller, counts[:2]))
            return sorted(entry for entry in found if entry[0] in ("leaf", *BUILTINS))
    """,
    "cprofile_call_counts_of_builtins_called_with_splats": """
        import cProfile, pstats

        def work(xs):
            return max(*xs, 5)

        def main():
            work([1])
            profile = cProfile.Profile()
            profile.runcall(work, [1])
            for (_, _, name), (*_, callers) in pstats.Stats(profile).stats.items():
                if name == "<built-in method builtins.max>":
                    return [(caller, counts[:2]) for (_, _, caller), counts in callers.items()]
    """,
    "tracemalloc_points_at_the_line": """
        import tracemalloc

        def make(n):
            return bytearray(n)

        class A:
            def m(self):
                return [make(1000) for _ in range(1)], make(*[1000]), make(n=1000)

        def main():
            A().m()
            was_on = tracemalloc.is_tracing()
            tracemalloc.start(5)
            try:
                made = A().m()
                traces = [tracemalloc.get_object_traceback(o) for o in (made[0][0], made[1], made[2], make(2000))]
            finally:
                if not was_on:
                    tracemalloc.stop()
            return [[f.lineno for f in trace if f.filename == __file__] for trace in traces]
    """,
    "keyboard_interrupt_in_a_loop": """
        import signal, traceback

        def loop(log):
            try:
                for i in range(1_000_000):
                    if i == 10:
                        signal.raise_signal(signal.SIGINT)
                    log.append(abs(i))
            finally:
                log.append("finally")

        def main():
            log = []
            old = signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                loop(log)
            except KeyboardInterrupt as error:
                lines = [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
            finally:
                signal.signal(signal.SIGINT, old)
            return log[-3:], lines
    """,
    "signal_handlers_in_python": """
        import signal

        seen = []

        def handler(number, frame):
            seen.append((number, frame.f_code.co_name, abs(-1)))

        def loop():
            for i in range(5):
                if i % 2:
                    signal.raise_signal(signal.SIGUSR1)
                len(str(i))

        def main():
            seen.clear()
            old = signal.signal(signal.SIGUSR1, handler)
            try:
                loop()
            finally:
                signal.signal(signal.SIGUSR1, old)
            return list(seen), signal.getsignal(signal.SIGUSR1) == old
    """,
    "del_runs_when_the_last_reference_goes": """
        log = []

        class A:
            def __init__(self, name):
                self.name = name

            def __del__(self):
                log.append(f"del {self.name} {len(self.name)}")

        def pass_on(x):
            return x

        def main():
            log.clear()
            pass_on(A("result that is not stored"))
            log.append("after 1")
            a = pass_on(A("kept"))
            log.append("after 2")
            a = None
            log.append("after 3")
            [pass_on(A(f"element {i}")) and log.append(i) for i in range(2)]
            log.append("after 4")
            b = A("deleted")
            pass_on(b)
            del b
            return list(log)
    """,
    "del_of_an_argument_runs_when_the_call_fails": """
        log = []

        class A:
            def __del__(self):
                log.append("del")

        def pass_on(x):
            return x

        def main():
            log.clear()
            try:
                pass_on(A(), 1)
            except TypeError:
                log.append("failed")
            return list(log)
    """,
    "del_that_raises_is_reported": """
        import sys

        class A:
            def __del__(self):
                raise ValueError(len("abc"))

        def main():
            seen = []
            old, sys.unraisablehook = sys.unraisablehook, lambda u: seen.append(
                (u.exc_type.__name__, str(u.exc_value), u.object.__qualname__, u.exc_traceback.tb_lineno)
            )
            try:
                A()
                seen.append("after")
            finally:
                sys.unraisablehook = old
            return seen
    """,
    "weakref_callbacks_and_finalize": """
        import weakref

        log = []

        class A:
            def m(self):
                return len("m")

        def gone(reference):
            log.append(("gone", abs(-1), reference() is None))

        def main():
            log.clear()
            a = A()
            reference, method = weakref.ref(a, gone), weakref.WeakMethod(a.m)
            weakref.finalize(a, log.append, "finalized")
            known = weakref.WeakValueDictionary(a=a)
            method()()
            log.append((len(known), reference() is a))
            del a
            log.append((len(known), reference(), method()))
            return list(log)
    """,
}

SINCE_3_12 = {
    "sys_monitoring_calls": """
        import sys

        def leaf(x):
            return abs(x)

        def numbers(n):
            for i in range(n):
                yield leaf(i)

        class A:
            def __init__(self):
                self.x = leaf(1)

        def work():
            return sum(numbers(2)), A().x, sorted([2, 1], key=leaf)

        def main():
            work()
            mon, events = sys.monitoring, []
            tool = next(i for i in range(6) if mon.get_tool(i) is None)
            mon.use_tool_id(tool, "test")

            def start(code, offset):
                if code.co_filename == __file__:
                    events.append(("start", code.co_name))

            def back(code, offset, value):
                if code.co_filename == __file__:
                    events.append(("return", code.co_name, repr(value) if code.co_name != "__init__" else None))

            E = mon.events
            mon.register_callback(tool, E.PY_START, start)
            mon.register_callback(tool, E.PY_RETURN, back)
            mon.register_callback(tool, E.PY_YIELD, back)
            mon.register_callback(tool, E.PY_RESUME, start)
            mon.set_events(tool, E.PY_START | E.PY_RETURN | E.PY_YIELD | E.PY_RESUME)
            try:
                work()
            finally:
                mon.set_events(tool, 0)
                mon.free_tool_id(tool)
            return events
    """,
    "sys_monitoring_call_events_of_leaves": """
        import sys

        def leaf(x):
            return abs(x)

        def work():
            return leaf(-1), len("a"), [].append(1)

        def main():
            work()
            mon, events = sys.monitoring, []
            tool = next(i for i in range(6) if mon.get_tool(i) is None)
            mon.use_tool_id(tool, "test")

            def call(code, offset, function, argument):
                name = function.__qualname__
                if code.co_filename == __file__ and name in ("leaf", "abs", "len", "list.append"):
                    events.append((code.co_name, name))

            mon.register_callback(tool, mon.events.CALL, call)
            mon.set_events(tool, mon.events.CALL)
            try:
                work()
            finally:
                mon.set_events(tool, 0)
                mon.free_tool_id(tool)
            return events
    """,
    "sys_monitoring_call_events_of_methods": """
        import sys

        def work(xs):
            return xs.append(1)

        def main():
            work([])
            mon, events = sys.monitoring, []
            tool = next(i for i in range(6) if mon.get_tool(i) is None)
            mon.use_tool_id(tool, "test")

            def call(code, offset, function, argument):
                if code is work.__code__ and function.__qualname__ == "list.append":
                    events.append((type(function).__name__, argument))

            mon.register_callback(tool, mon.events.CALL, call)
            mon.set_events(tool, mon.events.CALL)
            try:
                work([])
            finally:
                mon.set_events(tool, 0)
                mon.free_tool_id(tool)
            return events
    """,
}
