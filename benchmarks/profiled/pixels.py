"""Two nested loops that clamp each value, and a blur of the result."""


def clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


def image(width, height):
    rows = []
    for y in range(height):
        row = []
        for x in range(width):
            row.append(clamp(x * y - x + 3 * y, 0, 255) ^ (x & 3))
        rows.append(row)
    return rows


def blur(rows):
    result = []
    for above, row, below in zip(rows, rows[1:], rows[2:]):
        result.append([(a + b + c) // 3 for a, b, c in zip(above, row, below)])
    return result


def histogram(rows):
    counts = [0] * 256
    for row in rows:
        for value in row:
            counts[value] += 1
    return counts


def main():
    return histogram(blur(image(110, 75)))
