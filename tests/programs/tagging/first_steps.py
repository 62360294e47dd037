"""Functions in which the first value in the process is tagged in the middle of a statement, a block or another event.

Each takes a context whose `computed` gives metadata to what is computed of tagged values, and returns values: whether
these have metadata must not depend on whether another value was tagged before.
"""

import contextlib
import heapq
import math

from cassette_import import tag


def source(ctx, value=2):
    return tag(value, ctx, "m")


def plain(value):
    return value


class Thing:
    kind = 3

    def __init__(self, ctx, value=2):
        self.ctx = ctx
        self.value = value
        self.left = [1, 2, 3]

    def made(self):
        return source(self.ctx, self.value)

    def same(self, value):
        return value

    @classmethod
    def of_class(cls, value):
        return value

    @property
    def given(self):
        return source(self.ctx, self.value)

    def __getattr__(self, name):
        if name == "missing":
            return source(self.ctx, self.value)
        raise AttributeError(name)

    def __getitem__(self, index):
        return source(self.ctx, self.value)

    def __setitem__(self, index, value):
        self.left[index] = (source(self.ctx), value)

    def __setattr__(self, name, value):
        if name == "noisy":
            value = source(self.ctx)
        object.__setattr__(self, name, value)

    def __add__(self, other):
        return source(self.ctx, self.value)

    __radd__ = __iadd__ = __mul__ = __add__

    def __lt__(self, other):
        return source(self.ctx, value=1)

    def __bool__(self):
        source(self.ctx)
        return True

    def __hash__(self):
        source(self.ctx)
        return 1

    def __eq__(self, other):
        return source(self.ctx, value=1)

    def __neg__(self):
        return source(self.ctx, self.value)

    def __abs__(self):
        return source(self.ctx, self.value)

    def __len__(self):
        source(self.ctx)
        return 4

    def __str__(self):
        return source(self.ctx, "text")

    def __format__(self, specification):
        return source(self.ctx, "formatted")

    def __contains__(self, item):
        return source(self.ctx, value=1)

    def __iter__(self):
        yield 1
        yield source(self.ctx)

    def __enter__(self):
        return source(self.ctx)

    def __exit__(self, *error):
        source(self.ctx)


class Derived(Thing):
    def made(self):
        return super().made() + 1

    def same(self, value):
        return super().same(value)


def in_the_left_operand(ctx):
    return source(ctx) + 1


def in_the_right_operand(ctx):
    return 1 + source(ctx)


def in_an_operator_of_an_operator(ctx):
    return (Thing(ctx) + 1) * 5 - 1


def in_both_operands(ctx):
    return Thing(ctx) + 1, source(ctx, 3) + (Thing(ctx) + 1)


def in_an_argument(ctx):
    return plain(plain(source(ctx)) + 1)


def in_a_later_argument(ctx):
    def second(a, b, c=0):
        return b, a, c

    return second(1, Thing(ctx).given, c=Thing(ctx)[0])


def in_a_property(ctx):
    thing = Thing(ctx)
    return thing.value + thing.given


def in_a_property_of_a_result(ctx):
    return Thing(plain(ctx)).given + 1


def in_a_missing_attribute(ctx):
    return Thing(ctx).missing * 2


def in_a_method(ctx):
    thing = Thing(ctx)
    thing = thing.made()
    return thing


def in_a_method_above(ctx):
    thing = Derived(ctx)
    return thing.made(), thing.same(thing.made())


def in_a_class_method(ctx):
    return Thing.of_class(source(ctx)) + Thing.of_class(1)


def in_a_method_that_reads_arguments(ctx):
    found = []
    found.append(source(ctx) + 1)
    return found[0], found.pop()


def in_a_function_of_a_module(ctx):
    return math.sqrt(source(ctx)), math.hypot(1.5, plain(source(ctx)))


def in_a_heap(ctx):
    heap = []
    heapq.heappush(heap, (1, source(ctx)))
    return heapq.heappop(heap)[1]


def in_the_callee(ctx):
    def make():
        source(ctx)
        return lambda value: value

    return make()(source(ctx))


def in_a_callee_that_is_replaced(ctx):
    source_of = source
    source_of = source_of(ctx)
    return source_of + 1


def in_a_subscript(ctx):
    table = [10, 11, 12, 13]
    return table[source(ctx)], Thing(ctx)[0] + 1


def in_a_slice(ctx):
    return Thing(ctx)[1:2], [1, 2, 3][: plain(2)][0]


