def f(*a):
    return list(a)


def main():
    a = [i for i in (lambda: f(1, 2))()]
    b = {i: j for i in map(lambda x: f(x, x + 1)[0], f(1, 2)) for j in sorted(f(3, 1), key=lambda z: -z)}
    c = list(i for i in (lambda q: q[0] + q[1])([[1], [2]]))

    def g():
        return [k for k in (lambda: [h + 1 for h in f(1, 2)])()]

    d = [[y for y in (lambda: f(x, x))()] for x in (lambda: f(4, 5))()]
    return a, b, c, g(), d
