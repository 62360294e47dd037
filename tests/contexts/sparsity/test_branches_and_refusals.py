"""Patterns of functions with branches, and what is refused: no dependence is lost silently."""

import json
import math

import pytest

np = pytest.importorskip("numpy", reason="the patterns are arrays")
sparse = pytest.importorskip("scipy.sparse", reason="the patterns are sparse arrays of SciPy")

from helpers.sparsity_functions import checked  # noqa: E402

from cassette_import.contexts.autodiff import derivative  # noqa: E402
from cassette_import.contexts.lanes import vectorize  # noqa: E402
from cassette_import.contexts.sparsity import SparsityError, coloring, hessian, jacobian  # noqa: E402

POINT = [-0.5, 0.3, 0.2, 0.7]
MADE_ELSEWHERE = np.zeros(4)
LAPLACIAN = sparse.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(4, 4)).tocsr()
CACHE = {}


def rows(pattern):
    return ["".join("x" if one else "." for one in row) for row in pattern.toarray()]


def chosen(x):
    return x[1] if x[0] > 0 else x[2]


def test_both_sides_of_a_branch_are_joined():
    assert rows(jacobian(chosen, POINT)) == [".xx."]


def test_a_local_pattern_has_the_side_that_is_taken():
    assert rows(jacobian(chosen, POINT, local=True)) == ["..x."]


def test_the_side_that_is_not_taken_may_be_outside_of_its_domain():
    assert rows(jacobian(lambda x: math.sqrt(x[0]) if x[0] > 0 else x[1], POINT)) == ["xx.."]


def test_a_list_by_a_decided_index_has_the_dependences_of_all_items():
    assert rows(jacobian(lambda x: [x[1], x[2]][int(x[0] > 0)], POINT)) == [".xx."]


def test_an_array_by_a_decided_index_has_the_dependences_of_all_elements():
    assert rows(jacobian(lambda x: np.asarray(x)[int(x[0] * 3)], POINT)) == ["xxxx"]


def test_constants_in_patterns_are_compared_by_identity():
    def matched(x):
        match (None, False, x[0]):
            case (None, True, _):
                return x[1]
            case (None, False, first):
                return first
        return x[2]

    assert rows(jacobian(matched, POINT)) == ["x..."]


def test_an_exception_is_raised_for_the_given_inputs_only():
    assert rows(jacobian(checked, POINT)) == ["..x."]
    with pytest.raises(ValueError, match="too large"):
        jacobian(checked, [6.0, 1.0, 1.0])
    with pytest.raises(AssertionError, match="too large"):
        jacobian(checked, [1.0, 6.0, 1.0])


def test_a_loop_without_counter_is_followed_until_nothing_changes():
    def halved(x):
        y = x[0]
        while True:
            y = y / 2 + x[3] * 1e-9
            if abs(y) < 0.01:
                break
        return y * x[1]

    assert rows(jacobian(halved, POINT)) == ["xx.x"]


def test_an_attribute_that_one_side_sets_keeps_its_former_dependences():
    class Box:
        pass

    def stored(x):
        box = Box()
        box.value = x[0]
        if x[1] > 0:
            box.value = x[2]
        return box.value

    assert rows(jacobian(stored, POINT)) == ["x.x."]


def test_an_object_may_be_made_on_one_side():
    class Box:
        def __init__(self, value):
            self.value = value

    assert rows(jacobian(lambda x: Box(x[1]).value if x[0] > 0 else x[2], POINT)) == [".xx."]


def test_the_structure_of_inputs_and_outputs_is_that_of_the_function():
    pattern = jacobian(lambda given: {"a": given["u"] * given["v"][1], "b": [given["v"]]}, {"u": 1.0, "v": np.ones(2)})
    assert pattern.dtype == bool
    assert isinstance(pattern, sparse.csr_array)
    assert rows(pattern) == ["x.x", ".x.", "..x"]


def test_a_product_with_a_sparse_matrix_has_its_pattern():
    expected = ["xx..", "xxx.", ".xxx", "..xx"]
    assert rows(jacobian(lambda x: LAPLACIAN @ x, np.array(POINT))) == expected
    assert rows(jacobian(lambda x: LAPLACIAN.dot(x), np.array(POINT))) == expected


