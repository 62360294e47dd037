"""What a task writes, logs and warns of is what the program would have written, by its own handlers and filters."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("distributed.client", reason="dask.distributed is not installed")

TARGETS = """
import logging
import sys
import warnings

log = logging.getLogger("output_work.inner")

def talk(number):
    print("printed", number)
    log.warning("value %d", number)
    log.info("note of %s", [number])
    log.debug("hidden")
    logging.getLogger("quiet").error("hidden")
    warnings.warn("careful")
    warnings.warn(f"number {number % 2}", FutureWarning)
    warnings.warn("of the caller", stacklevel=2)
    log.warning("of the caller", stacklevel=2)
    warnings.warn("hidden", DeprecationWarning)
    sys.stdout.flush()
    sys.stdout.buffer.write(b"bytes\\n")
    sys.stdout.writelines(["one\\n", "two\\n"])
    print("error", file=sys.stderr)
    try:
        1 / (number - 1)
    except ZeroDivisionError:
        log.exception("division")
    return number


def tell_of_callers(number):
    def inner():
        log.error("a stack", stack_info=True)
        for level in range(1, 6):
            log.error("level %d", level, stacklevel=level, stack_info=level > 2)
            warnings.warn(f"level {level}", stacklevel=level)

    inner()
    return number
"""
SCRIPT = """
import logging
import sys
import traceback
import warnings
import output_work

fields = "%(levelname)s %(name)s %(threadName)s %(module)s %(funcName)s %(lineno)d %(message)s"
logging.basicConfig(format=fields, level=logging.DEBUG)
output_work.log.setLevel(logging.INFO)
logging.getLogger("quiet").setLevel(logging.CRITICAL)

def talk():
    return [output_work.talk(number) for number in range(4)]

print(talk())
warnings.filterwarnings("error", message="number 1")
try:
    talk()
except FutureWarning:
    traceback.print_exc()
print(sys.stdout is sys.__stdout__)
"""

SCRIPT_OF_CALLERS = """
import logging
import warnings
import output_work

class Handler(logging.Handler):
    def emit(self, record):
        kind = record.exc_info and record.exc_info[0]
        print(record.getMessage(), record.pathname, record.lineno, record.funcName, record.module, kind)
        print(record.stack_info)
        print(record.exc_info and logging.Formatter().formatException(record.exc_info))

logging.getLogger().addHandler(Handler())
warnings.simplefilter("always")

def inner():
    rows = []
    for number in range(2):
        rows.append(
            output_work.tell_of_callers(number)
        )
    return rows, [output_work.talk(number) for number in range(2)]

def outer():
    return inner()

print(outer())
"""


@pytest.fixture
def run(tmp_path):
    """Runs the script, by options of cassette_import; returns what it writes."""
    (tmp_path / "output_work.py").write_text(TARGETS)

    def run(*options, script=SCRIPT):
        (tmp_path / "script.py").write_text(script)
        environment = {**os.environ, "PYTHONPATH": os.getcwd()}
        command = [sys.executable, *options, "script.py"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr.partition("parallel:\n")[0]

    return run


@pytest.mark.parametrize("options", ["", ",check=true"])
def test_output_log_records_and_warnings_are_those_of_the_program(run, options):
    """The log of the program has nothing of dask's, either."""
    context = f"parallel:targets=output_work:talk,workers=2{options}"
    output, errors = run()
    assert "INFO output_work.inner MainThread" in errors
    assert errors.count("FutureWarning: number 1") == 2  # the first time, and as an exception
    assert run("-m", "cassette_import", "run", "-c", context) == (output, errors)


def test_records_and_warnings_name_the_callers_that_the_program_has(run):
    targets = "targets=output_work:tell_of_callers+output_work:talk,workers=2"
    output, errors = run("-m", "cassette_import", "run", "-c", "noop", script=SCRIPT_OF_CALLERS)
    assert "script.py 25 outer script None" in output
    assert "<class 'ZeroDivisionError'>" in output
    on_workers = run("-m", "cassette_import", "run", "-c", f"parallel:{targets}", script=SCRIPT_OF_CALLERS)
    assert on_workers == (output, errors)
