"""Scenarios 13 and 14: passes that inspect every function, and passes that replace one."""

import ast
import math

from cassette_import import Context, Reflection, overdub


def test_13_passctx_sees_every_function_that_is_entered_once(programs):
    seen = []

    def collect(context_type, reflection):
        seen.append((context_type, reflection))
        return reflection.tree

    class PassCtx(Context):
        passes = (collect,)

    assert overdub(PassCtx(), programs.outer, 3) == programs.outer(3) == 10
    overdub(PassCtx(), programs.outer, 4)
    assert all(context_type is PassCtx and isinstance(reflection, Reflection) for context_type, reflection in seen)
    entered = [reflection.function for _, reflection in seen]
    assert entered == [programs.outer, programs.middle, programs.inner]
    assert [list(reflection.signature.parameters) for _, reflection in seen] == [["x"]] * 3


def test_14_passfallbackctx_expression_replaces_a_whole_body(programs):
    # Cassette names the hidden arguments; a Python tree has the parameters themselves.
    def cosine(context_type, reflection):
        if reflection.function is programs.my_sin:
            return ast.parse("math.cos(x)", mode="eval").body
        return reflection.tree

    xs = [0.1, 0.3, 0.6, 0.8, 1.5]
    result = overdub(Context(passes=[cosine]), programs.sines_of_the_large, xs)
    assert result == sum(math.cos(i) if i > 0.5 else i for i in xs)
