"""Progress: what a process has specialised is counted, and the user is notified once when it takes long."""

import contextlib
import io
import os
import pty
import re
import subprocess
import sys
import textwrap

import pytest
from helpers.command_line import environment, run

from cassette_import.frontends.reporting.report import merged, report
from cassette_import.interpreter.standard_error import StandardError
from cassette_import.specialization.progress import Progress, Work

NOTICE = (
    rb"cassette_import: \d+ functions?( and \d+ module levels?)? specialised in \d+\.\d seconds so far; [^\r\n]+\r?\n"
)

PROGRAM = """
    import os, sys
    import cassette_import
    from cassette_import.contexts import Noop
    from cassette_import.specialization.progress import PROGRESS

    PREPARE

    import colorsys
    cassette_import.install("colorsys")
    with Noop():
        colorsys.rgb_to_hls(0, 0, 1)
        colorsys.rgb_to_yiq(0, 0, 1)
    print(PROGRESS.work().functions, "functions")
"""
ALWAYS = "PROGRESS.notify(); PROGRESS.patience = 0"


@pytest.fixture
def read():
    """Write with a `StandardError` to a pipe; return what was written."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)

    def read():
        with contextlib.suppress(BlockingIOError):
            return os.read(ours, 10_000)
        return b""

    yield read, theirs
    for descriptor in (ours, theirs):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def specialise(progress, seconds=0.0):
    progress.begin()
    progress.count(functions=1)
    return progress.end(seconds)


def test_functions_module_levels_and_seconds_are_counted():
    progress = Progress()
    progress.be_quiet()
    assert (specialise(progress, 3), specialise(progress, 1)) == (1, 2)
    progress.count(modules=1)
    assert progress.work()[:3] == (2, 1, 4.0)


@pytest.mark.parametrize(("seconds", "elapsed", "share"), [(1, 4, 0.25), (0, 0, 0), (5, 4, 1)])
def test_the_share_is_between_0_and_1(seconds, elapsed, share):
    assert Work(1, 1, seconds, elapsed).share == share


def test_what_is_no_part_of_the_program_is_not_counted():
    progress = Progress()
    with progress.not_counting():
        specialise(progress, 1)
    assert progress.work()[:3] == (0, 0, 0)


def test_one_notice_is_written_after_two_seconds(read):
    written, descriptor = read
    progress = Progress()
    progress.notify(StandardError(descriptor))
    specialise(progress, 1.5)
    assert written() == b""
    for _ in range(3):
        specialise(progress, 1)
    lines = written()
    assert re.fullmatch(NOTICE, lines)
    assert lines.startswith(b"cassette_import: 2 functions specialised in 2.5 seconds so far; ")


def test_the_notice_counts_module_levels_too(read):
    written, descriptor = read
    progress = Progress()
    progress.notify(StandardError(descriptor))
    progress.count(modules=2)
    specialise(progress, 3)
    assert written().startswith(b"cassette_import: 1 function and 2 module levels specialised in 3.0 seconds so far; ")


@pytest.mark.parametrize(
    ("disabled", "outlook"),
    [(False, "none of them is cached: they are of the script itself"), (True, "nothing is cached, because Python may")],
)
def test_the_notice_says_what_the_next_run_will_cost(disabled, outlook, read, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", disabled)
    written, descriptor = read
    progress = Progress()
    progress.notify(StandardError(descriptor))
    specialise(progress, 3)
    assert outlook in written().decode()


@pytest.mark.parametrize(
    ("attempts", "outlook"),
    [
        ([True, True, True], "the next run takes them from its cache"),
        ([True, True], "the next run takes 2 of them from its cache"),
        ([False, False], "nothing is cached, because the cache files cannot be written"),
        ([True, False], "not all are cached, because some cache files cannot be written"),
    ],
)
def test_the_notice_says_whether_cache_files_could_be_written(attempts, outlook, read, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    written, descriptor = read
    progress = Progress()
    progress.notify(StandardError(descriptor))
    for succeeded in attempts:
        progress.note_caching(succeeded)
    progress.count(modules=2)
    specialise(progress, 3)
    assert written().decode().endswith(f"; {outlook}\n")


def test_a_quiet_process_writes_nothing(read):
    written, descriptor = read
    progress = Progress()
    progress.notify(StandardError(descriptor))
    progress.be_quiet()
    specialise(progress, 3)
    assert written() == b""


def test_a_forked_process_writes_nothing(read, monkeypatch):
    written, descriptor = read
    progress = Progress()
    progress.notify(StandardError(descriptor))
    monkeypatch.setattr(os, "getpid", lambda: 1)
    specialise(progress, 3)
    assert written() == b""


def test_a_redirected_descriptor_gets_no_notice(read, tmp_path):
    written, descriptor = read
    error = StandardError(descriptor)
    with open(tmp_path / "log", "w") as log:
        os.dup2(log.fileno(), descriptor)
    assert not error.write_line("notice")
    assert (tmp_path / "log").read_text() == ""
    assert written() == b""


def test_a_closed_descriptor_gets_no_notice(read):
    _, descriptor = read
    error = StandardError(descriptor)
    os.close(descriptor)
    assert not error.write_line("notice")


@pytest.mark.parametrize("stream", [None, io.StringIO()], ids=["None", "without a descriptor"])
def test_without_a_standard_error_there_is_no_notice(stream, monkeypatch):
    monkeypatch.setattr(sys, "__stderr__", stream)
    error = StandardError()
    assert (error.is_terminal, error.write_line("notice"), error.show_status("bar")) == (False, False, False)


# ---- whole processes


@pytest.fixture
def program(tmp_path):
    def write(prepare):
        text = textwrap.dedent(PROGRAM).replace("PREPARE", textwrap.dedent(prepare))
        (tmp_path / "app.py").write_text(text)
        return tmp_path

    return write


def on_a_terminal(folder, **variables):
    """Run the program with a terminal as its standard error; return what it writes to it, and its standard output."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "app.py"]
    options = {"env": environment(TERM="xterm", **variables), "start_new_session": True}

    def take_terminal():
        import fcntl
        import termios

        fcntl.ioctl(2, termios.TIOCSCTTY, 0)

    done = subprocess.run(
        command, cwd=folder, stderr=theirs, stdout=subprocess.PIPE, check=True, preexec_fn=take_terminal, **options
    )
    os.close(theirs)
    written = b""
    with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
        while part := os.read(ours, 1000):
            written += part
    os.close(ours)
    return written, done.stdout


