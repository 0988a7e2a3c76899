"""Each sentence about collections, settings, languages and waves, once, by its code."""

from django.utils import translation

from annotations.answering.sentences import CHANGES, FRAME, PUBLISHING, SETTINGS, WAVES
from annotations.answering.stages import OPEN_STAGES, STAGE_BY_STATE, DropOut
from annotations.worker_pages.questions import ERRORS

SETTING_CASES = [
    ("no_questions", {}, "there is nothing to publish: it has no questions yet"),
    (
        "nothing_graded",
        {},
        "it has only practice and checks: add a question that is graded",
    ),
    (
        "blocked",
        {"item": "q1", "reason": "The question has no text.", "n_more": 2},
        "q1: The question has no text. There are 2 more like it.",
    ),
    ("blocked", {"item": "", "reason": "It is wrong.", "n_more": 0}, "It is wrong."),
    (
        "without_text",
        {"names": ["q1", "q2"]},
        "questions without a text cannot be asked: q1, q2. Import their texts first",
    ),
    (
        "without_text",
        {"names": ["q1", "q2", "q3", "q4"]},
        "questions without a text cannot be asked: q1, q2, q3, .... Import their texts first",
    ),
    ("places_missing", {}, "set how many people may take part"),
    (
        "compares_answers",
        {},
        "a worker has already started, so answers would not be comparable: publish a new "
        "version to change it",
    ),
    (
        "signals_not_told",
        {},
        "a worker has already started without notice of the counting: publish a new version to "
        "count",
    ),
    ("other_owner", {}, "only sets of the same owner can be excluded"),
    ("no_place_added", {}, "add at least 1 place"),
    ("places_out_of_range", {"most": 100_000}, "places go from 1 to 100,000"),
    ("no_answers_each", {}, "each question wants at least 1 answer"),
    ("too_few_places", {"each": 1000}, "1,000 answers to each question need at least 1,000 places"),
    *(
        (f"{name}_out_of_range", {"least": 1, "most": 2000}, f"{words} from 1 to 2,000")
        for name, words in (
            ("questions_per_worker", "the questions for each person go"),
            ("reading_seconds", "the seconds to read a text go"),
            ("reservation_minutes", "the minutes that a place is reserved go"),
            ("most_characters", "the characters of an answer go"),
            ("practice_needed", "the right practice answers that are needed go"),
            ("checks_needed", "the right attention checks that are needed go"),
            ("grade_every", "the people between interim gradings go"),
        )
    ),
    (
        "code_done_not_unique",
        {},
        "the code of who has finished must be another than the rest",
    ),
    (
        "code_failed_checks_not_unique",
        {},
        "the code of who failed the attention checks must be another than the rest",
    ),
    (
        "code_screened_out_not_unique",
        {},
        "who did not pass the practice is paid a part, so their code must be another than the rest",
    ),
    *(
        (
            "too_few_checks",
            {"needed": 3, "n": n},
            f"3 right attention checks cannot be asked for: this version has {words} with a right "
            "answer",
        )
        for n, words in ((0, "none"), (1, "1 attention check"), (2, "2 attention checks"))
    ),
    (
        "code_failed_checks_missing",
        {},
        "write the code of who failed the attention checks, or empty how many of them are needed",
    ),
    ("bad_parameter", {"name": "a b"}, "'a b' cannot be the name of a parameter"),
    ("worker_parameter_missing", {}, "name the parameter that holds the worker's id"),
    ("parameter_twice", {}, "each parameter needs a name of its own"),
    ("currency_missing", {}, "give the currency, such as GBP"),
    ("panel_fee_out_of_range", {}, "the fee of the panel goes from 0 to 999.99 percent"),
    (
        "hourly_without_pay",
        {},
        "give the pay of each person, or the pay an hour is unknown",
    ),
    ("part_not_positive", {}, "a part of the pay is more than 0; empty it for none"),
    ("part_not_less", {}, "a part of the pay is less than the pay"),
    ("part_without_pay", {}, "give the pay of each person before a part of it"),
    (
        "bad_address",
        {"address": "x", "scheme": "https"},
        "'x' is no address: write such as https://example.org",
    ),
]
WAVE_CASES = [
    ("no_questions", {}, "there is nothing to ask again: it has no questions yet"),
    ("bad_people", {"known": ["same", "others"]}, "people is one of same, others"),
    ("name_missing", {}, "the new wave needs a name"),
    ("name_too_long", {"most": 200}, "a question set's name has 1 to 200 characters"),
    ("name_taken", {}, "the owner has a question set of this name"),
    ("itself", {}, "a set is no later wave of itself"),
    (
        "other_owner",
        {},
        "the two are of different owners, whose people and models are not the same",
    ),
    ("linked_already", {"earlier": "tides"}, "it is a later wave of “tides” already"),
    (
        "linked_to_another",
        {},
        "it is a later wave of another set already: take that link away first",
    ),
    (
        "circle",
        {"earlier": "tides", "later": "moons"},
        "“tides” is itself a later wave of “moons”",
    ),
    (
        "no_common_question",
        {},
        "the two have no question in common: questions are matched by their ids",
    ),
    ("no_link", {}, "it is no later wave of another set"),
    *(
        (
            "not_published",
            {"people": people},
            f"it was made to ask {words}, which is settled when it is published: publish it first, "
            "or delete it",
        )
        for people, words in (("same", "the same people again"), ("others", "other people"))
    ),
    ("results_not_visible", {}, "you do not see what came back in the wave before"),
]


