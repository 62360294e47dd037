"""Objects and methods: customers queue at counters of a post office, simulated by an agenda of events."""

import heapq


class Random:
    """A linear congruential generator, for the same customers each time."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self.state >> 8) % limit


class Customer:
    def __init__(self, number, arrived, errand):
        self.number = number
        self.arrived = arrived
        self.errand = errand
        self.served = None

    @property
    def waited(self):
        return self.served - self.arrived


class Counter:
    speed = 4

    def __init__(self, office):
        self.office = office
        self.customer = None

    @property
    def is_free(self):
        return self.customer is None

    def serve(self, customer):
        self.customer = customer
        customer.served = self.office.now
        self.office.later(self.duration(customer), self.finish)

    def duration(self, customer):
        return 1 + customer.errand * self.speed

    def finish(self):
        self.office.leave(self.customer)
        self.customer = None
        self.office.call_next()


class Beginner(Counter):
    speed = 6

    def duration(self, customer):
        return super().duration(customer) + self.office.random.below(3)


class Office:
    def __init__(self, seed, counters, beginners):
        self.random = Random(seed)
        self.now = 0
        self.agenda = []
        self.number = 0
        self.queue = []
        self.counters = [Counter(self) for _ in range(counters)] + [Beginner(self) for _ in range(beginners)]
        self.waited = []

    def later(self, delay, action):
        self.number += 1
        heapq.heappush(self.agenda, (self.now + delay, self.number, action))

    def arrive(self):
        customer = Customer(self.number, self.now, 1 + self.random.below(9))
        self.queue.append(customer)
        self.later(1 + self.random.below(11), self.arrive)
        self.call_next()

    def call_next(self):
        for counter in self.counters:
            if not self.queue:
                return
            if counter.is_free:
                counter.serve(self.queue.pop(0))

    def leave(self, customer):
        self.waited.append(customer.waited)

    def run(self, until):
        self.later(0, self.arrive)
        while self.agenda and self.now < until:
            self.now, _, action = heapq.heappop(self.agenda)
            action()
        return len(self.waited), sum(self.waited), max(self.waited)


def main():
    return [Office(seed, 3, 2).run(4000) for seed in (1, 2, 3)]
