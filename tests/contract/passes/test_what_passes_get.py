"""What a pass gets: the context type, and a reflection of the function."""

import ast
import math

from cassette_import import Context, overdub, reflect


def seen_by_a_pass(run):
    seen = []

    def look(context_type, reflection):
        seen.append((context_type, reflection))
        return reflection.tree

    class Looking(Context):
        passes = [look]

    run(Looking())
    return Looking, seen


def test_a_pass_gets_the_context_type_and_the_reflection_of_the_function(program):
    Looking, [(context_type, reflection)] = seen_by_a_pass(lambda ctx: overdub(ctx, program.add, 1))
    assert context_type is reflection.context_type is Looking
    assert reflection.function is program.add
    assert reflection.filename == program.__file__
    assert reflection.lineno == program.add.__code__.co_firstlineno
    assert reflection.source == "def add(x, y=1):\n    '''Adds.'''\n    return x + y\n"
    assert str(reflection.signature) == "(x, y=1)"


def test_a_pass_sees_decorators_defaults_and_annotations_as_they_are_written(program):
    _, [(_, reflection)] = seen_by_a_pass(lambda ctx: overdub(ctx, program.cached, 1))
    assert ast.unparse(reflection.tree) == ast.unparse(reflect(program.cached.__wrapped__).tree)
    assert [ast.unparse(one) for one in reflection.tree.decorator_list] == ["functools.lru_cache"]
    assert ast.unparse(reflection.tree.args) == "x: int, y: int=2"


def test_the_signature_of_a_wrapper_is_its_own(make_program):
    program = make_program(
        """
        import functools

        def logged(f):
            @functools.wraps(f)
            def wrapper(*args):
                return f(*args)
            return wrapper

        @logged
        def g(x):
            return x
        """
    )
    assert str(reflect(program.g).signature) == "(*args)"


def test_a_pass_runs_once_for_a_body_however_often_contexts_are_entered(program):
    seen = []

    def look(context_type, reflection):
        seen.append((context_type, reflection.function.__name__))
        return reflection.tree

    class A(Context):
        passes = (look,)

    class B(Context):
        passes = (look,)

    for context in (A(), B(), A(), A(), B()):
        assert overdub(context, program.twice, 1) == 3
    assert sorted(seen, key=str) == sorted([(t, name) for t in (A, B) for name in ("twice", "add")], key=str)


def test_a_pass_runs_with_no_context_active(program):
    events = []

    def look(context_type, reflection):
        program.add(1, 2)
        return reflection.tree

    class Watching(Context):
        passes = [look]

        def prehook(self, f, *args):
            events.append(f)

    assert overdub(Watching(), program.sine, 0.0) == 0.0
    assert events == [math.sin]
