"""A loop that calls one small function."""


def collatz(n):
    steps = 0
    while n != 1:
        n = step(n)
        steps += 1
    return steps


def step(n):
    return n // 2 if n % 2 == 0 else 3 * n + 1


def main():
    return max(collatz(n) for n in range(1, 500))
