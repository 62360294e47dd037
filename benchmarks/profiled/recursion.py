"""Recursive functions: Fibonacci numbers, permutations, the towers of Hanoi."""


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def permutations(items):
    if len(items) <= 1:
        return [items]
    found = []
    for position, item in enumerate(items):
        for rest in permutations(items[:position] + items[position + 1 :]):
            found.append([item, *rest])
    return found


def hanoi(height, source, target, spare, moves):
    if height:
        hanoi(height - 1, source, spare, target, moves)
        moves.append((source, target))
        hanoi(height - 1, spare, target, source, moves)


def main():
    moves = []
    hanoi(10, "a", "b", "c", moves)
    return fib(16), len(permutations(list(range(6)))), len(moves)
