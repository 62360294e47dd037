"""Programs that hand an untrusted text from `given` to `taken`, each by another way."""

import asyncio
import base64
import codecs
import collections
import contextlib
import contextvars
import copy
import csv
import dataclasses
import difflib
import functools
import io
import itertools
import json
import os
import pathlib
import pprint
import queue
import re
import shlex
import string
import textwrap
import threading
import traceback
import urllib.parse
from concurrent.futures import ThreadPoolExecutor, as_completed

FLOWS = {}


def given():
    return "abc-def"


def taken(value):
    return None


def flow(function):
    FLOWS[function.__name__.replace("_", " ").strip()] = function
    return function


class Manager:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *exception):
        return None


@flow
def with_as():
    with Manager(given()) as text:
        taken(text)


@contextlib.contextmanager
def managing(text):
    yield text


@flow
def contextmanager():
    with managing(given()) as text:
        taken(text)


@flow
def nullcontext():
    with contextlib.nullcontext(given()) as text:
        taken(text)


@flow
def exit_stack():
    with contextlib.ExitStack() as stack:
        taken(stack.enter_context(managing(given())))


@flow
def except_as():
    try:
        raise ValueError(given())
    except ValueError as error:
        taken(error.args[0])


@flow
def text_of_an_exception():
    try:
        raise ValueError(given())
    except ValueError as error:
        taken(str(error))


@flow
def formatted_exception():
    try:
        raise ValueError("bad: " + given())
    except ValueError as error:
        taken(f"{error}")


@flow
def default_argument():
    def inner(text=given()):  # noqa: B008
        taken(text)

    inner()


@flow
def default_of_a_lambda():
    (lambda text=given(): taken(text))()  # noqa: B008


@flow
def partial():
    functools.partial(taken, given())()


@flow
def partial_keyword():
    functools.partial(taken, value=given())()


@flow
def match():
    match given():
        case str() as text:
            taken(text)


@flow
def match_sequence():
    match [given(), 1]:
        case [text, _]:
            taken(text)


@flow
def match_mapping():
    match {"a": given()}:
        case {"a": text}:
            taken(text)


@flow
def sub_with_a_function():
    taken(re.sub("x", lambda found: given(), "axb"))


@flow
def compiled_sub_with_a_function():
    text = given()
    taken(re.compile("x").sub(lambda found: text, "axb"))


@flow
def match_object_of_sub():
    re.sub("b", lambda found: taken(found[0]) or "", given())


@flow
def sub_of_the_text():
    taken(re.sub("b", lambda found: "x", given()))


@flow
def search():
    taken(re.search("b.*", given()).group())


@flow
def finditer():
    for found in re.finditer("[a-z]+", given()):
        taken(found[0])


@flow
def print_into_a_buffer():
    file = io.StringIO()
    print("text", given(), file=file)
    taken(file.getvalue())


@flow
def redirected_print():
    with contextlib.redirect_stdout(io.StringIO()) as file:
        print(given())
    taken(file.getvalue())


@flow
def written_lines():
    file = io.StringIO()
    file.writelines([given(), "b"])
    file.seek(0)
    taken(file.readline())


@flow
def json_into_a_buffer():
    file = io.StringIO()
    json.dump({"a": given()}, file)
    taken(file.getvalue())


@flow
def csv_into_a_buffer():
    file = io.StringIO()
    csv.writer(file).writerow([given()])
    taken(file.getvalue())


@flow
def buffer_with_a_text():
    for line in io.StringIO(given()):
        taken(line)


@flow
def csv_of_dicts_into_a_buffer():
    file = io.StringIO()
    writer = csv.DictWriter(file, ["a"])
    writer.writeheader()
    writer.writerow({"a": given()})
    taken(file.getvalue())


@flow
def csv_of_several_dicts_into_a_buffer():
    file = io.StringIO()
    csv.DictWriter(file, ["a"]).writerows([{"a": given()}])
    taken(file.getvalue())


@flow
def csv_of_a_buffer():
    for row in csv.reader(io.StringIO(given())):
        taken(row[0])


@flow
def put_into_a_queue():
    items = queue.Queue()
    items.put(given())
    taken(items.get())


