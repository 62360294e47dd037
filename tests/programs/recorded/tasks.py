"""Sends requests to a server from many tasks at a time, with streams and timeouts."""

import asyncio
import random
import sys
import time

import httpx


async def ask(client, url, number):
    begun = time.monotonic()
    response = await client.get(url, params={"number": number})
    await asyncio.sleep(random.random() / 100)
    print(number, response.status_code, response.text, time.monotonic() - begun)
    return response.text


async def main(url):
    async with httpx.AsyncClient() as client:
        print(await asyncio.gather(*(ask(client, url, number) for number in range(5))))
        async with client.stream("GET", url) as response:
            async for line in response.aiter_lines():
                print(line)
        try:
            await asyncio.wait_for(client.get(url + "/slow"), 0.05)
        except TimeoutError:
            print("too slow")
        async with asyncio.TaskGroup() as group:
            for number in range(3):
                group.create_task(ask(client, url, number))
        try:
            await client.get("http://127.0.0.1:1/")
        except httpx.ConnectError as error:
            print(repr(error), error.request.url)


asyncio.run(main(*sys.argv[1:]))
