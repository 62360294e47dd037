def f(x):
    return x + 1


def main():
    r = [y := f(x), y**2] if (x := 3) else 0
    total = 0
    part = [total := total + v for v in range(5)]
    any_ = any((hit := n) % 3 == 2 for n in range(9))
    z = [(last := f(i)) for i in range(3) if (k := f(i)) > 1]
    w = {(a := f(i)): (b := a * 2) for i in range(3)}
    return r, y, part, total, any_, hit, z, last, k, w, a, b
