"""Facts read by a chat model: replies taken apart, quotes held against the text, slots to vote."""

import json
from dataclasses import dataclass

import pytest

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import Answers
from evaluation.grading.facts.run import find_crowd_facts
from evaluation.grading.facts.run.reading import extract_facts_by_model, parse_facts, parse_slots
from evaluation.runs.flow.asking.reading import AnswerColumns


@dataclass(frozen=True)
class Said:
    answer: str
    status: AnswerStatus = AnswerStatus.TEXT


class Model:
    """Replies by the step and the answer that a conversation shows; prose where nothing is said."""

    def __init__(self, slots, facts):
        self.slots, self.facts, self.asked = slots, facts, []

    def __call__(self, step, prompt, items):
        found = {}
        for item in items:
            self.asked.append((step, item.id))
            told = self.slots if step.startswith("slots") else self.facts
            shown = item.messages[0]["content"]
            reply = next((said for text, said in told.items() if f": {text}\n" in shown), "Sure!")
            found[item.id, 0] = reply if isinstance(reply, Said) else Said(reply)
        return found


def fact(value, quote, slot="place"):
    return {"slot": slot, "value": value, "quote": quote}


def facts(*found):
    return json.dumps({"facts": list(found)})


def read(texts, model, wording="Where is it?"):
    n = len(texts)
    people = [f"w{at}" for at in range(n)]
    reader = extract_facts_by_model(
        AnswerColumns(people, [True] * n, ["q"] * n, texts, {"q": wording}, {}), model, "m"
    )
    answers = Answers(list(range(n)), people, ["q"] * n, texts, [False] * n)
    return reader.about, find_crowd_facts({"q": wording}, answers, read_by=reader)


PLACE = {"Where is it?": '{"slots": ["Place"]}'}


def test_what_is_read_goes_through_the_vote_and_each_quote_has_its_place():
    texts = [*["It lies in the north."] * 5, "Somewhere in the deep South, I say."]
    said = {texts[0]: facts(fact("North", "the north")), texts[5]: facts(fact("south", "South"))}
    about, found = read(texts, Model(PLACE, said))
    # 5 of 6: Wilson's lower bound is .44; without the sixth all five of five, .57.
    assert [(one.slot, one.value, one.mentions, one.of, one.state) for one in found.crowd] == [
        ("place", "North", 5, 6, "agreed"), ("place", "south", 1, 6, "open"),
    ]  # fmt: skip
    last = found.answers[-1]
    assert (last.name, last.verdict, last.crowd, last.n_crowd) == ("w5", "contradicts", "North", 5)
    (begin, end) = last.spans[0]
    assert texts[5][begin:end] == "South"
    assert (about.model, about.answers, about.facts, about.not_in_text) == ("m", 6, 6, 0)


def test_a_quote_that_is_not_in_the_answer_letter_by_letter_is_refused_and_counted():
    texts = ["It is in the north", "It is in the North", "in the north", "north it is"]
    said = {text: facts(fact("north", "the north")) for text in texts}
    said[texts[2]] = facts(fact("north", "  "), fact("north", "north", "season"))
    about, found = read(texts, Model(PLACE, said))
    # Capital N, only blanks, and no "the": refused; and a kind that nobody asked for.
    assert (about.facts, about.not_in_text, about.other_slot) == (1, 3, 1)
    assert found.crowd == []
    assert found.silent == {"q": "no_shared_slot"}


def test_prose_is_asked_for_once_more_and_then_counted():
    texts = ["in the north", "in the south", "north", "no idea"]
    said = {texts[0]: facts(fact("north", "north")), texts[1]: Said("", AnswerStatus.EMPTY)}
    said[texts[2]] = Said("", AnswerStatus.ERROR)
    model = Model(PLACE, said)
    about, _ = read(texts, model)
    assert (about.unread, about.errors, about.facts) == (2, 1, 1)
    assert about.asked_again == 2
    again = [name for step, name in model.asked if step == "facts again"]
    assert again == ["facts/q/worker/w1/again-0", "facts/q/worker/w3/again-0"]


def test_without_slots_no_answer_is_read():
    model = Model({}, {})
    about, found = read(["a", "b", "c"], model)
    assert (about.questions, about.without_slots, about.answers) == (1, 1, 0)
    assert {step for step, _ in model.asked} == {"slots", "slots again"}
    assert found.silent == {"q": "no_shared_slot"}


def test_numbers_are_those_of_the_quotes_whatever_the_model_makes_of_them():
    texts = ["12 hours and 25 minutes", "12:25 hours", "12h25", "12.5 hours", "12 h 25 min"]
    texts += ["12 hours 25", "12 hours 25 minutes"]
    wrong = {text: facts(fact("noon", text, "period")) for text in texts}
    _, found = read(texts, Model({"Where is it?": '{"slots": ["period"]}'}, wrong))
    assert next((one.value, one.mentions, one.state) for one in found.crowd) == (
        "12 h 25 min", 6, "agreed",
    )  # fmt: skip
    assert [one.verdict for one in found.answers] == [
        *["agrees"] * 3, "contradicts", *["agrees"] * 3,
    ]  # fmt: skip


def test_explanations_are_read_as_well():
    long = "because the terminal is separated by a gap from the other one, " * 4
    texts = [f"{long}{at}" for at in range(5)]
    said = {text: facts(fact("gap", "a gap", "cause")) for text in texts}
    _, found = read(texts, Model({"Where is it?": '{"slots": ["cause"]}'}, said))
    assert [(one.value, one.state) for one in found.crowd] == [("gap", "agreed")]


@pytest.mark.parametrize(
    ("texts", "quote"),
    [
        (["في الشمال", "في الشمال جدا", "الشمال"], "الشمال"),
        (["北にある", "北です", "それは北"], "北"),
        (["IM SÜDEN, GROẞ", "IM SÜDEN", "ja, IM SÜDEN"], "SÜDEN"),
    ],
)
def test_any_script_is_quoted_as_it_stands(texts, quote):
    said = {text: facts(fact(quote, quote)) for text in texts}
    about, found = read(texts, Model(PLACE, said))
    assert (about.facts, about.not_in_text) == (3, 0)
    assert [(one.value, one.mentions) for one in found.crowd] == [(quote, 3)]
    assert all(
        text[slice(*one.spans[0])] == quote for text, one in zip(texts, found.answers, strict=True)
    )


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"facts": []}', ([], None)),
        ('```json\n{"facts": [{"slot": "a", "value": 7, "quote": "x"}]}\n```',
         ([{"slot": "a", "value": "7", "quote": "x"}], None)),
        ("The answer states a place.", (None, "no_json")),
        ('{"facts": [', (None, "no_json")),
        ('{"facts": "none"}', (None, "no_list")),
        ('{"facts": ["north"]}', (None, "no_list")),
        ('{"facts": [{"slot": "a", "value": true, "quote": "x"}]}', (None, "no_list")),
        ('{"slots": []}', (None, "no_list")),
        ("{" * 5000, (None, "no_json")),
        ('{"facts": ' + "[" * 100_000, (None, "no_json")),
    ],
)  # fmt: skip
def test_a_reply_of_another_form_says_nothing(reply, found):
    assert parse_facts(reply) == found


def test_slots_are_short_names_each_once_and_five_at_most():
    reply = json.dumps({"slots": ["Year", "year ", "", 3, "a", "b", "c", "d", "e", "meaning"]})
    assert parse_slots(reply) == (["year", "a", "b", "c", "d"], None)
    assert parse_slots('{"slots": []}') == ([], None)
    assert parse_slots('{"slots": [""]}') == (None, "no_list")
