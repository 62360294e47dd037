log = []


class D(dict):
    def __setitem__(self, k, v):
        log.append((k, v))
        super().__setitem__(k, v)


def idx(n):
    log.append(n)
    return n


def main():
    a, b = D(), D()
    a[idx(1)] = b[idx(2)] = x = idx(3)
    a[idx(4)], b[idx(5)] = c = [idx(6), idx(7)]
    (a[1], *b[2]), d = y = (1, 2, 3), 4
    [a["x"], a["y"]] = b["z"] = "pq"
    a[idx(8)]: int = idx(9)
    for a[idx(10)] in range(2):
        pass
    for i, a[i] in enumerate("ab"):
        pass
    with open(__file__) as a["f"]:
        pass
    a.pop("f")
    l = [0] * 6
    l[1:3] = l[4:5] = [7, 8]
    del l[0], l[1:2], (l[0], l[0])
    return x, c, y, d, a, b, log[: -0 or None] and [e for e in log if not (isinstance(e, tuple) and e[0] == "f")], l
