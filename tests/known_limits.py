"""Tests of what is promised and not kept yet, each with its reason; `docs/transparency.md` tells more.

They run, and have to fail: an entry names tests exactly, with the versions of Python that it is true of, and goes
away with its limit. `tests/test_known_limits.py` checks that there are such tests.
"""

import itertools
import sys
from collections.abc import Iterable, Iterator

VERSION = sys.version_info[:2]
OLDEST = VERSION < (3, 12)

FRAMES = "frame.f_locals of a function in an intercepting context shows temporaries with names that start with @"
LINES = "an expression over several lines gives a tracer more line events when its calls are events"
DYING = "after an exception, temporaries of its event live until the next event or the end of the function"
PLACES = "chained comparisons and stores by index are events in ordinary functions, not yet in every other place"
STARTED = "a generator that was started before any context was entered keeps running plain"
IN_FLIGHT = "a hook of a new kind, registered while a function runs, counts there from its next entry on"
LAMBDAS = "in a lambda, and in a comprehension of 3.11, events that have an errorhook take a frame of their own"
COLUMNS = "on 3.11, the columns of a failed assertion are those of the statement, not of the comparison"
PROFILERS = "on 3.11, profilers and tracers in C see hidden frames return and pair that with a call of another"
FLAGS = "a gate that types.coroutine marked, in a module imported inside of a context, does not keep the mark"
CODE = "a function that has met a context has another code object, which shows to who reads its names or bytecode"
SPLATS = "a call with splats is made from a hidden frame, to which profilers ascribe calls of C functions"
BOUND = "sys.monitoring is told of the bound method that is called, not of its function and receiver"
ORIGINS = "on 3.11, the origin of a coroutine, and faulthandler everywhere, look at hidden frames too"
UNWINDING = "an exception that leaves a hidden frame is told to tracers as a return of the frame that is seen"
BREAKPOINT = "breakpoint() is an event, so that the debugger stops in its posthook first"
INSERTED = "in a module whose assertions pytest rewrites, the operators and calls that pytest inserts are events too"

HOOKED = (
    "in_a_context_with_empty_hooks",
    "in_a_context_with_an_empty_errorhook",
    "installed_after_its_import",
    "imported_inside_of_the_context",
    "in_two_contexts",
)
"""The ways of `test_contract_transparency.py` with hooks, and those of them that have no errorhook."""
UNGUARDED = tuple(way for way in HOOKED if way != "in_a_context_with_an_empty_errorhook")
GUARDED = ("in_a_context_with_an_empty_errorhook",)

STATEMENTS = (
    "a < b < 3",
    "b < a < 3",
    "a == 1 in xs",
    "xs[0] = c = 9",
    "xs[0], c = 8, 9",
    "[xs[0], *xs[1:]] = 8, 9",
    "xs[0]: int = 9",
    "for xs[0] in (9,): pass",
    "with contextlib.nullcontext(9) as xs[0]: pass",
    "xs[0] += 5",
    "o.x += 5",
    "xs[a + 1] -= b * 2",
    "[0 < x < 3 for x in [1]]",
)


def named(test: str, *parameters: Iterable[str]) -> Iterator[str]:
    """The tests of this name with every combination of the parameters."""
    if not parameters:
        yield test
    for combination in itertools.product(*parameters) if parameters else ():
        yield f"{test}[{'-'.join(combination)}]"


def same(programs: Iterable[str], ways: Iterable[str]) -> Iterator[str]:
    return named("test_contract_transparency.py::test_program_behaves_the_same", programs, ways)


def tool(programs: Iterable[str], ways: Iterable[str]) -> Iterator[str]:
    return named("test_tools.py::test_tool_finds_what_it_finds_in_the_plain_program", programs, ways)


def process(test: str, *parameters: Iterable[str]) -> Iterator[str]:
    return named(f"test_tools_processes.py::{test}", *parameters)


LOOKING, NOOP, AFTER = "in_a_looking_context", "in_noop", "after_a_context"
PLACE = "test_contract_places.py::test_operators_"
VERB = "test_contract_verbs.py::test_generator_"
SHOWS, STEPS = (
    "test_pdb_shows_what_it_shows_of_the_plain_program",
    "test_pdb_steps_through_the_program_when_it_is_told_to_skip_us_and_the_hooks",
)

