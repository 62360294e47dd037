def f(x, y=(q := 5)):
    return x + y


g = lambda x: (t := x + 1) * t
h = lambda a, b=lambda c: (c := c + 1): (b(a), (a := a * 2), a)


def main():
    return f(1), q, g(3), h(4), (lambda: (m := 5) + m)(), [(lambda: (u := i) + u)() for i in range(3)]