def test_zeros_of_a_constant_matrix_mix_nothing():
    matrix = np.diag([1.0, 2.0, 0.0, 3.0])
    assert rows(jacobian(lambda x: matrix @ x, np.array(POINT))) == ["x...", ".x..", "....", "...x"]


def test_an_argument_stays_as_it_was():
    def swaps(x):
        x[0] = x[1]
        return x

    array, given = np.array(POINT), list(POINT)
    assert rows(jacobian(swaps, array))[0] == rows(jacobian(swaps, given))[0] == ".x.."
    assert array.tolist() == given == POINT


def test_what_the_function_stores_elsewhere_is_put_back():
    def cached(x):
        CACHE["x"] = x[0]
        return CACHE["x"]

    assert rows(jacobian(cached, POINT)) == ["x..."]
    assert not CACHE


def test_linear_functions_have_no_second_derivatives():
    assert not hessian(lambda x: sum(x) - 3 * x[0] + abs(x[1]), POINT).nnz


def test_a_product_has_second_derivatives_of_its_factors_only():
    assert rows(hessian(lambda x: x[0] * x[1] + x[2] ** 2 + math.sin(x[3]), POINT)) == [".x..", "x...", "..x.", "...x"]


def test_a_sum_over_an_array_keeps_the_pairs_of_its_terms():
    def chain(x):
        return np.sum(x[1:] * x[:-1])

    assert rows(hessian(chain, np.array(POINT))) == [".x..", "x.x.", ".x.x", "..x."]


def test_an_intermediate_value_that_is_not_used_has_no_pairs():
    def unused(x):
        _ = x[0] * x[1]
        return x[2] * x[3]

    assert rows(hessian(unused, POINT)) == ["....", "....", "...x", "..x."]


def test_columns_that_share_a_row_get_different_colours():
    pattern = jacobian(lambda x: LAPLACIAN @ x, np.array(POINT)).toarray()
    colors = coloring(pattern)
    assert colors.max() == 2
    for row in pattern:
        assert len(set(colors[row])) == row.sum()


def aliased(x):
    one, other = [x[0], x[1]], [x[2], x[3]]
    either = one if x[3] > 0 else other
    one[0] = x[1]
    return either[0]


def appended(x):
    found = []
    if x[0] > 0:
        found.append(x[1])
    return found


def counted(x):
    return sum(x[at] for at in range(int(abs(x[0]) * 4)))


def caught(x):
    try:
        return math.log(x[0])
    except ValueError:
        return x[1]


def raised_and_caught(x):
    try:
        if x[0] > 0:
            raise ValueError
        return x[2]
    except ValueError:
        return x[1]


def generated(x):
    return list(one for one in x if one > 0)


def selected(x):
    x = np.asarray(x)
    return x[x > 0].sum()


def fails_elsewhere(x):
    return [1, 2][5] if x[0] > 0 else x[1]


def used_up(x):
    items = iter(x)
    first = next(items)
    return sum(items) if first > 0 else math.prod([v for v in items])


def rest_of_shared(x):
    items = iter(x)
    for v in items:
        if v > 0:
            break
    return sum(items)


def turns(x):
    y, count = x[0], 0
    while abs(y) > 0.1:
        y, count = y / 2, count + 1
    return count


REFUSED = {
    aliased: "which one it is depends",
    appended: "a list changes on one side",
    counted: "used as an index or a count",
    caught: "math.log may raise an exception for other inputs",
    raised_and_caught: "an exception is raised for some inputs",
    generated: "code that is not converted decides",
    selected: "which elements of an array are selected",
    fails_elsewhere: "IndexError: list index out of range",
    used_up: "an iterator is advanced on one side",
    rest_of_shared: "how far an iterator is advanced",
    turns: "a loop has more than 1000 turns",
}


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_a_decision_that_cannot_be_joined_is_refused_with_a_way_out(f):
    with pytest.raises(SparsityError, match=REFUSED[f]) as error:
        jacobian(f, POINT)
    assert "local=True" in str(error.value)
    assert jacobian(f, POINT, local=True).shape[1] == 4


