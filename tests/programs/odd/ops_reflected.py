log = []


def mk(name, ret=NotImplemented):
    ops = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod".split()
    ns = {}
    for o in ops:
        for p in ("", "r", "i"):
            if p == "i" and o == "divmod":
                continue
            n = f"__{p}{o}__"

            def m(self, *a, n=n):
                log.append((name, n, len(a)))
                return ret

            ns[n] = m
    for o in "lt le gt ge eq ne".split():
        n = f"__{o}__"

        def m(self, b, n=n):
            log.append((name, n))
            return ret

        ns[n] = m
    ns["__hash__"] = None
    return type(name, (), ns)


A, B = mk("A"), mk("B", "b")


class BA(A):
    def __radd__(self, o):
        return "BA radd"

    def __lt__(self, o):
        return NotImplemented

    def __gt__(self, o):
        return "BA gt"


def main():
    a, b, ba = A(), B(), BA()
    r = []
    r += [
        a + b,
        a - b,
        a * b,
        a / b,
        a // b,
        a % b,
        a**b,
        a @ b,
        a & b,
        a | b,
        a ^ b,
        a << b,
        a >> b,
        divmod(a, b),
        pow(a, b),
        a < b,
        a <= b,
        a > b,
        a >= b,
        a == b,
        a != b,
        a + ba,
        a < ba,
        1 + b,
        b + 1,
        "%s" % 1,
        [1] + b if 0 else 0,
    ]
    for e in (
        "a + a",
        "a < a",
        "a ** a",
        "-a",
        "a[0]",
        "a @ 1",
        "1 + a",
        "+a",
        "~a",
        "pow(a, a, a)",
        "a >> a",
        "del a[1]",
        "1 in a",
    ):
        try:
            exec(e, {"a": a})
        except TypeError as x:
            r.append(str(x))
    for f in (
        lambda: a + a,
        lambda: a < a,
        lambda: a**a,
        lambda: -a,
        lambda: a[0],
        lambda: 1 + a,
        lambda: ~a,
        lambda: 1 in a,
        lambda: a @ 1,
        lambda: a[1:2],
        lambda: not a,
        lambda: a is a,
        lambda: a is not b,
    ):
        try:
            r.append(f())
        except TypeError as x:
            r.append(str(x))

    def aug(op):
        x = a
        if op == 0:
            x += a
        elif op == 1:
            x -= 5
        elif op == 2:
            x **= a
        elif op == 3:
            x @= a
        elif op == 4:
            x >>= "s"
        elif op == 5:
            x //= None
        elif op == 6:
            x += b
        return x

    for i in range(7):
        try:
            r.append(aug(i))
        except TypeError as x:
            r.append(str(x))
    try:
        print >> 5
    except TypeError as x:
        r.append(str(x))
    r.append(
        (
            a == a,
            a != a,
            5 == 5.0,
            [1] < [2],
            (1, 2) > (1,),
            "a" in "abc",
            3 not in [1],
            {1} <= {1, 2},
            True + True,
            -True,
            ~0,
            +0.0,
            -0.0,
            not 0,
            2**-1,
            -(2**2),
            7 // -2,
            -7 % 3,
            1e308 * 10,
            0.1 + 0.2,
        )
    )
    return r, log
