"""What an external call does to the objects that it got is done in a replay, too."""

import os
import textwrap

import pytest

from cassette_import import overdub
from cassette_import.contexts import Record, Replay
from cassette_import.contexts.recording.recording_file import ReplayMismatch

IMPORTS = """\
import array, collections, configparser, ctypes, fileinput, gzip, http.cookiejar, io, linecache, mmap, netrc, os
import random, socket, tarfile, tempfile, zipfile
import xml.dom.minidom
import xml.etree.ElementTree as tree
"""
FILE = "with open('data.txt', 'wb') as file: file.write(os.urandom(12))\n"
BUFFERS = {
    "bytearray": "target = bytearray(7)",
    "array": "target = array.array('h', [0] * 4)",
    "ctypes": "target = ctypes.create_string_buffer(5)",
    "part of a bytearray": "whole = bytearray(9); target = memoryview(whole)[2:5]",
}
READS = {
    "readinto": "with open('data.txt', 'rb') as file: count = file.readinto(target)",
    "readv": "fd = os.open('data.txt', os.O_RDONLY); count = os.readv(fd, [target]); os.close(fd)",
    "preadv": "fd = os.open('data.txt', os.O_RDONLY); count = os.preadv(fd, (target,), 1); os.close(fd)",
    "recv_into": "a, b = socket.socketpair(); a.sendall(os.urandom(3)); count = b.recv_into(target)",
}
SHUFFLED = {
    "list": "list(range(9))",
    "list of objects": "[object() for _ in range(9)]",
    "deque": "collections.deque(range(9))",
    "bytearray": "bytearray(range(9))",
    "array": "array.array('i', range(9))",
    "list of a user": "collections.UserList(range(9))",
}
PROGRAMS = {
    **{
        f"{read} of {name}": f"{FILE}{make}\n{code}\nresult = count, bytes(target)"
        for name, make in BUFFERS.items()
        for read, code in READS.items()
    },
    "a part through a view": (
        f"{FILE}result = bytearray(9)\nwith open('data.txt', 'rb') as file: file.readinto(memoryview(result)[4:])"
    ),
    "a list of buffers": (
        f"{FILE}first, second = bytearray(2), bytearray(3)\nfd = os.open('data.txt', os.O_RDONLY)\n"
        "os.readv(fd, [first, second])\nos.close(fd)\nresult = first, second"
    ),
    **{
        f"{call} of {name}": f"target = {make}\nbefore = list(target)\n{call}(target)\n"
        "result = type(target).__name__, [before.index(item) for item in target]"
        for name, make in SHUFFLED.items()
        for call in ("random.shuffle", "random.Random().shuffle")
    },
    "ConfigParser": (
        "with open('it.ini', 'w') as file: file.write('[s]\\na = 1\\nb = %(a)s2')\n"
        "parser = configparser.ConfigParser()\n"
        "result = parser.read(['it.ini', 'none.ini']), parser['s']['b'], parser.sections()"
    ),
    "ElementTree": (
        "with open('it.xml', 'w') as file: file.write('<a><b>1</b></a>')\n"
        "result = tree.parse('it.xml').getroot()[0].text, tree.ElementTree().parse('it.xml').tag"
    ),
    "minidom": (
        "with open('it.xml', 'w') as file: file.write('<a><b>1</b></a>')\n"
        "result = xml.dom.minidom.parse('it.xml').toxml()"
    ),
    "netrc": (
        "with open('it', 'w') as file: file.write('machine h login l password p')\n"
        "result = netrc.netrc('it').authenticators('h')"
    ),
    "cookies": (
        "jar = http.cookiejar.MozillaCookieJar('it.txt')\njar.save()\njar.load()\n"
        "result = open('it.txt').read(), len(jar)"
    ),
    "linecache": f"{FILE}with open('it', 'w') as file: file.write('a\\nb')\nresult = linecache.getlines('it')",
    "fileinput": (
        "with open('it', 'w') as file: file.write('a\\nb')\n"
        "result = [(fileinput.lineno(), line) for line in fileinput.input('it')]"
    ),
    "an archive in memory": (
        "buffer = io.BytesIO()\nwith zipfile.ZipFile(buffer, 'w') as archive:\n"
        "    archive.writestr('a', os.urandom(4))\n    with archive.open('b', 'w') as entry: entry.write(b'b')\n"
        "result = buffer.getvalue(), buffer.tell()"
    ),
    "clocks, random numbers and the machine that functions read themselves": (
        "import email.utils, pwd, resource\n"
        "result = email.utils.make_msgid(), resource.getrusage(resource.RUSAGE_SELF).ru_utime, pwd.getpwuid(0).pw_name"
    ),
    "a file of codecs, and its owner": (
        "import codecs, pathlib\nwith codecs.open('it', 'w', 'utf-8') as file: file.write('é')\n"
        "with codecs.open('it', encoding='utf-8') as file: result = file.read(), pathlib.Path('it').owner()"
    ),
    "elements one by one": (
        "with open('it.xml', 'w') as file: file.write('<a><b>1</b><b>2</b></a>')\n"
        "result = [element.text for event, element in tree.iterparse('it.xml')]"
    ),
    "elements by SAX": (
        "import xml.sax, xml.sax.saxutils\nwith open('it.xml', 'w') as file: file.write('<a><b/></a>')\n"
        "out = io.StringIO()\nxml.sax.parse('it.xml', xml.sax.saxutils.XMLGenerator(out))\nresult = out.getvalue()"
    ),
    "a file that an argument names": (
        "import argparse\nwith open('it', 'w') as file: file.write('a')\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('source', type=argparse.FileType())\n"
        "parser.add_argument('to', type=argparse.FileType('w'))\n"
        "given = parser.parse_args(['it', 'other'])\ngiven.to.write('b')\nresult = given.source.read()"
    ),
    "what a file is": (
        "with zipfile.ZipFile('it', 'w') as archive: archive.writestr('a/b', 'c')\n"
        "result = zipfile.is_zipfile('it'), tarfile.is_tarfile('it')"
    ),
    "a path in an archive": (
        "with zipfile.ZipFile('it', 'w') as archive: archive.writestr('a/b', 'c')\n"
        "path = zipfile.Path('it')\nresult = (path / 'a' / 'b').read_text(), [one.name for one in path.iterdir()]"
    ),
    "a sound": (
        "import wave\nwith wave.open('it', 'wb') as file:\n"
        "    file.setparams((1, 2, 8000, 0, 'NONE', ''))\n    file.writeframes(os.urandom(4))\n"
        "with wave.open('it') as file: result = file.getnframes(), file.readframes(2)"
    ),
    "folders compared": (
        "import filecmp\nos.mkdir('a'); os.mkdir('b'); os.mkdir('a/c')\nfound = filecmp.dircmp('a', 'b')\n"
        "result = found.left_only, found.right_only"
    ),
    "a database of one kind": (
        "import dbm.dumb\nwith dbm.dumb.open('it', 'c') as file: file['a'] = os.urandom(3)\n"
        "with dbm.dumb.open('it') as file: result = file['a'], list(file.keys())"
    ),
    "a mailbox": (
        "import mailbox\nbox = mailbox.mbox('it')\nbox.add('Subject: a\\n\\nb')\nbox.flush()\n"
        "result = len(box), [message['subject'] for message in mailbox.mbox('it')]"
    ),
    "times of snippets": "import timeit\nresult = timeit.timeit('1', number=9), timeit.repeat('1', number=9, repeat=2)",
    "compressed in memory": (
        "buffer = io.BytesIO()\nwith gzip.GzipFile(fileobj=buffer, mode='wb') as file: file.write(os.urandom(4))\n"
        "result = buffer.getvalue()"
    ),
}
OF_NUMPY = {
    "out": "out = np.zeros(3); found = np.random.default_rng().random(out=out); result = found is out, out.tolist()",
    "shuffle": "target = np.arange(9); np.random.shuffle(target); result = target.tolist()",
    "shuffle of a part": (
        "whole = np.arange(16).reshape(4, 4); np.random.default_rng().shuffle(whole[:, ::2]); result = whole.tolist()"
    ),
    "shuffle of objects": (
        "target = np.array([[1], {2}, 'a', None], dtype=object)\nnp.random.default_rng().shuffle(target)\n"
        "result = repr(target)"
    ),
    "load": (
        "np.save('it.npy', np.random.default_rng().random(4))\n"
        "with open('it.npy', 'rb') as file: first = np.load(file)\n"
        "result = first.tolist(), np.load('it.npy').tolist(), np.fromfile('it.npy', np.uint8).tolist()"
    ),
    "readinto": (
        f"{FILE}target = np.zeros(9, np.uint8)\nwith open('data.txt', 'rb') as file: file.readinto(target)\n"
        "result = target.tolist()"
    ),
}


