"""What is kept of work that was done."""

from dataclasses import dataclass, replace

from hastega_magic.report.memo import _KEPT, Recent, once


@dataclass(frozen=True)
class Part:
    name: str


def test_a_part_s_result_is_made_once_and_never_goes_to_another():
    made = []

    @once
    def shouted(part):
        made.append(part.name)
        return part.name.upper()

    part = Part("a")
    assert [shouted(part), shouted(part), shouted(replace(part, name="b")), shouted(Part("a"))] == list(
        "AABA"
    )
    assert made == ["a", "b", "a"]
    assert part == Part("a")
    assert repr(part) == repr(Part("a"))


def test_a_result_of_none_is_a_result():
    made = []
    nothing = once(made.append)
    part = Part("a")
    assert nothing(part) is nothing(part) is None
    assert made == [part]


def test_recent_results_go_by_identity():
    made = []

    def length(value):
        made.append(value)
        return len(value)

    recent = Recent(length)
    one = (1, 2)
    equal = (*one,)
    assert [recent(one), recent(one), recent(equal)] == [2, 2, 2]
    assert len(made) == 2


def test_an_address_that_is_used_again_gives_no_old_result():
    recent = Recent(tuple)
    for number in range(500):  # each list may lie where one before it lay
        assert recent([number]) == (number,)


def test_only_the_latest_are_kept():
    recent = Recent(len)
    values = [(number,) for number in range(1000)]
    assert {recent(value) for value in values} == {1}
    assert len(recent._known) <= _KEPT
