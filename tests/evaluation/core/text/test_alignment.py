"""Two texts side by side: equal and changed words, in any script."""

import pytest

from evaluation.core.text.matching import WORDS_COMPARED, align_words


def told(parts):
    """A text with [what is the same] and {what is not}."""
    marks = {"same": "[{}]", "changed": "{{{}}}", "between": "{}"}
    return "".join(marks[part.kind].format(part.text) for part in parts)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (
            "It rises in the hills.",
            "It rises over the hills!",
            ("[It rises] {in} [the hills].", "[It rises] {over} [the hills]!"),
        ),
        ("Same, SAME words", "same same Words", ("[Same, SAME words]", "[same same Words]")),
        ("one", "", ("{one}", "")),
        ("...", "one", ("...", "{one}")),
        # The order counts: of two words that changed places one is not the same any more.
        ("north south", "south north", ("[north] {south}", "{south} [north]")),
        # A vowel sign is a part of its word; é is é, however it is written.
        ("हिन्दी भाषा", "हिन्दी बोली", ("[हिन्दी] {भाषा}", "[हिन्दी] {बोली}")),
        ("caf\u00e9 noir", "cafe\u0301 vert", ("[caf\u00e9] {noir}", "[cafe\u0301] {vert}")),
        # Without blanks every character is a word.
        ("河在北方", "河在南方", ("[河在]{北}[方]", "[河在]{南}[方]")),
        ("הנהר בצפון", "הנהר בדרום", ("[הנהר] {בצפון}", "[הנהר] {בדרום}")),
    ],
)
def test_words_in_the_same_order_are_the_same(left, right, expected):
    found = align_words(left, right)
    assert (told(found.left), told(found.right)) == expected


def test_the_parts_make_up_the_texts_again():
    left, right = "  A b,\n\nc — d ", "b c\td (e)"
    found = align_words(left, right)
    assert "".join(part.text for part in found.left) == left
    assert "".join(part.text for part in found.right) == right


def test_how_many_words_are_the_same_is_counted_against_the_longer_text():
    # "It rises the hills" of "It rises in the hills now"
    found = align_words("It rises over the hills", "It rises in the hills now")
    assert (found.same, found.longer) == (4, 6)


def test_of_a_very_long_text_the_rest_has_no_mark():
    found = align_words("a " * (WORDS_COMPARED + 5), "a " * (WORDS_COMPARED + 5))
    assert found.same == WORDS_COMPARED
    assert [part.kind for part in found.left] == ["same", "between"]
