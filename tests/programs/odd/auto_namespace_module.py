class Auto(dict):
    def __init__(self):
        super().__init__()
        self.n = 0

    def __missing__(self, k):
        if k.startswith("__"):
            raise KeyError(k)
        self.n += 1
        self[k] = self.n
        return self.n


class AutoMeta(type):
    @classmethod
    def __prepare__(m, name, bases):
        return Auto()

    def __new__(m, name, bases, ns):
        c = super().__new__(m, name, bases, dict(ns))
        c.members = [k for k in ns if not k.startswith("__")]
        return c


class Colors(metaclass=AutoMeta):
    RED
    GREEN
    X = RED + GREEN


def main():
    return Colors.members
