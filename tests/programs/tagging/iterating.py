"""An unmodified program whose functions move a value through iterators and algorithms on lists, and return it.

The second argument is moved, too, where there is room for it.
"""

# ruff: noqa: B007, RUF015

import bisect
import heapq
import itertools
import operator
import statistics


class Key:
    """A value that is compared by a number."""

    def __init__(self, number, value):
        self.number = number
        self.value = value

    def __lt__(self, other):
        return self.number < other.number


def by_product(x, y):
    return list(itertools.product([y, x], "ab"))[2][0]


def by_repeated_product(x, y):
    return [pair for pair in itertools.product([y, x], repeat=2)][2][0]


def by_product_of_generators(x, y):
    for _first, last in itertools.product((i for i in "a"), (i for i in (y, x))):
        pass
    return last


def by_repeat(x, y):
    return list(itertools.repeat(x, 2))[1]


def by_next_of_repeat(x, y):
    return next(itertools.repeat(x))


def by_zip_with_repeat(x, y):
    return [b for a, b in zip([1, 2], itertools.repeat(x))][1]


def by_tee(x, y):
    _first, second = itertools.tee([y, x])
    return list(second)[1]


def by_both_of_tee(x, y):
    first, second = itertools.tee(i for i in (y, x))
    list(first)
    next(second)
    return next(second)


def by_zip_longest(x, y):
    return list(itertools.zip_longest([y, x], [y]))[1][0]


def by_fill_value(x, y):
    return list(itertools.zip_longest([y, y], [y], fillvalue=x))[1][1]


def by_cycle(x, y):
    return list(itertools.islice(itertools.cycle([y, x]), 4))[1]


def by_second_round_of_cycle(x, y):
    running = itertools.cycle(i for i in (y, x))
    next(running), next(running), next(running)
    return next(running)


def by_groupby(x, y):
    return [list(group) for _, group in itertools.groupby([y, x], key=str)][1][0]


def by_group(x, y):
    for _key, group in itertools.groupby([y, y, x], key=str):
        for found in group:
            pass
    return found


def by_key_of_groupby(x, y):
    return [key for key, _ in itertools.groupby([y, x])][1]


def by_computed_key_of_groupby(x, y):
    return [key for key, _ in itertools.groupby([1, 2], key={1: y, 2: x}.get)][1]


def by_combinations(x, y):
    return list(itertools.combinations([y, "a", x], 2))[1][1]


def by_combinations_with_replacement(x, y):
    return list(itertools.combinations_with_replacement([y, x], 2))[1][1]


def by_permutations(x, y):
    return next(itertools.islice(itertools.permutations([y, x]), 1, 2))[0]


def by_compress(x, y):
    return list(itertools.compress([y, x], [0, 1]))[0]


def by_dropwhile(x, y):
    return list(itertools.dropwhile(lambda i: i is None, [None, x]))[0]


def by_filterfalse(x, y):
    return list(itertools.filterfalse(lambda i: i is None, [None, x]))[0]


def by_batches(x, y):
    if not hasattr(itertools, "batched"):
        return x
    return list(itertools.batched([y, y, y, x], 2))[1][1]


def by_accumulate(x, y):
    return list(itertools.accumulate([y, x], lambda a, b: b))[1]


def by_initial_of_accumulate(x, y):
    return list(itertools.accumulate([], initial=x))[0]


def by_call_iterator(x, y):
    items = [x, y]
    return next(iter(items.pop, x)) if False else list(iter(lambda: items.pop(0), y))[0]


def by_zip_strict(x, y):
    return list(zip([y], [x], strict=True))[0][1]


def by_enumerate_start(x, y):
    return list(enumerate([y, x], 5))[1][1]


def by_min_default(x, y):
    return min([], default=x)


def by_max_default(x, y):
    return max((), default=x)


def by_max_with_key(x, y):
    return max([y, x], key=lambda i: i is x)


def by_heappush(x, y):
    heap = []
    heapq.heappush(heap, (1, x))
    heapq.heappush(heap, (0, y))
    return heap[1][1]


def by_heappush_of_value(x, y):
    heap = []
    heapq.heappush(heap, x)
    return heap[0]


def by_heap_of_objects(x, y):
    heap = []
    for number, value in ((3, y), (1, x), (2, y)):
        heapq.heappush(heap, Key(number, value))
    return heapq.heappop(heap).value


def by_heappop(x, y):
    heap = [x]
    heapq.heappush(heap, 100)
    heapq.heappush(heap, 50)
    return heapq.heappop(heap)


def by_heap_of_values(x, y):
    heap = [100, 50, 70, 60]
    heapq.heappush(heap, x)
    heapq.heapify(heap)
    heapq.heappop(heap) if heap[0] is None else None
    return heap[0]


def by_heapify(x, y):
    heap = [50, 70, x]
    heapq.heapify(heap)
    return heap[0]


def by_heapreplace(x, y):
    heap = [y]
    heapq.heapreplace(heap, x)
    return heap[0]


def by_result_of_heapreplace(x, y):
    heap = [x]
    return heapq.heapreplace(heap, y)


def by_heappushpop(x, y):
    return heapq.heappushpop([100], x)


def by_nlargest(x, y):
    return heapq.nlargest(2, [-50, x, -60])[0]


def by_nlargest_with_key(x, y):
    return heapq.nlargest(2, [(1, y), (3, x), (2, y)], key=operator.itemgetter(0))[0][1]


def by_largest_with_key(x, y):
    return heapq.nlargest(1, [y, x], key=lambda i: i is x)[0]


def by_nsmallest(x, y):
    return heapq.nsmallest(2, [60, x, 50, 70])[0]


def by_merge(x, y):
    return list(heapq.merge([x, 80], [50, 90]))[0]


def by_merge_with_key(x, y):
    return next(heapq.merge([100], [x], key=float))


def by_insort(x, y):
    items = [50, 60]
    bisect.insort(items, x)
    return items[0]


def by_insort_left_with_key(x, y):
    items = [50, 60]
    bisect.insort_left(items, x, key=float)
    return items[0]


def by_insort_among_others(x, y):
    items = [x, 60]
    bisect.insort(items, 50)
    return items[0]


def by_median(x, y):
    return statistics.median([50, x, -50])


def by_median_low(x, y):
    return statistics.median_low([50, x])


def by_median_high(x, y):
    return statistics.median_high([-50, x])


def by_mode(x, y):
    return statistics.mode([x, 50])


def by_multimode(x, y):
    return statistics.multimode([x, 50])[0]


def by_reversed_of_slice(x, y):
    return list(reversed((y, x)))[0]


MOVERS = [found for name, found in list(globals().items()) if name.startswith("by_")]
