"""The game of life with closures and callbacks."""


def neighbours(x, y):
    return [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy]


def counter():
    counts = {}

    def add(cell):
        counts[cell] = counts.get(cell, 0) + 1

    return counts, add


def step(cells):
    counts, add = counter()
    for x, y in cells:
        for cell in neighbours(x, y):
            add(cell)
    return {cell for cell, count in counts.items() if count == 3 or (count == 2 and cell in cells)}


def shifted(cells, dx, dy):
    return set(map(lambda cell: (cell[0] + dx, cell[1] + dy), cells))


def bounds(cells):
    xs = [x for x, _ in cells]
    ys = [y for _, y in cells]
    return min(xs), max(xs), min(ys), max(ys)


def main():
    cells = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2), (10, 10), (11, 10), (12, 10), (11, 11), (5, 20), (6, 20), (7, 21)}
    for _ in range(60):
        cells = shifted(step(cells), 1, 0)
    return bounds(cells), len(cells)