def is_replayed(folder, monkeypatch, make_program, text):
    program = make_program(f"def run():\n{textwrap.indent(text, '    ')}\n    return result\n")
    results = []
    for kind in (Record, Replay):
        place = folder / kind.__name__
        place.mkdir()
        monkeypatch.chdir(place)
        with kind(str(folder / "it.cassette")) as context:
            results.append(overdub(context, program.run))
    assert results[0] == results[1]
    assert os.listdir(folder / "Replay") == []


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_the_effects_of_a_call_are_replayed(tmp_path, monkeypatch, make_program, text):
    is_replayed(tmp_path, monkeypatch, lambda run: make_program(IMPORTS + run), text)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("text", OF_NUMPY.values(), ids=OF_NUMPY)
def test_the_effects_of_a_call_on_arrays_are_replayed(tmp_path, monkeypatch, make_program, text):
    pytest.importorskip("numpy")
    is_replayed(tmp_path, monkeypatch, lambda run: make_program(f"{IMPORTS}import numpy as np\n{run}"), text)


def test_attributes_that_a_call_assigns_are_replayed(tmp_path, make_program):
    program = make_program(
        """
        import time
        from cassette_import.contexts.boundaries import boundary

        class Clock:
            def __init__(self):
                self.seen = []

            @boundary
            def look(self):
                self.now = time.time()
                self.seen.append(self.now)
                return self

        def run():
            clock = Clock()
            same = clock.look()
            return clock.now, clock.seen, same is clock
        """
    )
    file = str(tmp_path / "it.cassette")
    with Record(file) as record:
        before = overdub(record, program.run)
    with Replay(file) as replay:
        assert overdub(replay, program.run) == before
    assert before[1:] == ([before[0]], True)


