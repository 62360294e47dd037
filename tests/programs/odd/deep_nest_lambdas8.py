def g(x):
    return x + 1


def outer():
    def a():
        def b():
            def c():
                def d():
                    def e():
                        def h():
                            def i():
                                return g(1) + g(2)

                            return i() + g(1) * 2

                        return h() + g(1)

                    return e() + g(1)

                return d() + g(1)

            return c() + g(1)

        return b() + g(1)

    return a() + g(1)


def main():
    return outer()
