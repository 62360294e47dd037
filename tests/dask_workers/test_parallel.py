"""`Parallel`: an unaware program does the same with its calls as tasks, and what cannot be a task is said."""

import os
import random
import subprocess
import sys

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

from helpers.observed_calls import observed

from cassette_import import overdub
from cassette_import.contexts.parallel import Parallel, ParallelError

_NAMES = ("load", "score", "noisy", "failing", "slow", "nested", "total", "chained", "unsent")


@pytest.fixture
def context(work, client):
    return Parallel([getattr(work, name) for name in _NAMES], client=client)


@pytest.fixture
def same(context, program):
    """Checks that a program does the same in the context; returns the numbers of tasks."""

    def check(source):
        module = program(source)
        assert observed(overdub, context, module.main) == observed(module.main)
        return {name.rpartition(".")[2]: figures["tasks"] for name, figures in context.statistics().items()}

    return check


def test_the_calls_of_a_comprehension_are_tasks(same):
    assert same("def main():\n    return [work.load(n) for n in range(5)]")["load"] == 5


def test_a_loop_that_fills_a_list_submits_all_calls_before_it_waits(context, client, program):
    module = program(
        "def main():\n    rows = []\n    for n in range(6):\n        rows.append(work.slow(n))\n    return rows"
    )
    running = []
    context.finished, finished = (
        lambda task: (running.append(len(context._state.tasks)), finished(task))[1],
        (context.finished),
    )
    assert overdub(context, module.main) == [0, 1, 4, 9, 16, 25]
    assert running == [6, 5, 4, 3, 2, 1]


def test_a_task_takes_the_placeholder_of_another_one(same):
    source = """
def main():
    scores = {}
    for n in range(4):
        row = work.load(n)
        scores[n] = work.score(row, factor=3)
    return scores, row
"""
    counts = same(source)
    assert (counts["load"], counts["score"]) == (4, 4)


def test_the_output_of_tasks_is_in_the_order_of_the_calls(same):
    source = """
def main():
    print("first")
    numbers = [work.noisy(n) for n in range(4)]
    print("then")
    number = work.noisy(9)
    print(f"{number}", numbers)
"""
    assert same(source)["noisy"] == 5


def test_an_exception_has_the_traceback_of_the_call(same):
    source = """
def main():
    rows = []
    for n in range(6):
        rows.append(
            work.failing(n))
        n += 1
    return rows
"""
    assert same(source)["failing"] >= 4


@pytest.mark.parametrize("name", ["chained", "unsent"])
def test_an_exception_of_a_call_that_was_repeated_has_its_traceback(same, context, name):
    """An exception with a cause, and one that cannot be pickled, are raised again in this process."""
    same(f"def main():\n    rows = [work.load(n) for n in range(2)]\n    rows.append(\n        work.{name}(1))\n")
    assert f"parallel_work.{name}: 1 task\n    1 in this process: its" in context.summary()


def test_what_was_stored_after_a_failed_call_is_taken_back(same):
    source = """
def fill(rows, table):
    for n in range(6):
        rows.append(n)
        table[n] = work.failing(n)

def main():
    rows, table = [], {3: "old"}
    try:
        fill(rows, table)
    except ValueError as error:
        print(error)
    return rows, table
"""
    same(source)


def test_a_call_inside_try_is_made_at_once(same):
    source = """
def main():
    done = 0
    try:
        for n in range(6):
            work.failing(n)
            done += 1
    except ValueError as error:
        return done, str(error), error.__context__
"""
    assert same(source)["failing"] == 0


def test_values_are_there_wherever_they_are_needed(same):
    source = """
class Holder:
    pass

def main():
    number = work.slow(3, 0.0)
    again = number
    holder = Holder()
    holder.number = number
    rows = [number, (again, work.slow(2, 0.0))]
    row = work.load(4)
    if work.slow(0, 0.0):
        print("true")
    for key in row:
        print(key, row[key], row.get("n"))
    first, second = work.slow(1, 0.0), work.slow(2, 0.0)
    return type(number), number is again, holder.number, rows, number + first, f"{second:>4}", -number, not second
"""
    same(source)


DISPLAYS = """
def main():
    rows, pairs, table = [], [], {}
    for n in range(3):
        rows.append((n, work.load(n)))
        pair = [n, work.slow(n, 0.0), {"row": work.load(n), "n": (work.score({"n": n}),)}]
        pairs.append(pair)
        table[n] = {n: work.slow(n, 0.0), "same": pair}
        pair = pair
    assert table[2]["same"] is pairs[2] and pair is pairs[2]
    return rows, pairs, table, [(n, work.slow(n, 0.0)) for n in range(3)], {n: [work.load(n)] for n in range(2)}
"""


