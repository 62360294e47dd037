"""Attributes: a linked list, a tree and a grid of objects whose fields are read and written, with and without slots."""


class Node:
    def __init__(self, value, following):
        self.value = value
        self.following = following
        self.visits = 0


class Cell:
    __slots__ = ("alive", "around", "next")

    def __init__(self, alive):
        self.alive = alive
        self.around = ()
        self.next = False


class Config:
    limits = (3, 5, 7)

    class Defaults:
        width = 12
        height = 12


def chain(length):
    first = None
    for number in range(length):
        first = Node(number, first)
    return first


def walk(node):
    total = 0
    while node is not None:
        node.visits += 1
        if node.value % 2:
            total += node.value * node.visits
        node = node.following
    return total


def grid():
    width, height = Config.Defaults.width, Config.Defaults.height
    cells = [[Cell((x * 7 + y * 3) % Config.limits[0] == 0) for x in range(width)] for y in range(height)]
    for y in range(height):
        for x in range(width):
            cells[y][x].around = [
                cells[(y + v) % height][(x + u) % width] for v in (-1, 0, 1) for u in (-1, 0, 1) if u or v
            ]
    return [cell for row in cells for cell in row]


def step(cells):
    for cell in cells:
        count = 0
        for other in cell.around:
            if other.alive:
                count += 1
        cell.next = count == 3 or (cell.alive and count == 2)
    for cell in cells:
        cell.alive = cell.next


def main():
    nodes = chain(400)
    totals = [walk(nodes) for _ in range(10)]
    cells = grid()
    for _ in range(8):
        step(cells)
    return totals, [cell.alive for cell in cells]