_LIMITS: list[tuple[str, Iterable[str], bool]] = [
    (PLACES, named(f"{PLACE}are_the_same_events_in_every_place", STATEMENTS), True),
    (PLACES, named(f"{PLACE}at_module_level_are_events_when_it_is_imported_in_the_context", STATEMENTS), True),
    (
        IN_FLIGHT,
        ["test_contract_hooks.py::test_overload_registered_while_a_function_runs_counts_in_that_function"],
        True,
    ),
    (
        STARTED,
        [f"{VERB}advanced_now_inside_now_outside_follows", f"{VERB}made_outside_and_advanced_inside_is_inside"],
        True,
    ),
    (FRAMES, same(["locals_in_the_frames_of_a_traceback", "locals_of_the_caller_by_frame"], HOOKED), True),
    (FRAMES, same(["locals_under_another_name"], HOOKED), True),
    (COLUMNS, same(["assertions"], HOOKED), OLDEST),
    (PROFILERS, same(["profiles_by_cprofile"], [*HOOKED, "in_a_context_without_hooks", "after_a_context"]), OLDEST),
    (LINES, same(["line_events_of_a_tracer"], GUARDED), True),
    (LINES, same(["line_events_of_a_tracer"], UNGUARDED), VERSION == (3, 12)),
    (LINES, same(["line_events_of_a_tracer_in_generators_and_methods"], UNGUARDED), VERSION == (3, 12)),
    (LINES, same(["line_events_of_sys_monitoring"], UNGUARDED), VERSION == (3, 12)),
    (FLAGS, same(["awaitable_objects_and_hand_made_coroutines"], ["imported_inside_of_the_context"]), True),
    (LAMBDAS, same(["recursion_through_lambdas_and_closures_goes_as_deep_as_ever"], GUARDED), True),
    (LAMBDAS, same(["recursion_through_comprehensions_goes_as_deep_as_ever"], GUARDED), OLDEST),
    (DYING, same(["exception_frees_arguments_when_it_is_handled"], GUARDED), True),
    (DYING, same(["traceback_does_not_keep_temporaries"], GUARDED), True),
    (DYING, same(["locals_die_when_the_function_returns"], GUARDED), VERSION < (3, 14)),
    (DYING, same(["left_operands_die_before_the_end_of_the_statement"], GUARDED), VERSION < (3, 15)),
    (DYING, same(["result_that_nobody_keeps_dies_at_once"], GUARDED), VERSION < (3, 15)),
    (CODE, tool(["inspect_getclosurevars", "dis_dis"], [AFTER, NOOP, LOOKING]), True),
    (DYING, tool(["del_of_an_argument_runs_when_the_call_fails"], [LOOKING]), True),
    (SPLATS, tool(["sys_setprofile_calls_of_c_functions_with_splats"], [LOOKING]), True),
    (SPLATS, tool(["cprofile_call_counts_of_builtins_called_with_splats"], [LOOKING]), True),
    (PROFILERS, tool(["cprofile_call_counts"], [AFTER, LOOKING]), OLDEST),
    (PROFILERS, tool(["cprofile_call_counts_by_caller"], [LOOKING]), OLDEST),
    (
        PROFILERS,
        process("test_coverage_is_that_of_the_plain_run", ["looking"], ["ctrace"], ["lines", "branches"]),
        OLDEST,
    ),
    (ORIGINS, tool(["asyncio_debug_mode"], [NOOP, LOOKING]), OLDEST),
    (ORIGINS, process("test_faulthandler_dumps_the_frames_of_the_program", ["noop", "looking"]), True),
    (BOUND, tool(["sys_monitoring_call_events_of_methods"], [LOOKING]), not OLDEST),
    (BREAKPOINT, process("test_breakpoint_in_the_program_starts_pdb_there", ["noop", "looking"]), True),
    (UNWINDING, process(STEPS, ["noop", "looking"], ["steps_through_an_exception"]), not OLDEST),
    (
        UNWINDING,
        process("test_coverage_is_that_of_the_plain_run", ["looking"], ["pytrace"], ["lines", "branches"]),
        not OLDEST,
    ),
    (INSERTED, ["test_checklist_pytest.py::test_P1_what_pytest_inserts_is_no_event"], True),
    (LINES, process(SHOWS, ["noop"], ["breaks_in_a_generator"]), VERSION == (3, 12)),
    (LINES, process(STEPS, ["noop"], ["steps_into_generators"]), VERSION == (3, 12)),
]

KNOWN_LIMITS: dict[str, str] = {test: reason for reason, tests, is_so in _LIMITS if is_so for test in tests}
"""The reason for each test that has to fail on this version of Python, by file and name."""