def test_results_wait_in_tuples_lists_and_dictionaries(same, context):
    waiting = []
    context.finished, finished = (
        lambda task: (waiting.append(len(context._state.tasks)), finished(task))[1],
        (context.finished),
    )
    assert same(DISPLAYS)["slow"] == 9
    assert waiting == [*range(15, 0, -1), 3, 2, 1, 2, 1]


def test_a_failed_call_takes_back_the_tuples_that_wait_for_it(same):
    source = """
def fill(rows):
    for n in range(6):
        rows.append((n, work.failing(n)))
        rows.append([n])

def main():
    rows = []
    try:
        fill(rows)
    except ValueError as error:
        return rows, str(error)
"""
    same(source)


def test_what_waits_in_a_tuple_is_needed_as_an_argument(same):
    source = """
def main():
    pair = (1, work.slow(2, 0.0))
    return work.total(pair), work.total([work.slow(3, 0.0)]), pair[1], pair == (1, 4), {pair: 1}
"""
    same(source)


def test_keys_of_a_dictionary_that_the_program_hashes_wait(same):
    source = """
class Key:
    def __hash__(self):
        print("hashed")
        return 1

def main():
    rows = []
    for n in range(2):
        rows.append({Key(): work.noisy(n)})
    return [list(row.values()) for row in rows]
"""
    same(source)


HEADS = """
import contextlib

class Entered(list):
    def __enter__(self):
        return self
    def __exit__(self, *exception):
        print("left")

def main():
    found = []
    for n in [work.noisy(k) for k in range(2)]:
        found.append(n)
    else:
        found.append("else")
    with Entered([work.noisy(k) for k in range(3)]) as entered:
        found.append(list(entered))
    if any([work.slow(k, 0.0) for k in range(2)]):
        with contextlib.suppress(ValueError):
            found += [work.failing(k) for k in range(5)]
    elif [work.noisy(k) for k in range(2)]:
        pass
    while len(found) < 9 and all([work.slow(k, 0.0) for k in (1, 2)]):
        try:
            found.append(max([work.slow(k, 0.0) for k in range(3)]))
        finally:
            found.append("finally")
    else:
        found.append("end")
    match [work.slow(k, 0.0) for k in range(2)]:
        case [0, one] if sum([work.slow(k, 0.0) for k in range(2)]):
            found.append(one)
    assert all([work.slow(k, 0.0) for k in (1, 2)]), "no"
    try:
        for n in [work.failing(k) for k in range(5)]:
            found.append(n)
    except ValueError as error:
        found.append(str(error))
    for n in [work.slow(k, 0.0) for k in (1, 2)]:
        try:
            if n == 4:
                raise KeyError([work.slow(k, 0.0) for k in (n,)])
        except KeyError as error:
            return found, error.args
"""


def test_comprehensions_in_the_heads_of_statements_are_tasks(same):
    counts = same(HEADS)
    assert counts["noisy"] == 5
    assert counts["failing"] >= 8
    assert counts["slow"] >= 20


def test_an_exception_in_the_head_of_a_statement_has_its_traceback(same):
    source = """
def main():
    for n in [work.load(1),
              *[work.failing(k) for k in range(5)]]:
        print(n)
    else:
        print("else")
"""
    same(source)


def test_a_closure_gets_the_value(same):
    source = """
def main():
    row = work.load(4)
    look = lambda: row["n"]
    return look(), sorted([3, 1], key=lambda n: n * row["n"])
"""
    same(source)


def test_an_argument_is_what_it_was_at_the_call(same):
    source = """
def main():
    numbers, sums = [], []
    for n in range(5):
        numbers.append(n)
        sums.append(work.total(numbers))
    return sums, numbers
"""
    assert same(source)["total"] == 5


def test_the_steps_of_an_iterator_of_the_program_are_in_order(same):
    source = """
def numbers():
    for n in range(3):
        print("step", n)
        yield n

def main():
    return [work.noisy(n) for n in numbers()]
"""
    same(source)


def test_a_task_calls_other_targets_as_functions(same):
    assert same("def main():\n    return [work.nested(n) for n in (1, 2)]")["nested"] == 2


def test_functions_that_change_an_argument_are_refused(work, client, program):
    context = Parallel({work.changing}, client=client)
    module = program("def main():\n    work.changing([])")
    with pytest.raises(ParallelError, match=r"changing changes an argument, at .*\.py:3: a task works on a copy"):
        overdub(context, module.main)


def test_functions_that_return_an_argument_are_refused(work, client, program):
    context = Parallel({work.same}, client=client)
    module = program("def main():\n    numbers = [1]\n    return work.same(numbers)")
    with pytest.raises(ParallelError, match="same returns a part of an argument"):
        overdub(context, module.main)


