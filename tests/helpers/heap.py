"""Wrappers of tagged values in objects of the garbage collector: a program's own objects must hold none."""

import contextlib
import gc

from cassette_import import Tagged


def holders_of_wrappers():
    """Containers and namespaces that hold a wrapper, by identity."""
    gc.collect()
    found = {}
    for item in gc.get_objects():
        if type(item) in (list, dict, set, tuple):
            parts = item.values() if type(item) is dict else item
            with contextlib.suppress(RuntimeError, TypeError):  # changed meanwhile
                if any(type(part) is Tagged for part in parts):
                    found[id(item)] = item
    return found


@contextlib.contextmanager
def no_new_holders_of_wrappers():
    """Fail if there are holders at the end that were none at the beginning.

    Code that makes tagged values itself holds wrappers, as the documents' examples do, and some of it stays.
    """
    before = holders_of_wrappers()
    yield
    assert [item for key, item in holders_of_wrappers().items() if key not in before] == []
