"""When objects die: which ones a program keeps alive, and which it does not."""

PROGRAMS = {
    "argument_that_is_not_stored_dies_after_the_call": """
        import weakref

        class Thing:
            pass

        log = []

        def use(x, *rest, **kwargs):
            log.append("used")

        def make(name):
            thing = Thing()
            weakref.finalize(thing, log.append, name)
            return thing

        def main():
            use(make("positional"))
            log.append("next statement")
            use(1, make("second"), *[make("splat")], k=make("keyword"))
            log.append("next statement")
            use(use(make("nested")))
            log.append("next statement")
            return log
    """,
    "result_that_is_not_stored_dies_at_once": """
        import weakref

        class Thing:
            def method(self):
                return len("abc")

            def __add__(self, other):
                return make("sum")

            def __getitem__(self, key):
                return make("item")

        log = []

        def make(name):
            thing = Thing()
            weakref.finalize(thing, log.append, name)
            return thing

        def main():
            make("dropped")
            log.append("1")
            make("receiver").method()
            log.append("2")
            make("left") + make("right")
            log.append("3")
            make("container")[make("key")]
            log.append("4")
            make("x") is make("y")
            log.append("5")
            [make("in a list")]
            log.append("6")
            return log
    """,
    "left_operands_die_before_the_end_of_the_statement": """
        import weakref

        class Thing:
            def __init__(self, name):
                weakref.finalize(self, log.append, name)
                self.name = name

            def __add__(self, other):
                return Thing(self.name + other.name)

        log = []

        def note(x):
            log.append("note")
            return x.name

        def main():
            result = note(Thing("a") + Thing("b") + Thing("c"))
            log.append("end")
            return result, log
    """,
    "receiver_in_a_chain_dies_as_soon_as_it_is_not_needed": """
        import weakref

        log = []

        class Link:
            def __init__(self, n):
                self.n = n
                weakref.finalize(self, log.append, n)

            def next(self):
                log.append(("next", self.n))
                return Link(self.n + 1)

        def main():
            last = Link(0).next().next().next()
            log.append("made")
            n = last.n
            del last
            log.append("deleted")
            return n, log
    """,
    "rebinding_a_name_frees_what_it_held": """
        import weakref

        log = []

        class Thing:
            pass

        def make(name):
            thing = Thing()
            weakref.finalize(thing, log.append, name)
            return thing

        def main():
            x = make(1)
            log.append("a")
            x = make(2)
            log.append("b")
            x = None
            log.append("c")
            y = make(3)
            del y
            log.append("d")
            for z in [1]:
                w = make(4)
            w = make(5)
            log.append("e")
            return log
    """,
    "locals_die_when_the_function_returns": """
        import weakref

        log = []

        class Thing:
            pass

        def make(name):
            thing = Thing()
            weakref.finalize(thing, log.append, name)
            return thing

        def f(argument):
            local = make("local")
            log.append("returning")
            return len("abc")

        def main():
            f(make("argument"))
            log.append("returned")
            f(argument=make("keyword"))
            log.append("returned")
            return log
    """,
    "element_of_a_loop_dies_in_time": """
        import weakref

        log = []

        class Thing:
            def __init__(self, n):
                self.n = n
                weakref.finalize(self, log.append, ("dead", n))

        def things():
            for i in range(3):
                yield Thing(i)

        def use(x):
            log.append(x.n)

        def main():
            for x in things():
                use(x)
            del x
            log.append("end")
            [use(x) for x in things()]
            log.append("end")
            list(map(use, things()))
            return log
    """,
    "exception_frees_arguments_when_it_is_handled": """
        import weakref

        log = []

        class Thing:
            pass

        def make(name):
            thing = Thing()
            weakref.finalize(thing, log.append, name)
            return thing

        def fail(x):
            raise ValueError("x")

        def main():
            try:
                fail(make("argument"))
            except ValueError:
                log.append("handler")
            log.append("after")
            try:
                len(make("of a builtin"))
            except TypeError:
                log.append("handler")
            log.append("after")
            try:
                make("left") + make("right")
            except TypeError:
                log.append("handler")
            log.append("after")
            return log
    """,
    "traceback_does_not_keep_temporaries": """
        import weakref

        log = []

        class Thing:
            def fail(self):
                return int("x")

        def make(name):
            thing = Thing()
            weakref.finalize(thing, log.append, name)
            return thing

        def f():
            len(make("argument of a builtin"))

        def g():
            make("left") + 1

        def attempt(function):
            try:
                function()
            except TypeError as error:
                return error

        def main():
            kept = [attempt(f), attempt(g)]
            log.append("caught")
            kept.clear()
            log.append("dropped")
            return log
    """,
    "exception_is_freed_after_its_handler": """
        import weakref

        log = []

        class Error(Exception):
            pass

        def fail():
            error = Error()
            weakref.finalize(error, log.append, "freed")
            try:
                raise error
            finally:
                del error

        def main():
            try:
                fail()
            except Error as e:
                log.append("handler")
            log.append("after")
            return log
    """,
    "no_reference_cycles_are_made": """
        import gc, weakref

        class Thing:
            def m(self):
                return abs(-1)

        def f(x):
            y = [x.m() for _ in range(2)]
            return (lambda: x.m())() + sum(y) + max(x.m(), x.m())

        def g(x):
            try:
                return x.missing()
            except AttributeError:
                return abs(-1)

        def main():
            gc.collect()
            gc.disable()
            try:
                thing = Thing()
                ref = weakref.ref(thing)
                f(thing), g(thing)
                del thing
                return ref() is None
            finally:
                gc.enable()
    """,
    "generator_frees_its_locals_when_it_is_closed": """
        import weakref

        log = []

        class Thing:
            pass

        def make(name):
            thing = Thing()
            weakref.finalize(thing, log.append, name)
            return thing

        def generator(x):
            local = make("local")
            yield len([x])
            yield 2

        def main():
            g = generator(make("argument"))
            next(g)
            log.append("advanced")
            g.close()
            log.append("closed")
            h = generator(make("second"))
            next(h)
            del h
            log.append("deleted")
            return log
    """,
    "closures_free_what_they_hold": """
        import weakref

        class Thing:
            def m(self):
                return abs(-1)

        def make(thing):
            def closure():
                return thing.m()

            return closure

        def main():
            thing = Thing()
            ref = weakref.ref(thing)
            closure = make(thing)
            closure()
            del thing
            alive = ref() is not None
            del closure
            return alive, ref() is None
    """,
    "classes_and_functions_made_at_run_time_die": """
        import gc, weakref

        def make():
            class C:
                def m(self):
                    return abs(-1)

            def f():
                return C().m()

            f()
            return weakref.ref(C), weakref.ref(f)

        def main():
            refs = make()
            gc.collect()
            return [ref() for ref in refs]
    """,
    "finalisers_run_in_order": """
        log = []

        class Final:
            def __init__(self, name):
                self.name = name

            def __del__(self):
                log.append(self.name + str(abs(-1)))

        def f(x):
            log.append("in f")
            return x

        def main():
            f(Final("a"))
            x = f(Final("b"))
            log.append("kept")
            x = f(Final("c"))
            log.append("replaced")
            del x
            [Final("d"), Final("e")]
            Final("f").name
            log.append("end")
            return log
    """,
    "weak_references_to_receivers": """
        import weakref

        class Cache:
            def __init__(self):
                self.values = weakref.WeakValueDictionary()

            def put(self, key, value):
                self.values[key] = value
                return value

        class Value:
            pass

        def main():
            cache = Cache()
            kept = cache.put("kept", Value())
            cache.put("dropped", Value())
            return sorted(cache.values)
    """,
}

# Hooks are given the arguments after the call too, so that these hold only for contexts without hooks.
WITHOUT_HOOKS = {
    "callee_may_drop_the_last_reference_to_its_argument": """
        import weakref

        class Thing:
            pass

        log = []

        def drop(x):
            ref = weakref.ref(x)
            del x
            return ref() is None

        def main():
            return drop(Thing()), drop(x=Thing())
    """,
    "reference_counts_of_arguments": """
        import sys

        def count(x):
            return sys.getrefcount(x)

        def main():
            return count(object()), sys.getrefcount(object())
    """,
}
