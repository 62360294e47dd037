"""A call site that runs in a thread without the context goes on to be an event in threads with it."""

import threading

import pytest

from cassette_import import Context, install, overdub

PROGRAM = """
    import math

    class Thing:
        def __init__(self, number=1):
            self.number = number

        def twice(self, factor=2):
            return self.number * factor

    def function(number=1):
        return number

    def builtin():
        return math.sqrt(4.0)

    def of_function():
        return function(3)

    def of_function_with_keyword():
        return function(number=3)

    def of_class():
        return Thing(3)

    def of_class_with_keywords(**keywords):
        return Thing(number=3, **keywords)

    def of_method():
        return Thing(3).twice()

    def of_method_with_keyword():
        thing = Thing(3)
        return thing.twice(factor=3)

    def of_builtin_method():
        made = []
        made.append(3)
        return made

    def of_attribute():
        return math.sqrt(4.0)
"""
TARGETS = {
    "of_function": lambda module: module.function,
    "of_function_with_keyword": lambda module: module.function,
    "of_class": lambda module: module.Thing,
    "of_class_with_keywords": lambda module: module.Thing,
    "of_method": lambda module: module.Thing.twice,
    "of_method_with_keyword": lambda module: module.Thing.twice,
    "of_builtin_method": lambda module: list.append,
    "of_attribute": lambda module: module.math.sqrt,
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("is_specialised", [False, True])
def test_a_target_is_met_after_its_call_site_ran_elsewhere(name, is_specialised, make_program):
    module = make_program(PROGRAM)

    class Own(Context):
        pass

    calls = []
    Own.overdub.register(TARGETS[name](module))(lambda ctx, f, *arguments, **keywords: calls.append(f))
    context, program = Own(), getattr(module, name)
    with install([module.__name__]):
        if is_specialised:
            overdub(context, program)
            calls.clear()
        with context:
            thread = threading.Thread(target=program)
            thread.start()
            thread.join()
        assert calls == []
        overdub(context, program)
        assert calls
