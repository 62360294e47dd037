"""Hidden frames."""

import sys

from helpers.command_line import run

from cassette_import.interpreter.hidden_frames import hidden


def name_of_caller():
    return sys._getframe(1).f_code.co_name


def test_a_function_that_is_hidden_twice_is_hidden():
    @hidden
    @hidden
    def between():
        return name_of_caller()

    assert between() == "test_a_function_that_is_hidden_twice_is_hidden"


def test_a_comprehension_of_a_hidden_function_is_hidden():
    @hidden
    def between():
        return [name_of_caller() for _ in range(1)]

    assert between() == ["test_a_comprehension_of_a_hidden_function_is_hidden"]


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
text = '''
import colorsys, sys
sys.path[:0] = {path!r}
from cassette_import import Context, overdub
class Own(Context):
    def prehook(self, f, *arguments):
        pass
sys.stdout.write(f"{{overdub(Own(), colorsys.rgb_to_yiq, 0, 0, 0)}}")
sys.stdout.flush()
'''
made = interpreters.create()
run = getattr(interpreters, "exec", None) or interpreters.run_string
print(run(made, text))
interpreters.destroy(made)
"""


def test_a_subinterpreter_ends_well_or_refuses_with_one_error(tmp_path):
    (tmp_path / "program.py").write_text(SUBINTERPRETER.format(path=sys.path))
    done = run("program.py", folder=tmp_path)
    assert done.status == 0
    refused = "CPython 3.13.0 would abort at the end of this subinterpreter"
    assert (refused if sys.version_info[:3] == (3, 13, 0) else "(0.0, 0.0, 0.0)") in done.stdout


RESUMED = """
import sys
from cassette_import.interpreter.hidden_frames import hidden

@hidden
def generator():
    given = yield 1
    yield given
    yield from [3, 4]

class Awaited:
    def __await__(self):
        yield 1
        return 5

@hidden
async def coroutine():
    return await Awaited()

def trace_and_stop():
    sys.settrace(lambda *event: None)
    sys.settrace(None)

items = generator()
found = [next(items)]
trace_and_stop()
found.append(items.send(2))
trace_and_stop()
found.append(next(items))
trace_and_stop()
awaiting = coroutine()
awaiting.send(None)
trace_and_stop()
try:
    awaiting.send(None)
except StopIteration as stop:
    print([*found, *items], stop.value)
"""


def test_hidden_generators_go_on_after_a_tool_came_and_went(tmp_path):
    (tmp_path / "program.py").write_text(RESUMED)
    assert run("program.py", folder=tmp_path).stdout == "[1, 2, 3, 4] 5\n"
