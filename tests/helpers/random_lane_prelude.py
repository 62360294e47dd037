"""What random programs call: functions and objects that decide, raise, recurse, and change their arguments."""


class Box:
    scale = 2

    def __init__(self, value):
        self.value = value
        self.count = 0
        self.items = [value, 0.5]

    def add(self, amount):
        if amount > 1:
            self.count += 1
        self.value = self.value + amount
        return self.value

    @property
    def half(self):
        return self.value / 2

    @half.setter
    def half(self, value):
        if value != value:
            self.count -= 1
            return
        self.value = value * 2


class Failure(Exception):
    pass


def helper(x, y):
    if x > y:
        return x - y
    elif x == 0:
        raise ZeroDivisionError("helper")
    for i in range(3):
        if x > i:
            continue
        y = y + i
        if y > 4:
            break
    else:
        return y
    return x + y


def recursive(n, x):
    if n <= 0 or x > 50:
        return x
    return recursive(n - 1, x + n) + 1


def fill(target, x):
    target[0] = x
    if x > 0:
        target[1] += x
    else:
        target[2] = -x
    return len(target)


def pair(x):
    if x < 0:
        return (x, None)
    return (0, x)
