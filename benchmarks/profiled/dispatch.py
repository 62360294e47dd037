"""Objects of several classes, whose methods call one another and `super`."""

import math


class Shape:
    def __init__(self, name):
        self.name = name
        self.scale = 1.0

    def area(self):
        raise NotImplementedError

    def scaled(self, factor):
        self.scale *= factor
        return self

    def label(self):
        return f"{self.name}: {self.area() * self.scale:.2f}"


class Circle(Shape):
    def __init__(self, radius):
        super().__init__("circle")
        self.radius = radius

    def area(self):
        return math.pi * self.radius**2


class Rectangle(Shape):
    def __init__(self, width, height, name="rectangle"):
        super().__init__(name)
        self.width = width
        self.height = height

    def area(self):
        return self.width * self.height


class Square(Rectangle):
    def __init__(self, side):
        super().__init__(side, side, "square")


class Polygon(Shape):
    def __init__(self, points):
        super().__init__("polygon")
        self.points = points

    def area(self):
        total = 0.0
        for (x0, y0), (x1, y1) in zip(self.points, self.points[1:] + self.points[:1]):
            total += x0 * y1 - x1 * y0
        return abs(total) / 2


def make(number):
    kind = number % 4
    if kind == 0:
        return Circle(number % 10)
    if kind == 1:
        return Rectangle(number % 7, number % 5)
    if kind == 2:
        return Square(number % 9)
    return Polygon([(0, 0), (number % 6, 0), (number % 6, 3), (2, number % 4), (0, 5)])


def main():
    shapes = [make(number).scaled(1.5) for number in range(1200)]
    largest = max(shapes, key=lambda shape: shape.area())
    return largest.label(), sum(len(shape.label()) for shape in shapes)
