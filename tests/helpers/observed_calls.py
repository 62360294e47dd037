"""What a call does, as far as a program can tell."""

import contextlib
import io
import traceback


def observed(call, *arguments):
    """What a call does: its result or the traceback of its exception, without the first entries, and its output."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            result = repr(call(*arguments))
        except Exception as error:
            entries = traceback.TracebackException.from_exception(error).stack
            shown = [str(entry) for entry in entries if "parallel_" in entry.filename]
            result = f"{shown} {type(error).__name__}: {error}"
    return result, output.getvalue()
