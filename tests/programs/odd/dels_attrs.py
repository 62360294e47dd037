log = []


class O:
    def __getattribute__(self, n):
        log.append(("ga", n))
        return super().__getattribute__(n)

    def __setattr__(self, n, v):
        log.append(("sa", n))
        super().__setattr__(n, v)

    def __delattr__(self, n):
        log.append(("da", n))
        super().__delattr__(n)

    def m(self):
        return 1

    def __getitem__(self, k):
        return log.append(("gi", k))

    def __setitem__(self, k, v):
        log.append(("si", k, v))

    def __delitem__(self, k):
        log.append(("di", k))


G1 = 1


def main():
    o = O()
    o.a = o.b = 1
    o.a += 1
    del o.a
    o.m()
    o.m()
    del o[0], o[1:2], o[1, 2:3], o[...], (o.b)
    o[1:2, ::3] = 5
    x = 1
    del x
    try:
        x
    except UnboundLocalError as e:
        log.append(str(e))
    global G1
    G1 = 2
    del G1
    try:
        G1
    except NameError as e:
        log.append(str(e))
    G1 = 3

    def inner():
        nonlocal o
        p = o
        del o
        return p

    q = inner()
    try:
        o
    except NameError as e:
        log.append(str(e))

    def clo():
        try:
            return undefined_free
        except NameError as e:
            return str(e)

    r = clo()
    if 0:
        undefined_free = 1
    for i in range(3):
        del i
    l = [1, 2, 3]
    del l[:], (l,)
    try:
        l
    except UnboundLocalError as e:
        log.append((str(e), e.name if hasattr(e, "name") else None))
    try:
        q.zz
    except AttributeError as e:
        log.append((e.name, e.obj is q, str(e)))
    try:
        undefined_glob
    except NameError as e:
        log.append((e.name, str(e)))
    return r, log
