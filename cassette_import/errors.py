"""The errors and the warning that are this package's own.

Whatever else goes wrong is the program's and reaches its caller as it is. Where Python has an exception for
what happened, the error is one of those too. This file knows nothing of the others.
"""

__all__ = [
    "AmbiguousOverload",
    "CassetteError",
    "CassetteWarning",
    "NotOverdubbable",
    "OverdubRecursionError",
    "PassError",
]


class CassetteError(Exception):
    """The base of all errors of this package; never raised itself.

    Catch it to tell what this package refused from what the overdubbed program raised.
    """


class CassetteWarning(UserWarning):
    """A module or function is left as it is, and runs plain.

    Issued once for each, with the reason, when code that was asked for cannot be rewritten. The program goes
    on. Exclude the module from the installation to be rid of the warning. Where plain code would be a
    mistake, turn it into an error: ``warnings.simplefilter("error", CassetteWarning)``, or, with pytest,
    ``-W error::cassette_import.CassetteWarning``.
    """


class NotOverdubbable(CassetteError, ValueError):
    """What was asked for exists, but has no Python source that could be overdubbed.

    Raised by `install` for built-in and extension modules and for modules that come without source. Install
    the Python package around it instead; the functions of the module itself are leaves, for which overloads
    and hooks can be registered without installing anything.
    """


class AmbiguousOverload(CassetteError, TypeError):
    """Two overloads or hooks match a call equally well.

    Raised at the call, and names both. Register a third one whose annotations are at least as specific as
    those of both, or make one of the two more specific.
    """


class PassError(CassetteError):
    """A pass raised, or returned something that does not compile.

    Raised when the function that the pass was working on is entered, and names the pass, the function, its
    file and line. What the pass raised is the ``__cause__``. The pass has to be mended, or to return the tree
    of its reflection unchanged for functions that it cannot treat.
    """


class OverdubRecursionError(CassetteError, RecursionError):
    """An overload enters itself again and again.

    Raised instead of a bare `RecursionError` when an overload calls `overdub` for the very function that it
    replaces. Call `recurse` there, which skips the overload for that one call, or `fallback` for the native
    function.
    """