def in_a_comparison(ctx):
    thing = Thing(ctx)
    if thing < 2:
        found = source(ctx) + 1
    else:
        found = 0
    return found, 1


def in_a_comparison_that_is_stored(ctx):
    found = Thing(ctx) < 2
    return found


def in_a_chain_of_comparisons(ctx):
    if 0 < source(ctx) < plain(9):
        return source(ctx) + 1
    return 0


def in_the_middle_of_a_chain(ctx):
    found = 0 < plain(1) < (Thing(ctx) + 1) < 9
    return found


def in_an_identity_test(ctx):
    thing = source(ctx)
    if thing is not None and thing is thing:
        return thing
    return 0


def in_a_containment_test(ctx):
    thing = Thing(ctx)
    found = 1 in thing
    return found, 1 not in thing, thing.given


def in_the_truth_of_a_test(ctx):
    thing, other = Thing(ctx), [1]
    if thing:
        other.append(thing.given)
    return other[-1], plain(other[-1]) + 1


def in_and(ctx):
    return Thing(ctx) and source(ctx), 0 and source(ctx), 1 and plain(2)


def in_or(ctx):
    return 0 or source(ctx), plain(0) or plain(source(ctx)), 1 or source(ctx)


def in_nested_tests(ctx):
    thing = Thing(ctx)
    if (plain(0) or thing.given) and (thing.missing and not plain(0)):
        return thing.given + 1
    return 0


def in_a_conditional_expression(ctx):
    return (source(ctx) if plain(1) else 0) + 1


def in_the_test_of_a_conditional_expression(ctx):
    return plain(1) + (plain(3) if source(ctx) else 0), source(ctx) + 1


def in_an_unary_operator(ctx):
    return -Thing(ctx) + 1, not source(ctx)


def in_abs(ctx):
    return abs(Thing(ctx)) + abs(-1), round(source(ctx))


def in_len(ctx):
    count = len(Thing(ctx))
    return count, source(ctx), count + 1


def in_str(ctx):
    return str(Thing(ctx)), str(1)


def in_an_fstring(ctx):
    name = "a"
    return f"{name} {Thing(ctx)}", f"{name} {plain(1)}", f"{source(ctx)}"


def in_an_argument_of_an_fstring(ctx):
    return f"{source(ctx)} {plain(1):>3}"


def in_a_display(ctx):
    values = [1, source(ctx), Thing(ctx) + 1]
    return values[0], values[1], values[2]


def in_a_dict_display(ctx):
    values = {"a": source(ctx), "b": plain(1)}
    return values["a"], values["b"]


def in_the_hash_of_a_key(ctx):
    values = {Thing(ctx): 1}
    other = source(ctx)
    return other, len(values)


def in_an_augmented_assignment(ctx):
    total = 1
    total += source(ctx)
    total *= 2
    return total


def in_an_augmented_assignment_of_an_object(ctx):
    total = Thing(ctx)
    total += 1
    return total


def in_an_augmented_attribute(ctx):
    thing = Thing(ctx)
    thing.value += source(ctx)
    thing.value -= 1
    return thing.value


def in_an_augmented_item(ctx):
    values = [1, 2]
    values[plain(0)] += source(ctx) + 1
    return values[0], values[1]


def in_an_augmented_list(ctx):
    values = [0]
    values += (value for value in Thing(ctx))
    return values[1], values[2]


def in_an_augmented_text(ctx):
    text = "a"
    text += str(Thing(ctx))
    text += "b"
    return text


def in_a_store_to_an_attribute(ctx):
    thing = Thing(ctx)
    thing.value = source(ctx) + 1
    thing.noisy = 2
    return thing.value, thing.noisy


def in_a_store_to_an_item(ctx):
    thing, values = Thing(ctx), [0, 1]
    values[1] = plain(source(ctx))
    thing[1] = plain(3)
    return values[1], thing.left[1][0], thing.left[1][1]


def in_unpacking(ctx):
    first, second = Thing(ctx)
    third, fourth = plain((1, 2))
    return first, second, third, fourth


def in_unpacking_of_a_tuple(ctx):
    def both():
        return source(ctx), 1

    first, second = both()
    first, second = second, first
    return first, second


def in_a_loop(ctx):
    total = 0
    for number in range(4):
        if number == 2:
            total = total + source(ctx)
        total += number
    return total


def in_a_loop_over_items(ctx):
    values = [1, 2, 3]
    found = []
    for value in values:
        found.append(value + 1)
        values[2] = source(ctx)
    return found[0], found[1], found[2]


