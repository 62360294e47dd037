"""Generators: pipelines of them, recursive ones, and coroutines that are sent values."""


def numbers(limit):
    value = 17
    for _ in range(limit):
        value = (value * 75 + 74) % 65537
        yield value


def pairs(values):
    previous = None
    for value in values:
        if previous is not None:
            yield previous, value
        previous = value


def rising(items):
    return ((a, b) for a, b in items if a < b)


def differences(items):
    for a, b in items:
        yield b - a


def batches(values, size):
    batch = []
    for value in values:
        batch.append(value)
        if len(batch) == size:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)


def permutations(items):
    if len(items) <= 1:
        yield items
        return
    for number, item in enumerate(items):
        for rest in permutations(items[:number] + items[number + 1 :]):
            yield [item, *rest]


def walk(tree):
    if isinstance(tree, tuple):
        yield from walk(tree[0])
        yield from walk(tree[1])
    else:
        yield tree


def tree_of(depth, value=1):
    return (tree_of(depth - 1, value * 2), tree_of(depth - 1, value * 2 + 1)) if depth else value


def averages():
    total = count = 0
    average = None
    while True:
        total += yield average
        count += 1
        average = total / count


def main():
    sums = [sum(batch) for batch in batches(differences(rising(pairs(numbers(5000)))), 10)]
    fixed = sum(1 for p in permutations(list(range(6))) if any(i == x for i, x in enumerate(p)))
    leaves = sum(walk(tree_of(9)))
    running = averages()
    next(running)
    last = [running.send(value) for value in sums][-1]
    return len(sums), fixed, leaves, last
