"""The classification of `collections`, `copy`, `heapq` and `bisect`."""

from __future__ import annotations

from typing import Final

from cassette_import.runtime.tagging.classification.table import Table

COLLECTIONS: Final = Table(
    moves={
        "the argument becomes an item": (
            "deque: append appendleft insert __setitem__ OrderedDict: setdefault __setitem__"
        ),
        "an item becomes the result": ("deque: pop popleft __getitem__ OrderedDict: pop popitem"),
        "items become items of the result": (
            "deque OrderedDict defaultdict"
            " deque: copy __add__ __mul__ __rmul__ __copy__ defaultdict: copy __or__ __ror__ __copy__"
            " OrderedDict: copy fromkeys values items __or__ __ror__"
        ),
        "items become items of the object": (
            "deque: extend extendleft reverse rotate __iadd__ __imul__ OrderedDict: update __ior__"
            " OrderedDict: __init__ defaultdict: __init__ deque: __init__"
        ),
    },
    computes=(
        "ChainMap Counter UserDict UserList UserString ChainMap: * UserDict: * UserList: * Counter: total"
        " most_common elements fromkeys update subtract copy _keep_positive __init__"
        " __missing__ __or__ __ior__ UserString: *"
    ),
    consumes=("deque: clear count index remove OrderedDict: clear keys move_to_end __iter__ __reversed__"),
    creates="namedtuple",
)

COPY: Final = Table(
    moves={"parts become parts of the result": "copy deepcopy replace"},
)

HEAPQ: Final = Table(
    moves={
        "the argument becomes an item": "heappush heappush_max",
        "an item becomes the result": ("heappop heappushpop heapreplace heappop_max heappushpop_max heapreplace_max"),
        "items become items of the result": "merge nlargest nsmallest",
        "items become items of the object": "heapify heapify_max",
    },
)

BISECT: Final = Table(
    moves={"the argument becomes an item": "insort insort_left insort_right"},
    consumes="bisect bisect_left bisect_right",
)