def stores_elsewhere(x):
    MADE_ELSEWHERE[0] = x[0]
    return MADE_ELSEWHERE


def hides(x):
    try:
        return json.dumps(math.ulp(1.0)) and math.comb(4, x[0])
    except Exception:
        return 0.0


def without_rule(x):
    return np.unwrap(x)


NO_RULE = {
    stores_elsewhere: "an array that was made elsewhere",
    hides: "math.comb|used as an index",
    without_rule: r"numpy.unwrap gets numbers that depend on the inputs, .*no rule for it, at .*np.unwrap\(x\)",
}


@pytest.mark.parametrize("f", NO_RULE, ids=lambda f: f.__name__)
def test_a_leaf_without_a_rule_is_refused_with_its_name_and_call_site(f):
    with pytest.raises(SparsityError, match=NO_RULE[f]):
        jacobian(f, np.array(POINT))


def test_a_number_does_not_pass_through_text():
    with pytest.raises(SparsityError, match=r"text is made of a value .* at .*str\(x\[0\]\)"):
        jacobian(lambda x: float(str(x[0])), POINT)


def test_an_argument_without_numbers_is_refused():
    with pytest.raises(TypeError, match="a number is needed"):
        jacobian(lambda x: 1.0, "text")
    with pytest.raises(TypeError, match="no number"):
        jacobian(lambda x: 1.0, [])


def square(x):
    return x * x


LANES = vectorize(square)
OTHER_CONTEXTS = {
    "derivative": lambda x: [derivative(square, x[0])],
    "vectorize": lambda x: [vectorize(square)(x)[0]],
    "a vectorized function": lambda x: [LANES(x)[0]],
    "a number from outside": lambda x: [derivative(lambda z: z * x[0], 2.0)],
    "jacobian": lambda x: [x[0] * jacobian(square, x[0]).nnz],
}


@pytest.mark.parametrize("name", OTHER_CONTEXTS)
def test_another_context_within_is_an_error_that_says_what_to_do(name):
    with pytest.raises(SparsityError, match=r"in a context of its own.*\n.*pattern of the function that it runs"):
        jacobian(OTHER_CONTEXTS[name], np.array([1.0, 2.0]))


def test_another_context_may_compute_with_numbers_that_do_not_depend_on_the_inputs():
    pattern = jacobian(lambda x: [x[0] * derivative(square, 3.0), x[1]], [1.0, 2.0])
    assert pattern.toarray().tolist() == [[True, False], [False, True]]


def all_above(x):
    return x[1] if all(one > limit for one, limit in ((x[0], -1.0), (x[2], 0.0))) else x[3]


def any_below_its_quotient(x):
    return x[1] if any(one > 0 or 1 / one < -3 for one in (x[0], x[3])) else 0.0


def all_of_an_iterator_that_is_read_on(x):
    numbers = (one > -1.0 for one in x)
    return x[1] if all(numbers) else next(numbers, 0.0)


def the_last_that_any_has_seen(x):
    any((last := one) > 0.0 for one in x)
    return last


@pytest.mark.parametrize("f", [all_above, any_below_its_quotient], ids=lambda f: f.__name__)
def test_all_and_any_of_a_generator_decide_by_all_of_its_numbers(f):
    assert rows(jacobian(f, POINT)) == {"all_above": [".x.x"], "any_below_its_quotient": [".x.."]}[f.__name__]


@pytest.mark.parametrize(
    "f", [all_of_an_iterator_that_is_read_on, the_last_that_any_has_seen], ids=lambda f: f.__name__
)
def test_all_and_any_are_refused_where_the_number_of_items_that_they_read_matters(f):
    with pytest.raises(SparsityError, match="depends on the inputs"):
        jacobian(f, POINT)


@pytest.mark.parametrize("local", [False, True])
def test_items_that_the_given_inputs_do_not_reach_may_be_outside_of_the_domain(local):
    def positive(x):
        return x[1] if any(1 / (one + 0.5) > 0 for one in (x[1], x[0])) else 0.0

    assert rows(jacobian(positive, POINT, local=local)) == [".x.."]