@flow
def put_into_a_simple_queue():
    items = queue.SimpleQueue()
    items.put({"text": given()})
    taken(items.get()["text"])


@flow
def put_by_priority():
    items = queue.PriorityQueue()
    items.put((1, given()))
    taken(items.get()[1])


@flow
def queue_between_threads():
    items = queue.Queue()
    thread = threading.Thread(target=lambda: taken(items.get()))
    thread.start()
    items.put(given())
    thread.join()


@flow
def argument_of_a_thread():
    thread = threading.Thread(target=taken, args=(given(),))
    thread.start()
    thread.join()


@flow
def keyword_of_a_thread():
    thread = threading.Thread(target=lambda text: taken(text + "x"), kwargs={"text": given()})
    thread.start()
    thread.join()


@flow
def closure_in_a_thread():
    text = given()
    thread = threading.Thread(target=lambda: taken(text))
    thread.start()
    thread.join()


@flow
def argument_of_a_job():
    with ThreadPoolExecutor(1) as executor:
        executor.submit(taken, given()).result()


@flow
def result_of_a_job():
    with ThreadPoolExecutor(1) as executor:
        taken(executor.submit(given).result())


@flow
def completed_job():
    with ThreadPoolExecutor(1) as executor:
        for future in as_completed([executor.submit(given)]):
            taken(future.result())


@flow
def mapped_in_an_executor():
    with ThreadPoolExecutor(1) as executor:
        list(executor.map(taken, [given()]))


@flow
def context_variable():
    variable = contextvars.ContextVar("variable")
    variable.set(given())
    taken(variable.get())


async def identity(text):
    return text


@flow
def awaited():
    async def main():
        taken(await identity(given()))

    asyncio.run(main())


@flow
def gathered():
    async def main():
        taken((await asyncio.gather(identity(given())))[0])

    asyncio.run(main())


@flow
def asyncio_queue():
    async def main():
        items = asyncio.Queue()
        await items.put(given())
        taken(await items.get())

    asyncio.run(main())


@flow
def asynchronous_with():
    @contextlib.asynccontextmanager
    async def managing(text):
        yield text

    async def main():
        async with managing(given()) as text:
            taken(text)

    asyncio.run(main())


@flow
def yielded_from():
    def inner():
        yield given()

    def outer():
        yield from inner()

    for text in outer():
        taken(text)


@flow
def value_of_yield_from():
    def inner():
        yield 1
        return given()

    def outer():
        text = yield from inner()
        taken(text)

    list(outer())


@flow
def sent():
    def receiving():
        while True:
            taken((yield))

    generator = receiving()
    next(generator)
    generator.send(given())


@flow
def class_attribute():
    class Made:
        text = given()

    taken(Made.text)


@dataclasses.dataclass
class Record:
    text: str


@flow
def asdict():
    taken(dataclasses.asdict(Record(given()))["text"])


@flow
def variables():
    taken(vars(Record(given()))["text"])


@flow
def deque():
    taken(collections.deque([given()]).popleft())


@flow
def ordered_dict():
    taken(collections.OrderedDict(a=given())["a"])


@flow
def chain_map():
    taken(collections.ChainMap({"a": given()})["a"])


@flow
def counter():
    taken(next(iter(collections.Counter([given()]))))


@flow
def key_of_a_dict():
    for text in {given(): 1}:
        taken(text)


@flow
def keys_of_a_comprehension():
    for text, _ in {text: 1 for text in [given()]}.items():
        taken(text)


@flow
def stored_key():
    found = {}
    found[given()] = 1
    taken(next(iter(found)))


@flow
def product():
    taken(next(itertools.product([given()], [1]))[0])


@flow
def cached():
    taken(functools.lru_cache(lambda text: text)(given()))


@flow
def copied():
    taken(copy.deepcopy([given()])[0])


@flow
def template():
    taken(string.Template("$a").substitute(a=given()))


@flow
def wrapped_text():
    taken(textwrap.fill(given(), 3))


@flow
def formatted_from_an_object():
    taken("{0.text}".format(Record(given())))


