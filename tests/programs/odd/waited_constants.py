"""Generators and coroutines that wait for constants, displays, and what cannot be waited for."""


class Waited:
    def __await__(self):
        yield from "xy"
        return 3


def of_constants():
    yield from "xy"
    yield from ()
    found = yield from ("a", "b")
    yield found
    return (yield from "z")


def of_displays():
    yield from [1, 2]
    yield from {}
    yield from f""
    yield from (x for x in "ab")


def of_tests(x):
    yield from (x if x else "ab")
    yield from (y := "cd")
    yield y
    yield from x and "z"
    yield from not x


def of_nothing():
    x = yield
    yield x
    yield None
    yield ...
    yield b""


async def waits():
    return await Waited()


async def waits_for_a_number():
    return await 3


def outcome(make, *values):
    found = []
    try:
        running = make(*values)
        while True:
            found.append(running.send(None))
    except StopIteration as end:
        return found, end.value
    except TypeError as error:
        return found, str(error)


def main():
    return [
        outcome(of_constants),
        outcome(of_displays),
        outcome(of_tests, "qq"),
        outcome(of_tests, ""),
        outcome(of_nothing),
        outcome(waits),
        outcome(waits_for_a_number),
    ]
