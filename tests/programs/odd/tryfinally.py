log = []


def f(x):
    log.append(x)
    return x


def a():
    for i in range(3):
        try:
            if i == 1:
                continue
            if i == 2:
                break
            f(i)
        finally:
            f("fin%d" % i)
    else:
        f("else")
    return "a"


def b():
    try:
        return f("ret")
    finally:
        f("after")


def c():
    while True:
        try:
            return f(1) + f(2)
        finally:
            break
    return "c"


def d():
    try:
        try:
            f(1) / f(0)
        except ZeroDivisionError as e:
            log.append(repr(e))
            raise KeyError("k") from e
        finally:
            f("f1")
    except KeyError as e:
        return repr(e), repr(e.__cause__), repr(e.__context__), e.__suppress_context__


def e():
    try:
        raise ValueError(1)
    except ValueError as e:
        e.add_note("note" + str(1))
        try:
            [][0]
        except IndexError as e2:
            return e2.__context__ is e, e.__notes__


def g():
    out = []
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), ExceptionGroup("h", [ValueError(3), OSError(4)])])
    except* ValueError as eg:
        out.append(eg.exceptions[0].args[0] + 1)
        out.append(len(eg.exceptions))
    except* (TypeError, OSError) as eg:
        out.append([type(x).__name__ for x in eg.exceptions])
    else:
        out.append("else")
    finally:
        out.append("fin")
    try:
        try:
            raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
        except* ValueError:
            raise RuntimeError("new" + str(1))
    except BaseExceptionGroup as eg:
        out.append(repr(eg))
        out.append(repr(eg.exceptions[0]))
    return out


def h():
    with S() as s, S(True):
        raise f(ValueError)("x" + str(1))
    return "swallowed", s


class S:
    def __init__(self, s=False):
        self.s = s

    def __enter__(self):
        return f("enter") + "ed"

    def __exit__(self, t, v, tb):
        log.append((t and t.__name__, str(v), tb and tb.tb_lineno))
        return self.s


def i():
    try:
        pass
    except f(ValueError):
        pass
    else:
        f("else2")
    try:
        raise ValueError
    except (f(KeyError), f(ValueError)):
        f("caught")
    e = 5
    try:
        raise ValueError
    except ValueError as e:
        pass
    try:
        e
    except UnboundLocalError as x:
        return str(x)


def j():
    for x in [1, 2]:
        try:
            pass
        finally:
            if x == 1:
                continue
            return f("j" + str(x))


def k():
    try:
        raise KeyError(1)
    except KeyError:
        try:
            raise ValueError(2)
        except ValueError:
            pass
        raise


def main():
    r = [a(), b(), c(), d(), e(), g(), h(), i(), j()]
    try:
        k()
    except KeyError as ex:
        r.append((repr(ex), repr(ex.__context__)))
    return r, log
