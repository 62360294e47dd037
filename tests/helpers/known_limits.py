"""Tests of promises that are not fulfilled yet, each with its reason; `docs/transparency.md` has the details.

They run and are expected to fail. An entry names tests exactly, with the versions of Python that it applies to, and
is removed with its limit. `tests/documents/test_known_limits.py` checks that the named tests exist.
"""

import itertools
import os
import sys
from collections.abc import Iterable, Iterator

VERSION = sys.version_info[:2]
OLDEST = VERSION < (3, 12)
IS_3_12 = VERSION == (3, 12)
WITHOUT_EXTENSIONS = os.environ.get("CASSETTE_IMPORT_ACCELERATOR") == "0"
REPORTS_HIDDEN = IS_3_12 and WITHOUT_EXTENSIONS

FRAMES = "frame.f_locals of a function in an intercepting context shows temporaries with names that start with @"
SLOTS = (
    "the result of contextslot() in a generator or coroutine is one of its variables, with a name that starts with @"
)
LATER = "annotations with deferred evaluation read the wrappers in a function's variables"
LINES = "where there are errorhooks, a tracer gets the line event of a `with` or `try` once more after an exception"
JUMPS = "on 3.12, generators and coroutines give a tracer more line events of the same line when hooks run"
DYING = "after an exception, temporaries of its event live until the next event or the end of the function"
KEEPING = "what hooks read lives until they return, and operands die in another order"
TAGGING = "a call in a context with tagging has additional frames, and its arguments live until it returns"
REPEATED = "on 3.11, where values are tagged, a tracer gets the line event of an intercepted event once more"
LAMBDAS = (
    "in a lambda, and in a comprehension of 3.11, events with hooks that read arguments may have an additional frame"
)
COLUMNS = "on 3.11, the columns of a failed assertion are those of the statement, not of the comparison"
PROFILERS = "profilers and tracers in C may see returns of hidden frames, which they pair with other calls"
CODE = "code that has run in a context is another code object, whose constants only this process has"
SPLATS = "a call with splats is made from a hidden frame, to which profilers attribute calls of C functions"
BOUND = "sys.monitoring gets the bound method that is called, not its function and receiver"
RECURSIVE = "on 3.11, the message of a RecursionError names the caller of the last call, which may be a hook"
ORIGINS = "the origin of a coroutine on 3.11, and faulthandler on all versions, include hidden frames"
UNWINDING = "on 3.12 without the extension, exceptions that leave hidden frames are reported of the visible frame"
LOOPS = (
    "loops run in hidden frames once their steps were events of a context; tracers and profilers notice these frames"
)
BRANCHES = "on 3.11 without the extension, coverage misses the end of a loop whose steps are events"
ASKING = "where a context was entered earlier, generators and coroutines check at each call whether a context is active"
INSERTED = "in a module whose assertions pytest rewrites, the operators and calls that pytest inserts are events too"

HOOKED = (
    "in_a_context_with_empty_hooks",
    "in_a_context_with_an_empty_errorhook",
    "installed_after_its_import",
    "imported_inside_of_the_context",
    "in_two_contexts",
    "in_a_context_of_all_events",
    "in_a_context_that_reads_all_events",
    "imported_inside_of_a_context_that_reads_all_events",
)
"""The ways of `test_transparency.py` with hooks."""
UNHOOKED = ("in_a_context_without_hooks", "in_a_context_with_a_target_that_is_not_matched")
GUARDED = HOOKED[1:2]
WITH_TAGS = ("in_a_context_that_tags", "in_a_context_that_tags_all_arguments")
READING_ALL = HOOKED[6:]
OF_ALL = HOOKED[5:]


def named(test: str, *parameters: Iterable[str]) -> Iterator[str]:
    """The tests of this name with every combination of the parameters."""
    if not parameters:
        yield test
    for combination in itertools.product(*parameters) if parameters else ():
        yield f"{test}[{'-'.join(combination)}]"


def same(programs: Iterable[str], ways: Iterable[str]) -> Iterator[str]:
    return named("test_transparency.py::test_program_behaves_the_same", programs, ways)


def tool(programs: Iterable[str], ways: Iterable[str]) -> Iterator[str]:
    return named("test_tools.py::test_tool_reports_the_same_as_of_the_plain_program", programs, ways)


