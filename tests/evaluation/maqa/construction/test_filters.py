"""Filters of generated questions, and the reading of the models' replies."""

import pytest

from annotations.writing.candidates import FILTER_REASONS, VERDICTS
from evaluation.maqa.construction.asking import (
    CandidateFilters,
    check_single_question,
    drop_repeated_answers,
    parse_batch,
    parse_verdict,
)


def several(*texts):
    return tuple((text,) for text in texts)


@pytest.mark.parametrize(
    ("reason", "question", "answers"),
    [
        ("too_short", "Seas?", several("Baltic Sea", "North Sea")),
        ("too_long", f"Which seas {'really ' * 80}touch Germany?", several("Baltic", "North")),
        ("too_long", "Which seas touch Germany?", several("Baltic", "N" * 201)),
        ("no_question", "The seas of Germany are cold.", several("Baltic", "North")),
        ("single_answer", "Which sea is the saltiest?", several("Dead Sea")),
        ("too_many", "Which numbers are there?", several(*(f"n{n}" for n in range(51)))),
        ("answer_in_question", "Is the Baltic Sea, or which, cold?", several("x", "Baltic Sea")),
        ("vague_count", "What are some seas of Europe?", several("Baltic", "North")),
        ("vague_count", "Name three seas of Europe.", several("Baltic", "North", "Black")),
        ("vague_count", "Which are examples of seas?", several("Baltic", "North")),
        ("count_differs", "Which three seas touch Germany?", several("Baltic", "North")),
        ("count_differs", "What are the 4 seasons?", several("spring", "winter")),
        ("open_list", "Which seas touch Germany?", several("Baltic", "North", "etc.")),
        ("open_list", "Which seas touch Germany?", several("Baltic", "and so on")),
    ],
)  # fmt: skip
def test_a_candidate_is_left_out_with_its_reason(reason, question, answers):
    assert check_single_question(question, answers).reason == reason
    assert reason in FILTER_REASONS


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which seas touch Germany?", several("Baltic Sea", "North Sea")),
        ("Which two seas touch Germany?", several("Baltic Sea", "North Sea")),
        ("Name the 2 seas at the coast of Germany.", several("Baltic Sea", "North Sea")),
        # "art" is inside "parts", but not a word of the question.
        ("Which parts does a school have?", several("art", "music")),
        ("哪些海与德国接壤,请全部列出?", several("北海", "波罗的海")),
    ],
)
def test_a_sound_candidate_passes(question, answers):
    assert check_single_question(question, answers) is None


def test_the_detail_names_what_a_filter_found():
    rejection = check_single_question("Which three seas touch Germany?", several("Baltic", "North"))
    assert rejection.detail == "“Which three”, 2 answers"


def test_a_question_of_the_set_or_of_the_run_is_a_duplicate():
    filters = CandidateFilters(["What seas touch Germany?"])
    both = several("Baltic Sea", "North Sea")
    # The same words but for the question word.
    assert filters.check_candidate("Which seas touch Germany?", both).reason == "duplicate"
    assert filters.check_candidate("Which seas touch Denmark?", both) is None
    # 2 of 4 words differ and the answers are equal: shared 2 of (2 + 1 + 1) is .5.
    again = filters.check_candidate("Which seas reach Denmark?", both)
    assert (again.reason, again.detail) == ("duplicate", "Which seas touch Denmark?")
    # Other answers: another question.
    assert filters.check_candidate("Which seas reach Denmark?", several("a sea", "b sea")) is None


def test_a_candidate_that_is_left_out_makes_no_later_one_a_duplicate():
    filters = CandidateFilters([])
    assert (
        filters.check_candidate("Which seas touch Germany?", several("Baltic")).reason
        == "single_answer"
    )
    assert filters.check_candidate("Which seas touch Germany?", several("Baltic", "North")) is None


def test_repeated_answers_are_merged():
    answers = (("USA", "United States"), ("The United States",), ("Canada",))
    assert drop_repeated_answers(answers) == (("USA", "United States"), ("Canada",))


def test_a_batch_is_read_from_lines():
    found = parse_batch(
        "Sure!\n**Question 1:** Which seas\ntouch Germany?\n"
        'Answers: ["Baltic Sea", "North Sea"]'
        "\n\n2. Question: Which primes divide 6?\nAnswers: 2, 3\nQuestion: Without answers?\n"
    )  # fmt: skip
    assert [(row.question, row.answers) for row in found] == [
        ("Which seas touch Germany?", several("Baltic Sea", "North Sea")),
        ("Which primes divide 6?", several("2", "3")),
    ]


def test_a_batch_is_read_from_json_with_spellings():
    found = parse_batch(
        '```json\n[{"question": "Which?", "answers": [["USA", "America"], 7, " "]}, '
        '{"question": 3}]\n```'
    )  # fmt: skip
    assert [(row.question, row.answers) for row in found] == [
        ("Which?", (("USA", "America"), ("7",)))
    ]


@pytest.mark.parametrize(
    "reply", ["", "I cannot do that.", "[1, 2]", "Question: Which?", "[" * 9999]
)
def test_a_batch_without_questions_is_empty(reply):
    assert parse_batch(reply) == []


LINES = "Wrong: {}\nMissing: {}\nClear: {}\nReason: as known"


@pytest.mark.parametrize(
    ("lines", "code", "note"),
    [
        (("none", "none", "yes"), "right", "as known"),
        (("None.", "nothing", "Yes."), "right", "as known"),
        (("2", "none", "yes"), "wrong", "2: as known"),
        (("1, 3", "Baltic", "no"), "wrong", "1, 3: as known"),
        (("none", "the Baltic Sea", "yes"), "incomplete", "the Baltic Sea: as known"),
        (("none", "none", "no"), "ambiguous", "as known"),
    ],
)
def test_a_verdict_is_read(lines, code, note):
    verdict = parse_verdict(LINES.format(*lines), 3)
    assert (verdict.code, verdict.note) == (code, note)
    assert code in VERDICTS


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "All answers are right.",
        "Wrong: none\nMissing: none",
        LINES.format("4", "none", "yes"),
        LINES.format("the second", "none", "yes"),
        LINES.format("none", "none", "perhaps"),
    ],
)
def test_an_unclear_verdict_is_none(reply):
    assert parse_verdict(reply, 3) is None
