"""Which prompt a reply belongs to."""

import pytest

from evaluation.eloquent.run.replies import match_replies
from evaluation.runs.flow.metrics import Exclusions
from tests.evaluation.eloquent.world import ITEMS, entry, item, row


def places(given, exclusions=None, items=ITEMS):
    found = match_replies(items, given, Exclusions() if exclusions is None else exclusions)
    return [(one.item, one.language, one.place) for one in found.replies]


def reasons(given):
    exclusions = Exclusions()
    match_replies(ITEMS, given, exclusions)
    return {entry["reason"]: entry["count"] for entry in exclusions.as_list()}


@pytest.mark.parametrize(
    ("numbers", "first", "within"),
    [
        # 001 has English at the places 0, 1 and 3 and Swedish at 2 and 4.
        ((("en", 0), ("en", 1), ("en", 2), ("sv", 0), ("sv", 1)), 0, "language"),
        ((("en", 1), ("en", 2), ("en", 3), ("sv", 1), ("sv", 2)), 1, "language"),
        ((("en", 0), ("en", 1), ("en", 3), ("sv", 2), ("sv", 4)), 0, "item"),
        ((("en", 1), ("en", 2), ("en", 4), ("sv", 3), ("sv", 5)), 1, "item"),
    ],
)
def test_wordings_may_be_counted_from_0_or_1_in_a_language_or_an_item(numbers, first, within):
    given = [row("s", "001", language, str(number)) for language, number in numbers]
    exclusions = Exclusions()
    found = match_replies(ITEMS, given, exclusions)
    assert [one.place for one in found.replies] == [0, 1, 3, 2, 4]
    assert found.numbering.as_dict() == {"from": first, "within": within}
    assert not exclusions


def test_where_both_counts_fit_wordings_are_counted_within_their_language():
    items = (item("1", "sv: A", "en: B", "en: C"), item("2", "en: X", "en: Y"))
    # From 0; the wording 1 of item 1 is its second English one, or its second one at all.
    given = [row("s", "2", "en", "0"), row("s", "1", "en", "1")]
    assert places(given, items=items) == [("2", "en", 0), ("1", "en", 2)]


def test_an_item_in_one_language_needs_none():
    assert places([row("s", "002", "", "0"), row("s", "002", "", "1")]) == [
        ("002", "en", 0),
        ("002", "en", 1),
    ]


def test_what_belongs_to_no_prompt_is_counted_by_its_reason():
    given = [
        row("s", "001", "en", "0"),
        row("s", "001", "sv", "0"),
        row("s", "001", "sv", "1"),
        row("s", "099", "en", "0"),
        row("s", "1", "en", "0"),
        row("s", "001", "fi", "0"),
        row("s", "001", "en", "7"),
        row("s", "001", "en", "first"),
        row("s", "001", "", "0"),
        row("s", "001", "en", "0", "again"),
    ]
    assert reasons(given) == {
        "unknown_item": 2,
        "unknown_language": 1,
        "unknown_variant": 2,
        "language_missing": 1,
        "repeated": 1,
    }
    found = match_replies(ITEMS, given, Exclusions())
    assert [one.text for one in found.replies] == ["x"] * 3  # the first one counts


def test_systems_may_reply_to_the_same_prompt():
    assert len(places([row("a", "002", "en", "1"), row("b", "002", "en", "1")])) == 2


def test_the_first_question_of_a_submission_tells_the_prompt():
    given = [
        entry("s", "001", "sv", ("Regler?", "a")),
        entry("s", "001", "en", ("What  rules? ", "b")),
        # Two wordings differ in their case alone: the very same one is meant.
        entry("s", "001", "en", ("the rules?", "c")),
        entry("s", "001", "en", ("The rules?", "d")),
    ]
    assert places(given) == [("001", "sv", 4), ("001", "en", 1), ("001", "en", 3), ("001", "en", 0)]


def test_wordings_that_stand_in_one_list_of_turns_are_replies_each():
    turns = (("Write to mum.", "a"), ("Write to mother.", "b"))
    found = match_replies(ITEMS, [entry("s", "002", "en", *turns)], Exclusions()).replies
    assert [(one.place, one.text, len(one.turns)) for one in found] == [(0, "a", 1), (1, "b", 1)]


def test_a_later_turn_goes_on_with_its_conversation():
    turns = (("Write to mum.", "a"), ("Shorter?", "b"), ("Write to mother.", "c"))
    first, second = match_replies(ITEMS, [entry("s", "002", "en", *turns)], Exclusions()).replies
    assert (first.text, [turn.question for turn in first.turns]) == (
        "a\n\nb",
        ["Write to mum.", "Shorter?"],
    )
    assert (second.text, first.changed, second.changed) == ("c", False, False)


def test_a_changed_prompt_stands_for_the_wording_that_nobody_else_replied_to():
    given = [
        entry("s", "002", "en", ("Write to your mum!", "a")),
        entry("s", "002", "en", ("Write to mum.", "b")),
    ]
    first, second = sorted(
        match_replies(ITEMS, given, Exclusions()).replies, key=lambda reply: reply.place
    )
    assert (first.place, first.text, first.changed) == (0, "b", False)
    assert (second.place, second.text, second.changed) == (1, "a", True)
    assert second.prompt == "Write to your mum!"
    assert reasons([*given, entry("s", "002", "en", ("Another?", "c"))]) == {"unknown_variant": 1}
    assert reasons([entry("s", "002", "fi", ("Another?", "c"))]) == {"unknown_language": 1}


def test_a_number_in_json_means_the_only_id_of_that_number():
    assert places([entry("s", "2", "en", ("Write to mum.", "a"), number=True)]) == [
        ("002", "en", 0)
    ]
    assert places([entry("s", "2", "en", ("Write to mum.", "a"))]) == []
    both = (item("02", "en: A"), item("2", "en: A"), item("002", "en: A"))
    assert places([entry("s", "2", "en", ("A", "a"), number=True)], items=both) == [("2", "en", 0)]
    assert places([entry("s", "2", "en", ("A", "a"), number=True)], items=both[::2]) == []
