"""Reduced programs: generated ones that once behaved differently in a context. Data, by name.

They compute with the objects of `observed.py`; `main()` is put behind them, and attempts each function in turn.
"""

PROGRAMS = {
    "nested targets are unpacked when it is their turn": """
        def assigned():
            g = 1
            g.x, (b, c) = 1, V()

        def in_a_list():
            [(a, V().x, b), (c, V().y), *V()[1]] = [V(), V(), 1], [1, V()], V()
            note(a, b, c)

        def in_a_loop():
            for V().x, (b, *V().c), (V().y, d) in [(1, V(), V()), (1, (1, 2, V()), (1, 2))]:
                note(b)

        def in_a_with():
            with V() as (a, V()[2], (b, c)):
                pass

        def starred():
            a, *h.x = V()

        def too_few():
            a, V().x, b = 1, 2
        """,
    "the only splat of a call is unpacked after its keywords": """
        def with_a_keyword():
            V()(*V(), k=note("keyword"))

        def with_keywords():
            V()(*V(), **note("keywords") or {})

        def of_no_iterable():
            V()(*1, k=note("keyword"))

        def in_a_generator():
            yield V()(*[V()], k=note("keyword"))

        def further():
            V()(*V(), *V(), k=note("keyword"))
        """,
    "an iteration that fails is shown where it begins": """
        class Broken:
            def __iter__(self):
                raise Boom

        def loop():
            for x in (
                Broken()
            ):
                pass

        def comprehension():
            return [
                x for x in
                Broken()
            ]

        def generator():
            return (
                x for x in
                Broken()
            )

        def unpacking():
            a, b = (
                Broken()
            )

        def call():
            V()(V(),
                *
                Broken())

        def display():
            return [V(),
                *
                Broken()]
        """,
    "a truth test that fails has the position of the whole expression": """
        class Broken:
            def __bool__(self):
                raise Boom

        def first():
            return (
                Broken() and
                1)

        def second():
            return [*(
                [] or [1] and
                Broken() and
                1),
                [] or Broken() or 1]

        def nested():
            return ([1] and (
                [1] and [] or
                Broken() and
                1)) or (
                ([] or
                Broken()) and 1)

        def in_a_generator():
            yield (
                Broken() or
                1)

        def tested():
            if [1] and Broken():
                pass

        def chosen():
            return (1 if Broken() else 2) and 2
        """,
    "a list is extended by an object with its own addition": """
        def added():
            a = [1]
            a += V()
            return a

        def extended():
            a = [1]
            a.extend(V())
            return a
        """,
    "a method of a name that is unbound": """
        def unbound():
            if a.method():
                a = 1
        """,
    "a lambda that calls what is not chosen": """
        def called():
            return V(1)

        def calling():
            return (lambda: called())()
        """,
    "an augmented assignment reads its target before its value binds the name": """
        def of_a_name():
            a = 1
            a += (a := 5)
            return a

        def of_an_index():
            a = [1, 2, 3]
            b = 0
            a[b] += (b := 2)
            return a, b

        def of_an_owner():
            a = V()
            a.x += (a := V())
            return a

        def in_the_index():
            b = [1, 2]
            b[(b := [0])[0]] += 1
            return b

        def in_a_comprehension():
            a = 1
            a += [(a := b) for b in (2, 3)][0]
            return a

        def of_an_unbound_name():
            a >>= b
            b = 1
        """,
    "an f-string makes each text before the next value is evaluated": """
        def of_objects():
            return f"{V()}{V()!r}-{V():>5}{V().x!s:3}"

        def of_a_list():
            a = [1]
            return f"{a}{a.append(2)}{a}"

        def of_a_variable():
            a = V()
            return f"{a}{a.x}{a}{(a := V())}{a!r:>4}"
        """,
}
