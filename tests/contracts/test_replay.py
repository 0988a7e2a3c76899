"""Saved results keep numbers, codes, places, columns and rows, and no words of sentences."""

import argparse
import json
import os

import pytest
from django.core.management.base import CommandError

from annotations.exchange import InputError
from evaluation.core.options.declaration import OptionError, build_problem
from tests.contracts.replay import NAMES, facts_of, refusals_of, without_sentences
from tests.contracts.test_commands import difference

TERMINAL = """$ evaluate aqer {in}/crowd.csv --output {out}
exit code 0
105 answers of 15 workers to 8 questions

rank  worker  grade
----  ------  -----
   1  Quinn   1.000
   2  Amara   0.991

Facts: 5 values, 4 of 8 questions. Left out are 2
questions: too few (60%) agree.

NOTICE dont_know: 1 worker gave empty replies over and over (up to 86% of a
  worker's answers).
  Workers: Viktor
INFO copies: 2 workers are alike.

Tables: {out}

--- stderr
Nothing happens.
"""
REFUSED = """$ evaluate aqer {in}/crowd.csv --output {out}
exit code 2
! crowd.csv, line 3, column worker, worker_missing

--- stderr
CommandError: crowd.csv, line 3, column worker: who did it? Write that down.
crowd.csv, line 8: worker Amara answered already in line 2.
"""
SUMMARY = {
    "alarms": [{"kind": "copies", "message": "2 workers are alike.", "statistic": 0.5}],
    "answered": {"distance": "Cannot be told (0.07, 12 questions)."},
    "undefined": [{"reason": "too_few", "rows": ["Zoe, the late"]}],
    "views": [
        {"view": {"code": "near", "title": "Similarity to people", "words": "How near it is."}}
    ],
    "warnings": ["Blank ones, not counted: 1"],
}
ALARMS = 'kind,message,workers\ncopies,"2 workers, alike",Ann; Bob\n'
CHART = (
    '<svg aria-label="All 2 models"><text x="4.5">Similarity to people</text><text>0.2</text></svg>'
)
DATASHEET = (
    "# Tides\n\n- Workers: 15, of whom 14 count\n\n| name | mean |\n| --- | --- |\n| a b | 1 |"
)


def is_same(kind: str, before: str, now: str) -> bool:
    return not difference(without_sentences(kind, before), without_sentences(kind, now))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("105 answers of 15 workers to 8 questions", "Answers: 105. Workers: 15. Questions: 8."),
        ("Left out are 2\nquestions: too few", "Not counted: 2 questions,\nunder"),
        ("gave empty replies over and over", "mostly wrote\n  nothing"),
        ("2 workers are alike", "The answers of 2 workers hardly differ"),
        ("\nTables: {out}\n", "\nThe tables are in {out}.\n"),
        ("Nothing happens.", "Start a worker."),
        ("Nothing happens.\n", ""),
    ],
)
def test_other_words_and_line_breaks_in_a_report_are_the_same(before, now):
    assert before in TERMINAL
    assert is_same(".txt", TERMINAL, TERMINAL.replace(before, now))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("105 answers", "106 answers"),
        ("105 answers of 15", "15 answers of 105"),
        ("--output", "--write"),
        ("exit code 0", "exit code 1"),
        ("grade", "score"),  # a column
        ("Quinn ", "Bao   "),
        ("0.991", "0.992"),
        ("   2  Amara   0.991\n", ""),
        ("60%", "70%"),
        ("dont_know", "too_few"),
        ("INFO copies", "NOTICE copies"),
        ("INFO copies", "INFO leverage"),
        ("INFO copies: 2 workers are alike.\n", ""),
        ("Viktor", "Uma"),
        ("Tables: {out}", "Tables: {in}"),
        ("Nothing happens.", "Nothing happens in 3 days."),
    ],
)
def test_another_number_column_row_code_or_id_in_a_report_is_a_difference(before, now):
    assert before in TERMINAL
    assert not is_same(".txt", TERMINAL, TERMINAL.replace(before, now))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("who did it? Write that down.", "no worker is given: write one."),
        ("worker Amara answered already in line 2", "Amara has an answer, see line 2"),
    ],
)
def test_other_words_in_a_refusal_are_the_same(before, now):
    assert before in REFUSED
    assert is_same(".txt", REFUSED, REFUSED.replace(before, now))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("exit code 2", "exit code 1"),
        ("! crowd.csv", "! other.csv"),
        ("line 3, column worker,", "line 4, column worker,"),
        ("column worker, worker_missing", "column question, worker_missing"),
        ("worker_missing", "worker_unknown"),
        ("line 8", "line 9"),
        ("crowd.csv, line 8: worker Amara answered already in line 2.\n", ""),
        ("in line 2", "in line 4"),
    ],
)
def test_another_place_code_or_exit_code_of_a_refusal_is_a_difference(before, now):
    assert before in REFUSED
    assert not is_same(".txt", REFUSED, REFUSED.replace(before, now))


