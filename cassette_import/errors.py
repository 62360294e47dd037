"""cassette_import's exceptions and its warning.

All other exceptions come from the program, and reach its caller unchanged. Where Python has an exception for what
happened, the error is a subclass of that one too.
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
    """The base of cassette_import's exceptions. It is never raised itself.

    Catch it to distinguish errors of cassette_import from errors of the overdubbed program.
    """


class CassetteWarning(UserWarning):
    """A module or function is not rewritten, and runs unchanged.

    It is issued once for each module or function, with the reason. The program goes on. To avoid the warning, exclude
    the module from the installation. To make it an error, use ``warnings.simplefilter("error", CassetteWarning)``, or,
    with pytest, ``-W error::cassette_import.CassetteWarning``.
    """


class NotOverdubbable(CassetteError, ValueError):
    """A module or function has no Python source that could be overdubbed.

    `install` raises it for built-in and extension modules, and for modules without source. Install the Python package
    that contains the module instead. The functions of the module itself are leaves; overloads and hooks can be
    registered for them without an installation.
    """


class AmbiguousOverload(CassetteError, TypeError):
    """Two overloads or hooks match a call equally well.

    It is raised at the call, and names both. Register a third one with annotations at least as specific as those of
    both, or make the annotations of one of them more specific.
    """


class PassError(CassetteError):
    """A pass has raised an exception, or has returned something that does not compile.

    It is raised when the function that the pass has rewritten is called in the context. It names the pass, the
    function, its file and its line. The exception of the pass is its ``__cause__``. A pass that cannot treat a function
    returns the tree of its reflection unchanged.
    """


class OverdubRecursionError(CassetteError, RecursionError):
    """An overload enters itself without end.

    It is raised instead of a bare `RecursionError` when an overload calls `overdub` for the function that it replaces.
    Call `recurse` there, which skips the overload for that one call, or `fallback` for the native function.
    """
