"""Operator overloading, properties, inheritance and `isinstance`: vectors, and shapes that rays meet."""

import math


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __eq__(self, other):
        return isinstance(other, Vector) and self.x == other.x and self.y == other.y

    def __hash__(self):
        return hash((self.x, self.y))

    @property
    def length(self):
        return math.sqrt(self @ self)

    @classmethod
    def at(cls, angle):
        return cls(math.cos(angle), math.sin(angle))


class Shape:
    def __init__(self, place):
        self.place = place

    def distance(self, origin, direction):
        raise NotImplementedError


class Circle(Shape):
    def __init__(self, place, radius):
        super().__init__(place)
        self.radius = radius

    def distance(self, origin, direction):
        there = self.place - origin
        along = there @ direction
        rest = self.radius**2 - (there @ there - along**2)
        return along - math.sqrt(rest) if rest >= 0 and along > 0 else None


class Wall(Shape):
    def __init__(self, place, normal):
        super().__init__(place)
        self.normal = normal

    def distance(self, origin, direction):
        slope = self.normal @ direction
        if abs(slope) < 1e-9:
            return None
        found = (self.normal @ (self.place - origin)) / slope
        return found if found > 1e-9 else None


class Scene:
    def __init__(self, shapes):
        self.shapes = shapes

    def nearest(self, origin, direction):
        best = None
        for shape in self.shapes:
            distance = shape.distance(origin, direction)
            if distance is not None and (best is None or distance < best[0]):
                best = distance, shape
        return best


def main():
    circles = [Circle(Vector.at(number) * (4 + number % 3), 0.5 + number % 4 * 0.25) for number in range(8)]
    scene = Scene([*circles, *(Wall(Vector.at(angle) * -10, Vector.at(angle)) for angle in (0, 1, 2, 3, 4))])
    total, met = 0.0, {}
    origin = Vector(0.0, 0.0)
    for step in range(120):
        found = scene.nearest(origin, Vector.at(step / 19))
        if found is not None:
            distance, shape = found
            met[type(shape).__name__] = met.get(type(shape).__name__, 0) + 1
            total += distance
            origin = origin + (shape.place - origin) * 0.01
    return round(total, 9), met, round(origin.length, 9), len({Vector(i % 9, i % 5) for i in range(300)})
