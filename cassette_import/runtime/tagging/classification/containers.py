"""The classification of `collections`, `copy`, `heapq` and `bisect`.

Knows names; must not know rules.
"""

from __future__ import annotations

from typing import Final

from cassette_import.runtime.tagging.classification.table import Table

COLLECTIONS: Final = Table(
    moves={
        "the argument becomes an item": (
            "deque: append appendleft insert __setitem__ OrderedDict: setdefault __setitem__ UserDict: __setitem__"
            " UserList: append insert __setitem__ ChainMap: __setitem__"
        ),
        "an item becomes the result": (
            "deque: pop popleft __getitem__ defaultdict: __missing__ OrderedDict: pop popitem UserDict: get __getitem__"
            " UserList: pop __getitem__ ChainMap: get pop popitem __getitem__ __missing__"
        ),
        "items become items of the result": (
            "deque OrderedDict defaultdict ChainMap UserDict UserList"
            " deque: copy __add__ __mul__ __rmul__ __copy__ defaultdict: copy __or__ __ror__ __copy__"
            " OrderedDict: copy fromkeys values items __or__ __ror__ UserDict: copy fromkeys __or__ __ror__"
            " UserList: copy __add__ __radd__ __mul__ __rmul__ _UserList__cast"
            " ChainMap: copy fromkeys new_child __or__ __ror__"
        ),
        "items become items of the object": (
            "deque: extend extendleft reverse rotate __iadd__ __imul__ OrderedDict: update move_to_end __ior__"
            " UserList: extend reverse sort __iadd__ __imul__ UserDict: __ior__ ChainMap: __ior__"
        ),
    },
    computes=(
        "Counter UserString Counter: total most_common elements fromkeys update subtract copy _keep_positive __init__"
        " __missing__ __or__ __ior__ UserString: *"
    ),
    consumes=(
        "deque: clear count index remove OrderedDict: clear keys UserList: clear count index remove ChainMap: clear"
    ),
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
