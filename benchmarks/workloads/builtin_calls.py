"""Mostly calls of functions and methods that are written in C: `len`, `min`, `sorted`, `str.join`."""

import math
import time

WORDS = "the quick brown fox jumps over the lazy dog and runs away from the bear".split()


def letters(words):
    return sorted({letter for word in words for letter in word.lower()}, key=ord)


def shout(words):
    shouted = []
    for word in words:
        shouted.append(word.strip().upper().replace("O", "0").ljust(8, "."))
    return "|".join(shouted)


def numbers(count):
    found = []
    for number in range(count):
        value = abs(math.sin(number)) + math.sqrt(number) + divmod(number, 7)[1]
        found.append(round(max(min(value, 50.0), 1.0), 3))
    return sum(found), len(found), hash(tuple(found[:9]))


def clocks(count):
    return all(isinstance(time.time(), float) for _ in range(count))


def main():
    lines = [shout(WORDS) for _ in range(40)]
    return letters(WORDS), lines[-1], len(lines), numbers(1500), clocks(200)
