import contextlib, collections.abc


@contextlib.contextmanager
def nested(n):
    with contextlib.ExitStack() as s:
        if n:
            s.enter_context(nested(n - 1))
        yield n + 1


class It:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration("done")
        self.n -= 1
        return self.n

    def __length_hint__(self):
        return self.n + 100


class Seq:
    def __getitem__(self, i):
        if i >= 3:
            raise IndexError(i)
        return i * 2

    def __len__(self):
        return 3


class Agg(collections.abc.MutableSequence):
    def __init__(self):
        self.l = []

    def __getitem__(self, i):
        return self.l[i]

    def __setitem__(self, i, v):
        self.l[i] = v

    def __delitem__(self, i):
        del self.l[i]

    def __len__(self):
        return len(self.l)

    def insert(self, i, v):
        self.l.insert(i, v)


def delegate():
    try:
        r = yield from It(2)
    finally:
        pass
    return r


def main():
    out = []
    with nested(3) as a, nested(0) as (b):
        out.append((a, b))
    with nested(1) as c, nested(2) as d:
        out.append((c, d))
    g = delegate()
    while True:
        try:
            out.append(next(g))
        except StopIteration as e:
            out.append(e.value)
            break
    s = Seq()
    out += [list(s), 4 in s, list(reversed(s)), [*s], max(s), dict(zip(s, s)), iter(s).__length_hint__()]
    ag = Agg()
    ag += [1, 2]
    ag.append(3)
    ag.extend("ab")
    ag[0] += 10
    ag[1:2] = [7, 8]
    del ag[-1]
    ag.reverse()
    out += [ag.l, ag.pop(), 7 in ag, ag.index(7), ag.count(8)]
    it = iter(lambda l=[3]: l.append(l[-1] - 1) or l[-1], 0)
    out.append(list(it))
    i = It(3)
    out.append([next(i), next(i, 9), *i, next(i, "end")])
    import itertools

    out += [
        list(itertools.takewhile(lambda x: x < 3, range(9))),
        list(map(None.__class__, [])),
        list(filter(None, [0, 1])),
        list(map(lambda *a: sum(a), [1, 2], [3, 4])),
        [list(g) for k, g in itertools.groupby([1, 1, 2], key=lambda x: x % 2)],
        any(x > 1 for x in [1, 2]),
        sum((x for x in [1, 2]), 10),
        sorted({3: 1, 2: 2}.items(), key=lambda kv: -kv[1]),
        "-".join(str(x + 1) for x in range(3)),
        min((3, 1), (2, 2), key=lambda t: t[1]),
    ]
    return out