@flow
def formatted_from_an_item():
    taken("{a[text]}".format(a={"text": given()}))


@flow
def percent_with_a_mapping():
    taken("%(a)s" % {"a": given()})


@flow
def translated():
    taken(given().translate({97: "b"}))


@flow
def partitioned():
    taken(given().partition("-")[2])


@flow
def mapped_to_text():
    taken(",".join(map(str, [given(), 1])))


@flow
def evaluated():
    namespace = {"text": given()}
    taken(eval("text + 'x'", namespace))


@flow
def encoded():
    taken(bytearray(given().encode()).decode())


@flow
def iterated():
    for letter in given():
        taken(letter)


# ---- text of objects, exceptions and files


@dataclasses.dataclass
class Named:
    name: object


class Shown:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return "<" + self.text + ">"

    def __format__(self, specification):
        return self.text


def _from_exception(raising, reading):
    def program():
        try:
            raising(given())
        except Exception as error:
            taken(reading(error))

    return program


def _raise(text):
    raise ValueError(text)


def _text_of(function):
    return lambda: taken(function(given()))


def _traceback_in_a_file(error):
    file = io.StringIO()
    traceback.print_exc(file=file)
    return file.getvalue()


def _written(text):
    memory = io.BytesIO()
    file = io.TextIOWrapper(memory)
    file.write(text)
    file.flush()
    return memory.getvalue()


def _as_lists(made):
    return {"names": [[made.name]]}


class Encoder(json.JSONEncoder):
    def default(self, o):
        return {"name": o.name}


def _in_a_loop(text):
    async def program():
        return text

    return asyncio.run(program())


FLOWS.update(
    {
        "f-string of a list": _text_of(lambda text: f"{[text]}"),
        "f-string of a dataclass": _text_of(lambda text: f"{Named(text)}"),
        "text of a list of objects": _text_of(lambda text: str([Shown(text)])),
        "text of a dataclass": _text_of(lambda text: repr([Named(text)])),
        "% of an object": _text_of(lambda text: "%s" % [Shown(text)]),
        "format of an object": _text_of(lambda text: "{}".format(Shown(text))),
        "format of a nested object": _text_of(lambda text: "{!r}".format([Shown(text)])),
        "pformat": _text_of(lambda text: pprint.pformat({"a": [text]})),
        "Template": _text_of(lambda text: string.Template("$a").substitute(a=text)),
        "json with a default": _text_of(lambda text: json.dumps([Named(text)], default=lambda made: made.name)),
        "json with a dict as default": _text_of(lambda text: json.dumps(Named(text), default=lambda made: vars(made))),
        "json with lists in a default": _text_of(lambda text: json.dumps(Named(text), default=_as_lists)),
        "json of an encoder": _text_of(lambda text: json.dumps([Named(text)], cls=Encoder)),
        "urlencode": _text_of(lambda text: urllib.parse.urlencode({"a": [text]}, doseq=True)),
        "urljoin": _text_of(lambda text: urllib.parse.urljoin("http://a/", text)),
        "shlex.join": _text_of(lambda text: shlex.join(["a", text])),
        "joined path": _text_of(lambda text: os.path.join("/a", text)),
        "path": _text_of(lambda text: f"{pathlib.Path('/a') / text}"),
        "base64": _text_of(lambda text: base64.b64decode(base64.b64encode(text.encode()))),
        "codecs": _text_of(lambda text: codecs.encode(text, "rot13")),
        "ndiff": _text_of(lambda text: next(difflib.ndiff([text], ["b"]))),
        "TextIOWrapper": _text_of(_written),
        "coroutine in a loop": _text_of(_in_a_loop),
        "format_exc": _from_exception(_raise, lambda error: traceback.format_exc()),
        "print_exc": _from_exception(_raise, _traceback_in_a_file),
        "format_exception": _from_exception(_raise, lambda error: "".join(traceback.format_exception(error))),
        "message of int": _from_exception(int, str),
        "message of a missing key": _from_exception(lambda text: {}[text], lambda error: error.args[0]),
        "message of a missing attribute": _from_exception(lambda text: getattr(1, text), str),
    }
)
