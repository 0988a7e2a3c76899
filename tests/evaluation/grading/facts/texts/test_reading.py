"""Facts out of texts: what is read, what is not, and that no text breaks it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.grading.facts.texts import FactReader
from evaluation.grading.facts.texts.numbers import tokenise

PARTS = (
    "12 25 1858 1,250 h25 hours and a half between at least per each century 19th - : / ½ million "
    "twenty one dozen € kg² Paris May about or so"
)


def read(text, question="", others=()):
    return FactReader([text, *others]).read_facts(question, [text])[0]


def values(text, question="", others=()):
    return [(one.slot, one.shown) for one in read(text, question, others) if one.slot != "name"]


@pytest.mark.parametrize(
    ("text", "slot", "shown"),
    [
        ("It took 12 hours and 25 minutes", "duration", "12 h 25 min"),
        ("12h25", "duration", "12 h 25 min"),
        ("12:25", "duration", "12 h 25 min"),
        ("6 metres 80", "length", "6 m 80 cm"),
        ("two and a half hours", "duration", "2.5 h"),
        ("half an hour", "duration", "0.5 h"),
        ("1,250,000 people", "number", "1,250,000"),
        ("1.5 million", "number", "1,500,000"),
        ("4,5 km", "length", "4.5 km"),
        ("two hundred and five", "number", "205"),
        ("$5.50", "dollars", "5.5 dollars"),
        ("3 per cent", "share", "3 %"),
        ("in 1858", "year", "1858"),
        ("the 1850s", "year", "1850s"),
        ("the nineteenth century", "year", "19th century"),
        ("1998-05-12", "year", "1998"),
        ("500 BC", "year", "500 BC"),
        ("1500 soldiers", "number", "1,500"),
        ("650 euros a month", "euros per duration", "650 euros per month"),
        ("each month she pays 650 euros", "euros per duration", "650 euros per month"),
        ("at least 12 characters", "number", "at least 12"),
        ("2-3 weeks", "duration", "2–3 weeks"),
    ],
)
def test_a_fact_has_its_slot_and_its_value_in_words(text, slot, shown):
    assert values(text) == [(slot, shown)]


@pytest.mark.parametrize(
    "text",
    [
        "H2O",
        "a[0]",
        "k+1",
        "terminal 1",
        "COVID-19",
        "one of them",
        "the 3rd day",
        "10^8",
        "in 1,2, and",
    ],
)
def test_codes_labels_and_pronouns_are_no_facts(text):
    assert values(text) == []


def test_a_list_of_figures_is_no_decimal():
    assert ("number", "1.2") not in values("the bulbs of 1,2, and 3 are lit")
    assert values("4,5 km, and then home") == [("length", "4.5 km")]


def test_list_marks_are_no_facts():
    assert values("1. Salt 2. Pepper") == []


def test_the_same_measure_in_other_units_fits():
    # 1.5 h are 90 min; 91 min differ by 1.1%, more than the half percent that measures may differ.
    one, same, other = (read(text)[0] for text in ("1.5 hours", "90 minutes", "91 minutes"))
    assert one.is_compatible(same)
    assert not one.is_compatible(other)


def test_about_leaves_half_the_last_place():
    # About 400 is 350 to 450: half of the hundreds.
    about = read("about 400 people")[0]
    assert (about.low, about.high) == (350, 450)


def test_what_the_question_states_is_no_fact():
    assert values("In 1858 there were 3 ships", "What happened in 1858?") == [("number", "3")]


def test_a_number_without_a_unit_takes_the_unit_that_is_asked_for():
    assert values("about 12", "How many hours does it take?") == [("duration", "about 12 h")]


def test_four_figures_are_a_number_where_the_question_asks_for_one():
    assert values("1500", "How many people came?") == [("number", "1,500")]
    assert values("1500", "When was it?") == [("year", "1500")]


def test_names_are_learnt_from_capitals_inside_sentences_and_found_in_any_spelling():
    others = ["It was built by Brunel then", "I think that Brunel did it"] * 3
    for text in ("brunel", "Brunel's work", "it was Brunnel"):
        assert [one.key for one in read(text, others=others) if one.slot == "name"] == ["brunel"]


def test_capitals_tell_no_names_where_most_words_have_one():
    german = ["Der Hund und die Katze im Haus am Berg vor Wien"] * 3
    assert FactReader(german).names.is_off


def test_one_misspelling_of_a_short_name_is_another_name():
    others = ["we went to Oslo then", "the road to Osla ends"]
    keys = {one.key for text in others for one in read(text, others=others)}
    assert keys == {"oslo", "osla"}


@pytest.mark.medium
@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=60),
            st.text("0123456789²٣.,:/-–½ hms%$and", max_size=60),
            st.lists(st.sampled_from(PARTS.split())).map(" ".join),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_no_text_breaks_it_and_spans_lie_inside_the_text(texts):
    for text, facts in zip(texts, FactReader(texts).read_facts(texts[0], texts), strict=True):
        for one in facts:
            assert one.low <= one.high
            for start, end in one.spans:
                assert 0 <= start < end <= len(text)
                assert text[start:end].strip()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9))
def test_the_span_of_a_figure_spells_its_value(number):
    text = f"there were {number:,} of them"
    (fact,) = [one for one in read(text, "How many?") if one.slot == "number"]
    ((start, end),) = fact.spans
    assert text[start:end] == f"{number:,}"
    assert fact.low == fact.high == number


@pytest.mark.long
@pytest.mark.parametrize(
    "part",
    ["7", "1 ", "1,", "1:", "and ", "A. ", "half a ", "twenty-", "1-", "1/", "x²", "百", "مر"],
)
def test_long_texts_take_linear_steps(part):
    # Twice the text, twice the tokens: nothing is read again and again.
    text = part * (100_000 // len(part))
    assert len(tokenise(text + text)) <= 2 * len(tokenise(text)) + 1
    assert all(one.spans[0][1] <= len(text) for one in read(text))
