import traceback


def g(*a, **k):
    return a


def t1(x):
    a, b = x[0]


def t2(x):
    return g(*x)


def t3(x):
    return g(1, 2, **x)


def t4(x):
    return x[1][2][3]


def t5(x):
    return g(x + 1, g(2, g(3 + x)))


def t6(x):
    x.foo.bar(1)


def t7(x):
    x.append(1).foo()


def t8(x):
    return 1 < x < 3


def t9(x):
    x[0] += "s"


def t10(x):
    x[0][1] = x[5]


def t11(x):
    del x[0], x[9], x[1]


def t12(x):
    return [i.a for i in x if i > 0]


def t13(x):
    return -x @ 2


def t14(x):
    return not x.y


def t15(x):
    x.y = x.z = 1


def t16(x):
    with x[0]:
        pass


def t17(x):
    return f"{x[0]!r:>{x[1]}} {x.q}"


def t18(x):
    return (lambda: x[0]())()


def t19(x):
    @x
    def f():
        pass


def t20(x):
    class A(x):
        pass


def t21(x):
    g(1, *x, 2, k=3, **{"k": 4})


def t22(x):
    return x(1)(2)(3)


def t23(x):
    return x if x[0] else x[1]


def t24(x):
    return x[1:2:0]


def t25(x):
    assert x[0] == 5 and x[1], f"{x[0]} no"


def t26(x):
    raise KeyError(x[0]) from ValueError(x)


def main():
    for name in [n for n in globals() if n[0] == "t" and n[1:].isdigit()]:
        for x in (5, [1, [2], None], None, "s", {"k": 1}):
            try:
                globals()[name](x)
            except Exception as e:
                print(name, repr(x))
                print("".join(traceback.format_exception(type(e), e, e.__traceback__.tb_next)))
