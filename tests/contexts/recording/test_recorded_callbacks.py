"""External functions that the program gives to other code are recorded, and so are descriptors from any source."""

import pytest
from helpers.command_line import cassette

CALLBACKS = {
    "to_thread": "async def main(): return await asyncio.to_thread(os.urandom, 3)\nprint(asyncio.run(main()))",
    "call_soon": (
        "async def main():\n    asyncio.get_running_loop().call_soon(lambda: print(os.urandom(2)))\n"
        "    await asyncio.sleep(0.01)\nasyncio.run(main())"
    ),
    "field": (
        "key = dataclasses.field(default_factory=uuid.uuid4)\n"
        "print(dataclasses.make_dataclass('Item', [('key', object, key)])().key)"
    ),
    "defaultdict": "print(collections.defaultdict(time.time_ns)[1])",
    "defaultdict with a method": "print(collections.defaultdict(datetime.datetime.now)[1])",
    "defaultdict with partial": "print(collections.defaultdict(functools.partial(os.urandom, 2))[1])",
    "partial": "print(functools.partial(time.time)())",
    "map of the environment": "print(list(map(os.getenv, ['HOME', 'NOPE'])))",
    "map": "print(list(map(os.urandom, [2, 3])))",
    "submit": "with concurrent.futures.ThreadPoolExecutor() as pool: print(pool.submit(os.urandom, 3).result())",
    "pool.map": "with concurrent.futures.ThreadPoolExecutor() as pool: print(list(pool.map(os.urandom, [2, 3])))",
    "a cache with a size": "print(functools.lru_cache(maxsize=8)(os.urandom)(3))",
    "register": "made = functools.singledispatch(len); made.register(int, os.urandom); print(made(3))",
    "initializer": (
        "found = []\ndef begin(): found.append(os.urandom(2))\n"
        "with concurrent.futures.ThreadPoolExecutor(1, initializer=begin) as pool: pool.submit(len, '').result()\n"
        "print(found)"
    ),
    "thread": "t = threading.Timer(0.01, print, [os.urandom(2)]); t.start(); t.join()",
    "a pickled callback": "print(pickle.loads(pickle.dumps(collections.defaultdict(os.getpid))).default_factory)",
    "a seeded generator": "print(random.Random(3).random(), random.Random(None).random())",
}
IMPORTS = (
    "import asyncio, collections, concurrent.futures, dataclasses, datetime, functools, os, pickle, random, socket\n"
    "import tempfile, threading, time, uuid\n"
)
DESCRIPTORS = {
    "mkstemp": (
        "fd, name = tempfile.mkstemp()\nwith os.fdopen(fd, 'w') as f: f.write('x')\nprint(open(name).read(), name)"
    ),
    "pipe": "r, w = os.pipe()\nwith os.fdopen(w, 'wb') as f: f.write(b'abc')\nprint(os.fdopen(r, 'rb').read())",
    "open": "fd = os.open(__file__, os.O_RDONLY)\nprint(os.pread(fd, 5, 0), os.get_inheritable(fd), os.dup(fd))",
    "socket": "a, b = socket.socketpair()\na.sendall(b'x')\nprint(b.recv(1), os.fstat(a.fileno()).st_ino)",
    "temporary file": (
        "f = tempfile.TemporaryFile()\nf.write(b'x')\nf.seek(0)\nprint(f.read(), os.fstat(f.fileno()).st_ino)"
    ),
}


@pytest.mark.parametrize("text", [*CALLBACKS.values(), *DESCRIPTORS.values()], ids=[*CALLBACKS, *DESCRIPTORS])
def test_a_program_is_replayed(tmp_path, text):
    (tmp_path / "program.py").write_text(IMPORTS + text)
    before = cassette("run", "-c", "record", "-o", "it.cassette", "program.py", folder=tmp_path)
    after = cassette("replay", "it.cassette", folder=tmp_path)
    assert (before.status, after.status) == (0, 0), (before, after)
    assert before.stdout == after.stdout != ""
