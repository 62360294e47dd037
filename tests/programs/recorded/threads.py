"""Sends requests to a server from threads and from the workers of an executor, and prints the answer of each."""

import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

answers = {}


def ask(url, number):
    with urllib.request.urlopen(f"{url}/{number}") as response:
        answers[number] = response.read(), time.time_ns()
    return number, answers[number]


def main(url):
    threads = [threading.Thread(target=ask, args=(url, number)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(answers.items()))
    with ThreadPoolExecutor(2) as executor:
        for future in [executor.submit(ask, url, number) for number in range(10, 16)]:
            print(future.result())
        print(list(executor.map(ask, [url] * 4, range(20, 24))))
    print(time.time())


main(*sys.argv[1:])
