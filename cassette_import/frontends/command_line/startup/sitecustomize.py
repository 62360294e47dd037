"""What a child process of `run --subprocesses` executes when it starts: this folder is first on its PYTHONPATH.

Takes itself off the path again, and gives way to the `sitecustomize` that would have been found without it. Must
run, doing no more than that, on any Python that a program may start.
"""

import os
import sys


def _begin():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    sys.path_importer_cache.pop(here, None)
    if sys.version_info < (3, 11) or not os.environ.get("CASSETTE_IMPORT_RUN"):
        return
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(here))))
    is_added = root not in sys.path
    if is_added:  # at the end: the child's own modules come first
        sys.path.append(root)
    try:
        from cassette_import.frontends.command_line import child_process

        child_process.start(os.environ["CASSETTE_IMPORT_RUN"])
    except ImportError:  # another version of ours is there, or not all that we need
        pass
    finally:
        if is_added and root in sys.path:
            sys.path.remove(root)


if __name__ == "sitecustomize":
    _begin()
    # In the place of this one, the one that Python would have found. If there is none, the error that says so leaves
    # things as they would have been.
    del sys.modules[__name__]
    import sitecustomize  # noqa: F401
