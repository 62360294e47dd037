"""Amounts in decimals: a loan, interest, and a rounded table."""

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

CENT = Decimal("0.01")


def rounded(amount):
    return amount.quantize(CENT, rounding=ROUND_HALF_EVEN)


def interest(balance, rate):
    return rounded(balance * rate / 12)


def schedule(amount, rate, months):
    payment = rounded(amount * (1 + rate) / months)
    rows = []
    balance = amount
    for month in range(months):
        due = interest(balance, rate)
        balance = balance + due - payment
        rows.append((month, due, payment, balance))
    return rows


def square_root(value, digits):
    with localcontext() as context:
        context.prec = digits
        guess = Decimal(value)
        for _ in range(20):
            guess = (guess + value / guess) / 2
        return +guess


def main():
    rows = [schedule(Decimal(amount), Decimal("0.05"), 120) for amount in range(1000, 1500, 25)]
    roots = [square_root(Decimal(value), 50) for value in range(2, 60)]
    return len(rows), sum(roots)
