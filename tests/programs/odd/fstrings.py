def g(x):
    return x + 1


class F:
    def __format__(self, s):
        return f"<{s}>"

    def __repr__(self):
        return "F" + "r" * 2


def main():
    a, w, p = 3.14159, 10, 2
    return (
        f"{a:{w}.{p}f}|{g(1)!r:>{g(3)}}|{F():x{g(1)}y}|{F()!s}|{a + 1 = }|{g(g(1))=}|{ {1: 2}[1] }|{(lambda q: q * 2)(4)}|{[i + 1 for i in range(3)]}|{'nested ' + f'{g(2)}' + 'x'}|{{}}|{a!a}|{'%d' % w}|{w:,}|{None}|{(y := g(5))}|{y}",
        f"",
        f"{g(1)}{g(2)}lit{a > 3}",
        "{0.real} {x[0]}".format(1, x=[g(1)]),
        "%s %r %%" % (g(1), F()),
        f"""{g(1) + g(2)}""",
    )
