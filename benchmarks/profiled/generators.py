"""A pipeline of generators, and a recursive one with `yield from`."""


def numbers(count):
    value = 12345
    for _ in range(count):
        value = (value * 1103515245 + 12345) % 2147483648
        yield value >> 8


def evens(source):
    for value in source:
        if value % 2 == 0:
            yield value


def pairs(source):
    previous = None
    for value in source:
        if previous is not None:
            yield previous, value
        previous = value


def smoothed(source, weight):
    average = 0.0
    for first, second in source:
        average += (first - second - average) * weight
        yield average


class Tree:
    def __init__(self, low, high):
        self.value = (low + high) // 2
        self.left = Tree(low, self.value) if low < self.value else None
        self.right = Tree(self.value + 1, high) if self.value + 1 < high else None

    def __iter__(self):
        if self.left:
            yield from self.left
        yield self.value
        if self.right:
            yield from self.right


def main():
    total = sum(value for value in smoothed(pairs(evens(numbers(5000))), 0.1) if value > 0)
    return total, sum(Tree(0, 500))
