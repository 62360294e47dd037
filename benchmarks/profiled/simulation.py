"""A queue of events with dataclasses, a heap, and a log."""

import heapq
import random
from dataclasses import dataclass, field


@dataclass(order=True)
class Event:
    time: float
    number: int
    kind: str = field(compare=False)


@dataclass
class Server:
    busy: bool = False
    waiting: list = field(default_factory=list)
    served: int = 0

    def arrive(self, customer):
        if self.busy:
            self.waiting.append(customer)
            return False
        self.busy = True
        return True

    def leave(self):
        self.served += 1
        self.busy = bool(self.waiting)
        return self.waiting.pop(0) if self.waiting else None


class Simulation:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events = []
        self.number = 0
        self.server = Server()

    def schedule(self, time, kind):
        self.number += 1
        heapq.heappush(self.events, Event(time, self.number, kind))

    def delay(self, mean):
        return self.random.random() * 2 * mean

    def run(self, until):
        self.schedule(0.0, "arrival")
        while self.events:
            event = heapq.heappop(self.events)
            if event.time > until:
                break
            if event.kind == "arrival":
                if self.server.arrive(event.number):
                    self.schedule(event.time + self.delay(0.9), "departure")
                self.schedule(event.time + self.delay(1.0), "arrival")
            elif self.server.leave() is not None:
                self.schedule(event.time + self.delay(0.9), "departure")
        return self.server.served


def main():
    return [Simulation(seed).run(300.0) for seed in range(4)]