def in_the_last_statement_of_a_loop(ctx):
    found = 0
    for number in [1, 2, 3]:
        found = found + number
        if number == 2:
            continue
        found = Thing(ctx) + number
    else:
        found = found + 1
    return found


def in_the_test_of_a_loop(ctx):
    thing, count = Thing(ctx), 0
    while thing < count:
        count += 1
        if count > 2:
            break
        last = thing.given
    return count, last


def in_a_loop_with_several_tests(ctx):
    count = 0
    while plain(count) < source(ctx, 3) and count < 9:
        count += 1
    return count, source(ctx)


def in_a_comprehension(ctx):
    thing = Thing(ctx)
    found = [plain(value) + thing.given for value in (1, 2)]
    return found[0], found[1], plain(1)


def in_a_condition_of_a_comprehension(ctx):
    thing = Thing(ctx)
    found = [value for value in (1, 2) if thing < value]
    return found[0], thing.given + found[0]


def in_a_generator_expression(ctx):
    thing = Thing(ctx)
    found = sum(thing[value] for value in (1, 2))
    return found, found + 1


def in_an_except_clause(ctx):
    found = 0
    try:
        found = plain(1)
        raise KeyError(found)
    except KeyError:
        found = found + source(ctx)
    finally:
        other = found + 1
    return found, other


def in_an_event_that_raises(ctx):
    def fail():
        source(ctx)
        raise KeyError

    found = 1
    try:
        found = plain(found) + fail()
    except KeyError:
        other = source(ctx)
    return found, other, plain(found)


def in_finally(ctx):
    try:
        return plain(1)
    finally:
        source(ctx)


def in_a_with_block(ctx):
    with Thing(ctx) as entered:
        found = entered + plain(1)
    return entered, found, plain(3)


def in_the_end_of_a_with_block(ctx):
    with contextlib.suppress(KeyError):
        found = plain(1)
        found = found + source(ctx)
    return found, found + 1


def steps(ctx):
    total = 1
    yield total
    total = total + 1
    yield total
    total += (yield source(ctx)) or 0
    yield total + 1


def in_a_generator_that_is_suspended(ctx):
    generator = steps(ctx)
    first = next(generator)
    second = next(generator) + first
    third = next(generator)
    fourth = generator.send(third)
    return first, second, third, fourth, second + third


def while_a_generator_is_suspended(ctx):
    def numbers():
        number = 1
        yield number
        for other in [1, 2, 3]:
            number = number + other
            yield number

    generator = numbers()
    first = next(generator)
    tagged = source(ctx)
    return first, next(generator), tagged + next(generator)


def in_a_delegate(ctx):
    def outer():
        yield 0
        result = yield from steps(ctx)
        yield result

    found = [value for value in outer()]
    return found[0], found[3], found[4]


def in_a_closure(ctx):
    total = 1

    def add():
        nonlocal total
        total += source(ctx)
        return total

    found = total + add()
    return found, total, plain(total)


def in_a_call_of_a_callback(ctx):
    least = max([1, 2, 3], key=lambda value: source(ctx, -value))
    return least, sorted([2, 1], key=lambda value: source(ctx, value))[0]


def in_a_result_that_is_not_used(ctx):
    source(ctx, 3)
    Thing(ctx).given
    Thing(ctx) + 1
    return 3


def in_a_result_of_the_same_value(ctx):
    def constant():
        source(ctx, 3)
        return 3

    found = constant()
    return found, plain(3), constant() + 0


def in_a_loop_whose_result_is_not_used(ctx):
    for _ in [1]:
        source(ctx, 3)
    return 3


def in_a_recursion(ctx):
    def down(number):
        if number == 0:
            return source(ctx)
        below = down(number - 1)
        return below + number

    return down(4)


def in_an_annotated_assignment(ctx):
    found: int = source(ctx) + 1
    return found


def in_a_starred_call(ctx):
    def last(*values, **named):
        return values[-1], named.get("x", 0)

    return last(*[1, source(ctx)], x=plain(1))


def in_a_type(ctx):
    found = type(source(ctx))(source(ctx)) + 1
    return found, 1


def with_conditions_of_several_lines(number, text):
    # fmt: off
    if (number.real > 1 and
            text.upper() != text and text.lower() == text):
        number = number + 1
    found = (number.real or
             text.upper())
    other = (found.real + 1 if number.real else
             len(text))
    # fmt: on
    while number.real > 2 and other:
        number -= 1
    return found, other


PROGRAMS = [
    function
    for name, function in sorted(globals().items())
    if name.startswith(("in_", "while_")) and callable(function)
]
