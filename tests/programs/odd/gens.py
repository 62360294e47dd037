import types

log = []


def inner():
    try:
        a = yield 1
        log.append(("a", a))
        try:
            b = yield a + 1
        except ValueError as e:
            b = str(e) + "!"
        log.append(("b", b))
        return b * 2
    finally:
        log.append("inner fin")


def outer():
    r = yield from inner()
    log.append(("r", r))
    s = yield from [r, r + "x"]
    t = yield (yield 5)
    x = [(yield "in list"), (yield "second")]
    y = (yield "cmp1") < (yield "cmp2") < (yield "cmp3")
    d = {(yield "k"): (yield "v")}
    d[(yield "si")] = yield "sv"
    d[(yield "ai")] += yield "av"
    z = max((yield "m1"), *(yield "m2"), key=(yield "m3"))
    f = f"{(yield 'f')!r:>{(yield 'w')}}"
    l = lambda: (yield "lam")
    log.append(list(l()))
    return s, t, x, y, d, z, f


def main():
    g = outer()
    out = [next(g), g.send(10)]
    out.append(g.throw(ValueError("ve")))
    out += [next(g), next(g)]
    vals = iter([1, 2, "l1", "l2", 1, 5, 3, "kk", "vv", "sv0", "si", "kk", 4, [9, 3], abs, "ff", 8])
    while True:
        try:
            out.append(g.send(next(vals, None)))
        except StopIteration as e:
            out.append(e.value)
            break
    g2 = outer()
    next(g2)
    g2.close()
    g3 = outer()
    next(g3)
    try:
        g3.throw(KeyError("zz"))
    except KeyError as e:
        out.append(repr(e))
    g4 = (x + y for x in range(3) for y in range(x) if x % 2 == 0)
    out.append(list(g4))

    @types.coroutine
    def tc():
        return (yield "tc") + 1

    async def co():
        return await tc()

    c = co()
    out.append(c.send(None))
    try:
        c.send(4)
    except StopIteration as e:
        out.append(e.value)

    def bad():
        raise StopIteration(3)
        yield

    try:
        next(bad())
    except RuntimeError as e:
        out.append((str(e), repr(e.__cause__)))
    g5 = outer()
    out.append((g5.gi_frame.f_lineno, g5.gi_code.co_name, g5.gi_running, g5.gi_suspended, g5.gi_yieldfrom))
    next(g5)
    out.append(g5.gi_yieldfrom.gi_code.co_name)
    g5.close()
    return out, log
