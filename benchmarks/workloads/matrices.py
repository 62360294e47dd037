"""Loops over numbers: products, determinants and a Gauss elimination of lists of lists; hardly any calls."""


def product(a, b):
    columns = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a]


def determinant(matrix):
    rows = [list(row) for row in matrix]
    size = len(rows)
    result = 1.0
    for i in range(size):
        best = i
        for j in range(i + 1, size):
            if abs(rows[j][i]) > abs(rows[best][i]):
                best = j
        if best != i:
            rows[i], rows[best] = rows[best], rows[i]
            result = -result
        pivot = rows[i][i]
        if pivot == 0.0:
            return 0.0
        result *= pivot
        for j in range(i + 1, size):
            factor = rows[j][i] / pivot
            for k in range(i, size):
                rows[j][k] -= factor * rows[i][k]
    return result


def relax(grid, times):
    height, width = len(grid), len(grid[0])
    for _ in range(times):
        for y in range(1, height - 1):
            above, here, below = grid[y - 1], grid[y], grid[y + 1]
            for x in range(1, width - 1):
                here[x] = (above[x] + below[x] + here[x - 1] + here[x + 1]) * 0.25
    return grid[height // 2][width // 2]


def main():
    matrix = [[float((i * 7 + j * 3) % 11 + (i == j) * 5) for j in range(20)] for i in range(20)]
    grid = [[float(x * y % 13) for x in range(24)] for y in range(24)]
    return determinant(product(matrix, matrix)), relax(grid, 12)