def test_results_may_share_what_nobody_can_change_with_arguments(work, client, program):
    """Members of enumerations here; in the next test, data types of arrays."""
    context = Parallel({work.size_like}, client=client)
    module = program("def main():\n    return [work.size_like(work.Size.LARGE, [1]) for n in range(2)]")
    assert overdub(context, module.main) == module.main()
    assert context.statistics()["parallel_work.size_like"] == {"tasks": 2, "here": {}}


def test_arrays_in_and_out_have_one_data_type(work, client, program):
    numpy = pytest.importorskip("numpy", reason="NumPy is not installed")
    context = Parallel({work.doubled}, client=client)
    module = program("def main(array):\n    return [work.doubled(array) for n in range(2)]")
    found = overdub(context, module.main, numpy.arange(3))
    assert [one.tolist() for one in found] == [[0, 2, 4]] * 2
    assert context.statistics()["parallel_work.doubled"] == {"tasks": 2, "here": {}}


def test_a_result_that_cannot_be_pickled_is_made_in_this_process(work, client, program):
    context = Parallel({work.function_of}, client=client)
    module = program("def main():\n    return [work.function_of(n) for n in range(2)]")
    assert [function() for function in overdub(context, module.main)] == [0, 1]
    assert "2 in this process: its result cannot be pickled" in context.summary()


def test_a_result_that_contains_an_object_of_its_module_is_made_in_this_process(work, client, program):
    context = Parallel({work.missing, work.settings}, client=client)
    module = program(
        "def main():\n"
        "    found = [work.settings(n)[1] is work.SETTINGS for n in range(2)]\n"
        "    return [*found, *[one is work.MISSING for one in [work.missing(n) for n in range(2)]]]"
    )
    assert overdub(context, module.main) == [True] * 4
    assert "2 in this process: its result is or contains an object that its module holds" in context.summary()


def test_arguments_that_cannot_be_pickled_are_passed_in_this_process(work, client, program):
    context = Parallel({work.same}, client=client)
    module = program("def main():\n    f = lambda: 1\n    return work.same(f) is f")
    assert overdub(context, module.main) is True
    assert "its arguments cannot be pickled" in context.summary()


def test_check_finds_a_function_that_is_not_pure(work, client, program):
    module = program("def main(process):\n    return [work.different(n, process) for n in (1, 2)]")
    context = Parallel({work.different}, client=client, check=True)
    with pytest.raises(ParallelError, match="different is not pure: its result was -1 in a task and 1 in the process"):
        overdub(context, module.main, os.getpid())


def test_check_finds_nothing_in_a_pure_function(work, client, program):
    module = program("def main():\n    return [work.score(work.load(n)) for n in range(3)]")
    assert overdub(Parallel({work.score, work.load}, client=client, check=True), module.main) == [0, 10, 20]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("__main__:f", "."),
        ("parallel_work:nothing", "has no attribute"),
        ("functools:partial", "no function of a module"),
    ],
)
def test_a_target_that_workers_cannot_call_is_refused(work, target, message):
    with pytest.raises(ValueError, match=message):
        Parallel([target])


def _expression(draw, variables):
    """A random expression that calls targets."""
    number = draw.choice([str(draw.randrange(5)), *variables])
    return draw.choice(
        [
            f"work.noisy({number})",
            f"work.failing({number})",
            f"work.score(work.load({number}))",
            f"work.load({number})['n']",
            f"{number} + work.noisy({number})",
            f"sum([work.score(work.load(k), 2) for k in range({number} % 4)])",
            f"len(out) + {number}",
            f"({number}, work.noisy({number}))[1]",
            f"max([len(row) for row in [(k, work.noisy(k)) for k in range({number} % 3)]], default=0)",
        ]
    )


def _statements(draw, depth, indent):
    """Random statements, as lines."""
    names = ["a", "b"]
    lines = []
    for _ in range(draw.randrange(1, 5)):
        kind = draw.choice(["assign", "assign", "append", "store", "print", "for", "if", "try", "add", "pair", "row"])
        value = _expression(draw, names)
        if kind in ("for", "if", "try") and depth:
            inner = _statements(draw, depth - 1, indent + "    ")
            head = {
                "for": draw.choice(["for k in range(3):", "for k in [work.noisy(n) for n in (1, 4)]:"]),
                "if": f"if {value} > 2:",
                "try": "try:",
            }[kind]
            lines += [f"{indent}{head}", *inner]
            if kind == "try":
                lines += [f"{indent}except ValueError as e:", f"{indent}    print('caught', e, out, d)"]
        else:
            simple = {"append": f"out.append({value})", "store": f"d[{value}] = {value}", "print": f"print({value}, a)"}
            simple["add"] = f"a += {value}"
            simple["pair"] = f"out.append(({value}, {{'n': {value}}}))"
            simple["row"] = f"pair = [{value}, a]; d[3] = pair; out.append(len(pair))"
            lines.append(indent + simple.get(kind, f"{draw.choice(names)} = {value}"))
    return lines


