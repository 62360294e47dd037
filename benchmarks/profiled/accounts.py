"""Properties, exceptions, decorators, context managers and operators."""

import functools
from contextlib import contextmanager


class Refused(Exception):
    pass


class Money:
    __slots__ = ("cents",)

    def __init__(self, cents):
        self.cents = cents

    def __add__(self, other):
        return Money(self.cents + other.cents)

    def __sub__(self, other):
        return Money(self.cents - other.cents)

    def __lt__(self, other):
        return self.cents < other.cents


def checked(function):
    @functools.wraps(function)
    def wrapper(self, amount):
        if amount < Money(0):
            raise Refused("negative")
        return function(self, amount)

    return wrapper


class Account:
    def __init__(self):
        self._balance = Money(0)
        self.log = []

    @property
    def balance(self):
        return self._balance

    @checked
    def deposit(self, amount):
        self._balance = self._balance + amount
        self.log.append(("in", amount.cents))

    @checked
    def withdraw(self, amount):
        if self.balance < amount:
            raise Refused("too much")
        self._balance = self._balance - amount
        self.log.append(("out", amount.cents))


@contextmanager
def transaction(account):
    before = account.balance
    try:
        yield account
    except Refused:
        account._balance = before


def main():
    account = Account()
    for number in range(600):
        with transaction(account) as open_account:
            open_account.deposit(Money(number % 97))
            open_account.withdraw(Money(number * 31 % 120))
    return account.balance.cents, len(account.log)