def process(test: str, *parameters: Iterable[str]) -> Iterator[str]:
    return named(f"test_tools_processes.py::{test}", *parameters)


READING, NOOP, AFTER = "in_a_context_that_reads_arguments", "in_noop", "after_a_context"
SHOWS, STEPS = (
    "test_pdb_shows_the_same_as_of_the_plain_program",
    "test_pdb_steps_through_the_program_when_it_skips_cassette_import_and_the_hooks",
)
COVERAGE = "test_coverage_is_that_of_the_plain_run"
WITH_CONTEXT = ("noop", "reading")
LINES_AND_BRANCHES = ("lines", "branches")
RECURSION = "recursion_through_{}_goes_as_deep_as_without_a_context"

_LIMITS: list[tuple[str, Iterable[str], bool]] = [
    # What the documentation promises.
    (FRAMES, same(["locals_in_the_frames_of_a_traceback", "locals_of_the_caller_by_frame"], HOOKED), True),
    (FRAMES, same(["locals_under_another_name", "state_of_a_generator"], HOOKED), True),
    (FRAMES, tool(["inspect_generators_and_coroutines"], [NOOP, READING]), True),
    (COLUMNS, same(["assertions"], [*HOOKED, *WITH_TAGS]), OLDEST),
    (PROFILERS, same(["profiles_by_cprofile"], [*HOOKED[:5], *UNHOOKED, AFTER]), OLDEST),
    (ASKING, same(["profiles_by_cprofile"], ["installed_and_inactive"]), OLDEST),
    (ASKING, tool(["inspect_getclosurevars", "dis_dis"], ["inactive"]), True),
    (ASKING, tool(["asyncio_debug_mode", "cprofile_call_counts"], ["inactive"]), OLDEST),
    (PROFILERS, same(["profiles_by_cprofile"], OF_ALL), OLDEST),
    (LINES, same(["line_events_of_a_tracer"], GUARDED), True),
    (JUMPS, same(["line_events_of_a_tracer_in_generators_and_methods"], HOOKED[5:6]), IS_3_12),
    (LAMBDAS, same([RECURSION.format("lambdas_and_closures")], GUARDED), True),
    (LAMBDAS, same([RECURSION.format("comprehensions")], [*GUARDED, *READING_ALL]), OLDEST),
    (DYING, same(["exception_frees_arguments_when_it_is_handled"], GUARDED), True),
    (DYING, same(["traceback_does_not_keep_temporaries"], GUARDED), True),
    (DYING, same(["locals_die_when_the_function_returns"], GUARDED), VERSION < (3, 14)),
    (DYING, same(["left_operands_die_before_the_end_of_the_statement"], GUARDED), VERSION < (3, 15)),
    (DYING, same(["result_that_is_not_stored_dies_at_once"], GUARDED), VERSION < (3, 15)),
    (KEEPING, same(["exception_frees_arguments_when_it_is_handled"], READING_ALL), True),
    (KEEPING, same(["traceback_does_not_keep_temporaries"], READING_ALL), True),
    (KEEPING, same(["locals_die_when_the_function_returns"], READING_ALL), VERSION < (3, 14)),
    (KEEPING, same(["left_operands_die_before_the_end_of_the_statement"], READING_ALL), VERSION < (3, 15)),
    (KEEPING, same(["result_that_is_not_stored_dies_at_once"], READING_ALL), VERSION < (3, 15)),
    (FRAMES, same(["locals_in_the_frames_of_a_traceback", "locals_of_the_caller_by_frame"], WITH_TAGS), True),
    (FRAMES, same(["locals_under_another_name"], WITH_TAGS), True),
    (FRAMES, same(["state_of_a_generator"], WITH_TAGS[:1]), True),
    (PROFILERS, same(["profiles_by_cprofile"], WITH_TAGS[:1]), OLDEST),
    (PROFILERS, same(["profiles_by_cprofile"], WITH_TAGS[1:]), True),
    (
        TAGGING,
        same(["recursion_goes_as_deep_as_without_a_context", RECURSION.format("lambdas_and_closures")], WITH_TAGS[1:]),
        True,
    ),
    (TAGGING, same([RECURSION.format("lambdas_and_closures")], WITH_TAGS[:1]), VERSION >= (3, 14)),
    (TAGGING, same([RECURSION.format("comprehensions")], WITH_TAGS), OLDEST),
    (TAGGING, same(["line_events_of_a_tracer"], WITH_TAGS), not OLDEST),
    (TAGGING, same(["line_events_of_a_loop_with_one_call"], WITH_TAGS[1:]), not OLDEST),
    (TAGGING, same(["line_events_of_a_tracer_in_generators_and_methods"], WITH_TAGS), not OLDEST),
    (REPEATED, same(["line_events_of_a_tracer_in_generators_and_methods"], WITH_TAGS), OLDEST),
    (REPEATED, same(["line_events_of_a_loop_with_one_call"], WITH_TAGS[1:]), OLDEST),
    (TAGGING, same(["exception_frees_arguments_when_it_is_handled"], WITH_TAGS), True),
    (TAGGING, same(["traceback_does_not_keep_temporaries"], WITH_TAGS), True),
    (TAGGING, same(["locals_die_when_the_function_returns"], WITH_TAGS), VERSION < (3, 14)),
    (TAGGING, same(["left_operands_die_before_the_end_of_the_statement"], WITH_TAGS), True),
    (TAGGING, same(["result_that_is_not_stored_dies_at_once"], WITH_TAGS), True),
    (
        LATER,
        named("test_transparency.py::test_program_never_gets_a_wrapper", ["annotations"], WITH_TAGS[1:]),
        VERSION >= (3, 14),
    ),
    (SLOTS, same(["state_of_a_generator"], WITH_TAGS[1:]), True),
    # What tools report.
    (CODE, tool(["inspect_getclosurevars", "dis_dis"], [AFTER, NOOP, READING]), True),
    (
        CODE,
        ["test_programs.py::test_V8_code_that_has_run_in_a_context_runs_in_a_process_without_cassette_import"],
        True,
    ),
    (DYING, tool(["del_of_an_argument_runs_when_the_call_fails"], [READING]), True),
    (KEEPING, tool(["del_runs_when_the_last_reference_goes"], [NOOP, READING]), not OLDEST),
    (SPLATS, tool(["sys_setprofile_calls_of_c_functions_with_splats"], [READING]), True),
    (SPLATS, tool(["cprofile_call_counts_of_builtins_called_with_splats"], [NOOP]), OLDEST),
    (SPLATS, tool(["cprofile_call_counts_of_builtins_called_with_splats"], [READING]), True),
    (LOOPS, tool(["cprofile_call_counts"], [AFTER, NOOP, READING]), OLDEST),
    (PROFILERS, tool(["cprofile_call_counts_by_caller"], [NOOP, READING]), OLDEST),
    (BRANCHES, process(COVERAGE, WITH_CONTEXT, ["ctrace"], LINES_AND_BRANCHES), OLDEST and WITHOUT_EXTENSIONS),
    (UNWINDING, process(COVERAGE, ["reading"], ["ctrace", "pytrace"], LINES_AND_BRANCHES), REPORTS_HIDDEN),
    (UNWINDING, tool(["sys_settrace_exceptions_on_their_way"], [NOOP, READING]), REPORTS_HIDDEN),
    (UNWINDING, process(STEPS, WITH_CONTEXT, ["steps_through_an_exception"]), REPORTS_HIDDEN),
    (ORIGINS, tool(["asyncio_debug_mode"], [NOOP, READING]), OLDEST),
    (ORIGINS, process("test_faulthandler_dumps_the_frames_of_the_program", WITH_CONTEXT), True),
    (BOUND, tool(["sys_monitoring_call_events_of_methods"], [NOOP, READING]), not OLDEST),
    (RECURSIVE, same(["endless_recursion_raises"], [*GUARDED, *READING_ALL, *WITH_TAGS]), OLDEST),
    (COLUMNS, ["test_pytest.py::test_P1_assertions_without_rewriting_stay_bare[noop]"], OLDEST),
    (INSERTED, ["test_pytest.py::test_P1_what_pytest_inserts_is_no_event"], True),
    (JUMPS, process(SHOWS, ["noop"], ["breaks_in_a_generator"]), IS_3_12),
    (JUMPS, process(STEPS, ["noop"], ["steps_into_generators"]), IS_3_12),
]

KNOWN_LIMITS: dict[str, str] = {test: reason for reason, tests, is_so in _LIMITS if is_so for test in tests}
"""The reason for each test that has to fail on this version of Python, by file and name."""
