def main():
    d = {}
    d["f"] = d["g"] = lambda k: d.__setitem__(k, k)
    d["f"]("z")
    d["a"] = d["b"] = (lambda: [d.update(q=1), d["z"]][1])()

    def inner():
        d["n1"] = d["n2"] = inner2()
        return d["n1"]

    def inner2():
        d["m1"] = d["m2"] = 5
        return d["m1"] + 1

    inner()
    return sorted(k for k in d), d["n2"], d["m2"]
