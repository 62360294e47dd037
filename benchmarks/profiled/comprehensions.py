"""Matrices and sieves as comprehensions, few calls."""


def matrix(size, seed):
    return [[(row * seed + column) % 17 for column in range(size)] for row in range(size)]


def transposed(rows):
    return [list(column) for column in zip(*rows)]


def product(left, right):
    columns = transposed(right)
    return [[sum([a * b for a, b in zip(row, column)]) for column in columns] for row in left]


def primes(limit):
    sieve = [True] * limit
    for number in range(2, int(limit**0.5) + 1):
        if sieve[number]:
            sieve[number * number :: number] = [False] * len(range(number * number, limit, number))
    return [number for number, is_prime in enumerate(sieve) if is_prime and number > 1]


def grouped(values):
    groups = {digit: {value for value in values if value % 10 == digit} for digit in range(10)}
    return {digit: len(members) for digit, members in groups.items()}


def main():
    found = product(matrix(28, 3), matrix(28, 5))
    return sum(map(sum, found)), grouped(primes(12000))
