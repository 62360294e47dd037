"""Runs when a child process of `run --subprocesses` starts: this folder is first on its PYTHONPATH.

It removes the folder from the path, and imports the `sitecustomize` that Python would have found without it. It must
run on any Python that a program may start; where cassette_import cannot run, it does nothing else.
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
        from cassette_import.frontends.subprocesses import child_process

        child_process.start(os.environ["CASSETTE_IMPORT_RUN"])
    except ImportError:  # another version of cassette_import is there, or one of its dependencies is not
        pass
    finally:
        if is_added and root in sys.path:
            sys.path.remove(root)


if __name__ == "sitecustomize":
    _begin()
    # Replace this module by the one that Python would have found. If there is none, Python ignores the ImportError, as
    # it would have without this module.
    del sys.modules[__name__]
    import sitecustomize  # noqa: F401