@pytest.mark.parametrize("seed", range(int(os.environ.get("RANDOM_PROGRAMS", "15"))))
@pytest.mark.parametrize("some_are_made_here", [False, True])
def test_random_programs_do_the_same(same, context, made_here, seed, some_are_made_here):
    if some_are_made_here:
        made_here(context)
    lines = _statements(random.Random(seed), 2, "    ")
    same("\n".join(["def main():", "    a, b, out, d = 1, 2, [], {}", *lines, "    return a, b, out, d"]))


def test_a_script_runs_on_workers_of_its_own(folder, work, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from parallel_work import noisy as call\n"
        "def first(count):\n"
        "    return [call(n) for n in range(count)]\n"
        "rows = first(2) + [call(n) for n in (2, 3)]\n"
        "last = call(7)\n"
        "print(rows, last)\n"
    )
    command = [sys.executable, "-m", "cassette_import", "run", "-c", "parallel:targets=parallel_work:noisy,workers=2"]
    done = subprocess.run(
        [*command, script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.getcwd()])},
    )
    assert done.stdout == "noisy 0\nnoisy 1\nnoisy 2\nnoisy 3\nnoisy 7\n[0, 1, 2, 3] 7\n"
    assert "parallel_work.noisy: 5 tasks" in done.stderr


AT_EXIT = """
import atexit
from parallel_work import failing

@atexit.register
def show():
    print(repr(last), n, done, rows, "never" in globals())

last, done, rows = None, 0, []
for n in range(6):
    last = failing(n)
    rows.append(last)
    done = n + 1
    if n == 4:
        never = failing(n)
"""


def test_after_an_exception_the_variables_of_a_module_level_are_those_at_the_call(folder, work, tmp_path):
    (tmp_path / "script.py").write_text(AT_EXIT)
    context = "parallel:targets=parallel_work:failing,workers=2"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.getcwd()])}
    for command in (["script.py"], ["-m", "cassette_import", "run", "-c", context, "script.py"]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert (done.returncode, done.stdout) == (1, "2 3 3 [0, 1, 2] False\n"), done.stderr


def test_an_exception_has_the_one_that_was_handled_as_its_context(same):
    source = """
def again():
    return [work.load(1), work.failing(3)]

def main():
    try:
        work.chained(1)
    except ValueError:
        try:
            again()
        except ValueError as error:
            print(repr(error.__context__), repr(error.__context__.__context__))
        try:
            rows = [work.unsent(n) for n in range(2)]
        except Exception as error:
            print(repr(error.__context__), repr(error.__context__.__context__))
"""
    assert same(source)["failing"] == 1


def test_a_call_whose_worker_dies_is_made_in_this_process(work, client, program):
    """The last test that uses the workers."""
    module = program("def main(process):\n    return [work.dying(n, process) for n in range(1)]")
    context = Parallel({work.dying}, client=client)
    assert overdub(context, module.main, os.getpid()) == [0]
    assert "1 in this process: KilledWorker" in context.summary()


def test_calls_are_made_in_this_process_when_the_scheduler_is_gone(work, program):
    from distributed import Client

    from cassette_import.contexts.parallel.context import local_processes

    cluster = local_processes(0)
    client = Client(cluster, set_as_default=False)
    context = Parallel({work.load}, client=client)
    client.close()
    cluster.close()
    module = program("def main():\n    return [work.load(n) for n in range(2)]")
    assert overdub(context, module.main) == [{"n": 0}, {"n": 1}]
    assert "2 in this process: the connection to the scheduler is closed" in context.summary()


STARTING = """
import time

from cassette_import.contexts.parallel import context as cluster

cluster.DEATH_TIMEOUT = 15.0
cluster.local_processes(2)
time.sleep(60)  # a slow machine may look for the workers late
"""


def test_workers_end_if_the_program_is_killed_while_they_start(tmp_path):
    psutil = pytest.importorskip("psutil", reason="dask.distributed brings psutil")
    script = [sys.executable, "-c", STARTING]
    with subprocess.Popen(script, cwd=os.getcwd(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        workers = []
        while len(workers) < 2 and program.poll() is None:
            workers = psutil.Process(program.pid).children(recursive=True)
        program.kill()
    assert len(workers) >= 2
    _, alive = psutil.wait_procs(workers, timeout=300)
    assert alive == []