@pytest.mark.parametrize("make", ["bytearray([next(garbage)] * 5)", "memoryview(bytearray([next(garbage)] * 5))"])
@pytest.mark.parametrize("method", ["readinto", "readinto1"])
def test_what_a_buffer_contains_before_a_call_fills_it_does_not_matter(tmp_path, make_program, make, method):
    program = make_program(
        f"""
        import itertools
        garbage = itertools.count(ord("A"))

        def run(path):
            target = {make}
            with open(path, "rb") as file:
                count = file.{method}(target)
            return count, bytes(target[:count])
        """
    )
    data = tmp_path / "data"
    data.write_bytes(b"AAA")  # what the first buffer contains already
    file = str(tmp_path / "it.cassette")
    for kind in (Record, Replay):
        with kind(file) as context:
            assert overdub(context, program.run, str(data)) == (3, b"AAA")


def test_a_buffer_of_another_length_is_another_call(tmp_path, make_program):
    program = make_program(
        """
        def run(path, length):
            with open(path, "rb") as file:
                return file.readinto(bytearray(length))
        """
    )
    file = str(tmp_path / "it.cassette")
    with Record(file) as record:
        overdub(record, program.run, __file__, 3)
    with pytest.raises(ReplayMismatch, match=r"readinto\(<buffer of 4 bytes>\)"), Replay(file) as replay:
        overdub(replay, program.run, __file__, 4)
