"""What later forms say of where their nodes come from."""

from hastega_magic.errors import Span
from hastega_magic.ir.expr import const, leaf, make
from hastega_magic.ir.origins import inherited, moved, placed, themselves
from hastega_magic.types import INT

X = leaf("load", INT, 0)
PRODUCT = make("mul", X, const(3))
SUM = make("add", PRODUCT, const(1))


def test_written_nodes_are_their_own_origins():
    assert themselves([SUM]) == {X: (X,), PRODUCT: (PRODUCT,), SUM: (SUM,)}


def test_images_have_the_origins_of_all_they_stand_for():
    shift = make("wrapping_shl", X, const(1))
    found = moved(themselves([SUM]), [(SUM, shift), (PRODUCT, shift), (X, X)], [shift])
    assert found == {shift: (SUM, PRODUCT), X: (X,)}


def test_new_nodes_have_the_origins_of_what_uses_them():
    part = make("sub", X, const(7))
    left, right = make("mul", part, part), make("add", part, const(2))
    found = inherited([left, right], {left: (SUM,), right: (PRODUCT,), X: (X,)})
    assert set(found.pop(part)) == {SUM, PRODUCT}
    assert found == {left: (SUM,), right: (PRODUCT,), X: (X,)}


def test_loads_are_themselves_where_only_a_check_looks_at_them():
    assert inherited([make("eq", X, const(0))], {}) == {X: (X,)}


def test_places_are_those_of_the_origins():
    first, second = Span(1, 0, 1, 5), Span(2, 3, 2, 9)
    spans = {SUM: (first, second), PRODUCT: (second,)}
    assert placed({X: (SUM, PRODUCT), PRODUCT: (X,)}, spans) == {X: (first, second)}


def test_a_stretch_lies_within_another():
    outer = Span(1, 4, 3, 2)
    assert Span(1, 4, 3, 2).within(outer)
    assert Span(2, 90, 3, 1).within(outer)
    assert not Span(1, 3, 2, 0).within(outer)
    assert not Span(2, 0, 3, 3).within(outer)