def test_run_notifies_also_where_standard_error_is_no_terminal(program):
    folder = program(ALWAYS)
    done = run("app.py", folder=folder)
    assert re.fullmatch(NOTICE, done.stderr.encode())
    assert done.stdout == "2 functions\n"


def test_a_cache_that_cannot_be_written_is_not_promised_to_the_next_run(program):
    folder = program(ALWAYS.replace("patience = 0", "patience = 1e-9"))
    variables = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": "/dev/null/nowhere"}
    assert "from its cache" not in run("app.py", folder=folder, **variables).stderr


def test_a_program_that_only_uses_the_package_is_notified_on_a_terminal_alone(program):
    folder = program("PROGRESS.patience = 0")
    assert run("app.py", folder=folder).stderr == ""
    written, _ = on_a_terminal(folder)
    assert len(re.findall(NOTICE, written)) == 1


def test_on_a_terminal_a_bar_appears_and_disappears(program):
    written, output = on_a_terminal(program(ALWAYS))
    notice, bar = re.split(rb"(?<=\n)", written, maxsplit=1)
    assert re.fullmatch(NOTICE, notice)
    shown = rb"\x1b7\x1b\[\?7l\[[ =]{12}\] 1 function specialised, \d+\.\d seconds\x1b\[\?7h\x1b8"
    assert re.fullmatch(shown + rb"\x1b\[K", bar)
    assert output == b"2 functions\n"


@pytest.mark.parametrize(
    "prepare",
    [
        "import termios; flags = termios.tcgetattr(2); flags[3] &= ~termios.ICANON; termios.tcsetattr(2, 0, flags)",
        "os.setpgid(0, 0)",
    ],
    ids=["single keys", "in the background"],
)
def test_there_is_no_bar_where_it_would_disturb(prepare, program):
    if prepare.startswith("os."):
        prepare = "if (child := os.fork()): os.waitpid(child, 0); os._exit(0)\n" + prepare
    written, _ = on_a_terminal(program(f"{prepare}\n{ALWAYS}"))
    assert re.fullmatch(NOTICE, written)


def test_a_terminal_without_a_cursor_gets_no_bar(program):
    folder = program(f"{ALWAYS}")
    (folder / "sitecustomize.py").write_text("import os; os.environ['TERM'] = 'dumb'")
    written, _ = on_a_terminal(folder, PYTHONPATH=f"{folder}:{environment()['PYTHONPATH']}")
    assert re.fullmatch(NOTICE, written)


@pytest.mark.parametrize(
    "handling",
    [
        "sys.stderr = None",
        "import io; sys.stderr = io.StringIO()",
        "import contextlib, io; contextlib.redirect_stderr(io.StringIO()).__enter__()",
    ],
)
def test_a_stream_that_the_program_assigns_does_not_get_the_notice(handling, program):
    check = "import atexit; atexit.register(lambda: sys.stderr and print(repr(sys.stderr.getvalue())))"
    done = run("app.py", folder=program(f"{ALWAYS}\n{handling}\n{check}"))
    assert done.status == 0
    assert re.fullmatch(NOTICE, done.stderr.encode())
    assert done.stdout in ("2 functions\n", "2 functions\n''\n")


@pytest.mark.parametrize("handling", ["os.close(2)", "sys.stderr.close()", "os.dup2(os.open(os.devnull, 1), 2)"])
def test_a_program_that_closes_or_redirects_its_standard_error_gets_no_notice(handling, program):
    done = run("app.py", folder=program(f"{ALWAYS}\n{handling}"))
    assert (done.status, done.stdout, done.stderr) == (0, "2 functions\n", "")


def test_what_another_thread_writes_behind_the_bar_remains(program):
    """The bar leaves the cursor where it was, so the text of the thread is in front of what is erased."""
    prepare = f"""
        {ALWAYS}
        from cassette_import.interpreter import standard_error
        hide = standard_error.StandardError.hide_status
        def hide_later(self):
            os.write(2, b"thread")
            hide(self)
        standard_error.StandardError.hide_status = hide_later
    """
    written, _ = on_a_terminal(program(prepare))
    assert written.endswith(b"\x1b[?7h\x1b8thread\x1b[K")


def test_a_report_of_several_processes_has_the_sums_of_what_they_have_specialised():
    documents = []
    for work in (Work(2, 1, 1.0, 4.0), Work(3, 0, 0.5, 2.0)):
        described = {"functions": work.functions, "module_levels": work.modules, "seconds": work.seconds}
        documents.append(
            {**report([], []), "specialising": {**described, "elapsed": work.elapsed, "share": work.share}}
        )
    assert merged(documents)["specialising"] == {
        "functions": 5,
        "module_levels": 1,
        "seconds": 1.5,
        "elapsed": 6.0,
        "share": 0.25,
    }
