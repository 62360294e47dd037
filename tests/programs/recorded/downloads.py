"""Downloads files as pip does, checks them, and asks for their metadata in threads and in tasks."""

import asyncio
import concurrent.futures
import hashlib
import os
import shutil
import sys
import tempfile
import urllib.parse
import urllib.request

base = sys.argv[1]


def downloaded(folder, name):
    """Download a file in pieces, with its progress."""
    request = urllib.request.Request(urllib.parse.urljoin(base, name), headers={"User-Agent": "downloads"})
    path = os.path.join(folder, name)
    digest, size = hashlib.sha256(), 0
    with urllib.request.urlopen(request) as response, open(path, "wb") as file:
        while piece := response.read(40):
            digest.update(piece)
            size += file.write(piece)
            print(f"\r{size} of {response.headers['Content-Length']}", end="")
    print()
    return digest.hexdigest(), os.path.getsize(path)


def metadata(name):
    with urllib.request.urlopen(f"{base}/{name}") as response:
        return response.read()


async def body(name):
    """Ask over a connection of asyncio."""
    server = urllib.parse.urlsplit(base)
    reader, writer = await asyncio.open_connection(server.hostname, server.port)
    writer.write(f"GET /{name} HTTP/1.0\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return answer.partition(b"\r\n\r\n")[2]


async def several():
    return await asyncio.gather(*(body(f"task{number}") for number in range(5)))


folder = tempfile.mkdtemp()
try:
    print(downloaded(folder, "tea.tar.gz"))
finally:
    shutil.rmtree(folder)
with concurrent.futures.ThreadPoolExecutor(3) as executor:
    print(list(executor.map(metadata, ["a", "b", "c", "d"])))
print(asyncio.run(several()))