PUBLISHING_CASES = [
    ("published", {"version": "tides, version 1"}, "tides, version 1 is published"),
    (
        "changed",
        {"version": "tides, version 1", "names": ["places", "return_url"]},
        "tides, version 1 was published before; changed: places, return url",
    ),
    (
        "unchanged",
        {"version": "tides, version 1"},
        "tides, version 1 was published before; nothing changed",
    ),
]
CHANGE_CASES = [
    (
        "other_state",
        {"state": "paused", "was": "open"},
        "It is paused and no longer open; nothing was changed.",
    ),
    (
        "other_places",
        {"places": 6000, "was": 4},
        "There are 6,000 places and no longer 4; none were added.",
    ),
]
FRAME_CASES = [
    (
        "same_language",
        {"frame": "German"},
        "Buttons, progress and messages around your texts are in German.",
    ),
    (
        "language_missing",
        {"frame": "English"},
        "Buttons, progress and messages around your texts are in English, because the language "
        "of the texts is not set.",
    ),
    (
        "not_translated",
        {"frame": "English", "language": "sw", "offered": "English (en)"},
        "Buttons, progress and messages around your texts are in English, because they are not "
        "there in the language of your texts (sw). There are: English (en).",
    ),
    (
        "several",
        {"names": "English, German"},
        "People answer in the language that they choose: English, German. Buttons, progress and "
        "messages around your texts are in it too.",
    ),
    (
        "several_not_translated",
        {"names": "English, Swahili", "without": "Swahili"},
        "People answer in the language that they choose: English, Swahili. Buttons, progress and "
        "messages are not there in Swahili, and are in English around these texts.",
    ),
]


CASES = [
    (SETTINGS, SETTING_CASES),
    (WAVES, WAVE_CASES),
    (PUBLISHING, PUBLISHING_CASES),
    (FRAME, FRAME_CASES),
    (CHANGES, CHANGE_CASES),
]


def test_each_code_has_its_sentence():
    for sentences, cases in CASES:
        found = [(code, sentences.text(code, **values)) for code, values, _ in cases]
        assert found == [(code, sentence) for code, _, sentence in cases]


def test_every_code_is_in_the_table():
    for sentences, cases in CASES:
        assert set(sentences) == {code for code, *_ in cases}


LEFT = {
    "agreed": "left after agreeing, before anything was shown.",
    "practice": "left in the practice.",
    "reading": "left while reading passage 2.",
    "question": "left at question 2.",
    "review": "left at the last look, with everything answered.",
    "returned": "withdrew their answers.",
    "screened_out": "did not pass the practice.",
}


def test_each_stage_at_which_people_leave_has_its_sentence():
    found = {stage: DropOut(stage, 2, 1000, 4000).words for stage in LEFT}
    assert found == {stage: f"1,000 of 4,000 {sentence}" for stage, sentence in LEFT.items()}


def test_every_stage_at_which_people_leave_is_in_the_table():
    assert {*OPEN_STAGES, *STAGE_BY_STATE.values()} - {"done", "timed_out"} == set(LEFT)


def test_each_error_beside_an_answer_has_its_sentence():
    with translation.override("en"):
        assert {code: str(sentence) for code, sentence in ERRORS.items()} == {
            "no_such_choice": "Choose one of the answers.",
            "not_stored": "It is so long that it could not be saved. It is still here.",
            "other_text": "You wrote another text in another window or on another device. Both "
            "are here.",
            "written_elsewhere": "You wrote this in another window. It was not overwritten.",
            "no_answer": "This question has no answer yet.",
        }