def test_other_words_in_a_summary_are_the_same():
    now = json.loads(json.dumps(SUMMARY))
    now["alarms"][0]["message"] = "The answers of 2 workers hardly differ."
    now["answered"]["distance"] = "It is not known: 0.07, from 12 questions."
    now["views"][0]["view"] |= {"title": "Close to people", "words": "The distance."}
    now["warnings"] = ["Unanswered, since the text is empty: 1"]
    assert is_same(".json", json.dumps(SUMMARY), json.dumps(now))


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ('"copies"', '"leverage"'),
        ("2 workers", "3 workers"),
        ("0.5", "0.6"),
        ("0.07", "0.08"),
        ('"too_few"', '"empty"'),
        ("Zoe, the late", "Zoe, the early"),  # an id, no sentence
        ('"near"', '"far"'),
        ('"title"', '"label"'),
        ("counted: 1", "counted: 2"),
        (', "warnings": ["Blank ones, not counted: 1"]', ""),
    ],
)
def test_another_number_code_key_or_id_in_a_summary_is_a_difference(before, now):
    text = json.dumps(SUMMARY)
    assert before in text
    assert not is_same(".json", text, text.replace(before, now))


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        ("2 workers, alike", "2 workers, hardly different", True),
        ("2 workers", "3 workers", False),
        ("copies", "leverage", False),
        ("Ann; Bob", "Ann; Cy", False),
        ("message", "sentence", False),
    ],
)
def test_of_a_table_only_the_columns_of_sentences_may_have_other_words(before, now, same):
    assert before in ALARMS
    assert is_same(".csv", ALARMS, ALARMS.replace(before, now)) is same


def test_a_table_without_sentences_is_saved_as_it_is():
    text = 'worker,answer\nAnn,"The Moon, and the Sun: 2 pulls"\n'
    assert without_sentences(".csv", text) == text
    assert without_sentences(".tsv", text) == text
    assert without_sentences(".jsonl", text) == text


@pytest.mark.parametrize(
    ("kind", "text", "before", "now", "same"),
    [
        (".svg", CHART, "Similarity to people", "Close to people", True),
        (".svg", CHART, "All 2 models", "Both: 2", True),
        (".svg", CHART, "All 2 models", "All 3 models", False),
        (".svg", CHART, "4.5", "4.6", False),
        (".svg", CHART, ">0.2<", ">0.3<", False),
        (".md", DATASHEET, "Workers: 15, of whom 14 count", "People: 15 (14 with a rank)", True),
        (".md", DATASHEET, "15, of", "16, of", False),
        (".md", DATASHEET, "mean", "median", False),
        (".md", DATASHEET, "a b", "b c", False),
        (".md", DATASHEET, "\n| a b | 1 |", "", False),
    ],
)
def test_charts_and_documents_may_have_other_words_and_no_other_numbers(
    kind, text, before, now, same
):
    assert before in text
    assert is_same(kind, text, text.replace(before, now)) is same


def test_facts_of_a_sentence_are_numbers_codes_files_places_and_ids_in_their_order():
    sentence = 'Amara answered q1 (“no”) in a.csv at <time>: -0.5, 60% of {out}/b.csv, "too_few".'
    assert facts_of(sentence).split() == [
        "Amara",
        "q1",
        "a.csv",
        "<time>",
        "-0.5",
        "60%",
        "{out}/b.csv",
        "too_few",
    ]
    assert facts_of("No file! Look at the path, or give --data FOLDER.") == ""
    assert {name for name in NAMES if facts_of(name) != name} == set()


def ended_by(error: BaseException, cause: BaseException | None = None) -> SystemExit:
    """The end of a command that an error, with its own cause, brought about."""
    try:
        try:
            raise error from cause
        except type(error):
            raise SystemExit(2)  # noqa: B904 (as Django does)
    except SystemExit as end:
        return end


def test_refusals_are_the_places_and_codes_of_the_errors():
    of_file = InputError.single("a.csv", "it is empty", line=3, column="worker")
    assert refusals_of(ended_by(CommandError("words"), of_file)) == ["a.csv, line 3, column worker"]
    of_option = OptionError([build_problem("max_value", "weight_cap", highest=1)])
    assert refusals_of(ended_by(CommandError("words"), of_option)) == ["weight_cap, max_value"]
    parser = argparse.ArgumentParser()
    cap = parser.add_argument("--cap")
    assert refusals_of(ended_by(argparse.ArgumentError(cap, "words"))) == ["--cap"]
    assert refusals_of(ended_by(CommandError("words"))) == []


def test_refusals_of_errors_that_are_each_other_s_cause_are_finite():
    first, second = OptionError([build_problem("null", "seed")]), CommandError("words")
    second.__context__ = first
    first.__cause__ = second
    end = SystemExit(os.EX_USAGE)
    end.__context__ = second
    assert refusals_of(end) == ["seed, null"]
