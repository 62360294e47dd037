"""The main work of a package from PyPI: werkzeug's rules build and match URLs."""

from werkzeug.routing import Map, Rule

PACKAGES = "werkzeug"


def url_map():
    rules = [Rule("/", endpoint="index"), Rule("/about", endpoint="about")]
    for name in ("users", "posts", "tags", "files"):
        rules.append(Rule(f"/{name}/", endpoint=f"{name}.list"))
        rules.append(Rule(f"/{name}/<int:id>", endpoint=f"{name}.show"))
        rules.append(Rule(f"/{name}/<int:id>/edit/<string:part>", endpoint=f"{name}.edit"))
        rules.append(Rule(f"/{name}/<path:rest>", endpoint=f"{name}.rest"))
    return Map(rules)


MAP = url_map()


def matched(adapter, paths):
    return [adapter.match(path) for path in paths]


def built(adapter, count):
    return [adapter.build("posts.edit", {"id": number, "part": f"p{number}"}) for number in range(count)]


def main():
    adapter = MAP.bind("example.org", "/")
    paths = [f"/{name}/{number}" for name in ("users", "posts", "tags") for number in range(50)]
    paths += [f"/files/a/b/{number}" for number in range(50)]
    return len(matched(adapter, paths)), len(built(adapter, 100))
