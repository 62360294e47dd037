"""Backtracking with sets, and a knapsack with memory."""


def is_safe(row, column, columns, rising, falling):
    return column not in columns and row + column not in rising and row - column not in falling


def place(row, size, columns, rising, falling):
    if row == size:
        return 1
    count = 0
    for column in range(size):
        if is_safe(row, column, columns, rising, falling):
            columns.add(column)
            rising.add(row + column)
            falling.add(row - column)
            count += place(row + 1, size, columns, rising, falling)
            columns.remove(column)
            rising.remove(row + column)
            falling.remove(row - column)
    return count


def knapsack(items, capacity):
    best = [0] * (capacity + 1)
    for weight, value in items:
        for room in range(capacity, weight - 1, -1):
            candidate = best[room - weight] + value
            if candidate > best[room]:
                best[room] = candidate
    return best[capacity]


def main():
    items = [(number % 13 + 1, number * 7 % 31) for number in range(40)]
    return place(0, 7, set(), set(), set()), knapsack(items, 400)
