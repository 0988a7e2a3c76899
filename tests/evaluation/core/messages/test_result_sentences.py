"""Each sentence of a catalogue, once: code, values, and what the site says.

Tests elsewhere assert codes and values. To reword a sentence change it in its catalogue and in
result_sentences.json.
"""

import json
from pathlib import Path

import pytest

from evaluation.grading.alarms.messages import BRIEFLY, MEASURED, TITLES, format_statistic
from evaluation.grading.facts.messages import FACTS
from evaluation.grading.remedies.messages import OUTCOMES
from evaluation.grading.results.messages import COMPARING, SIGNALS
from evaluation.triage.messages import TRIAGE
from evaluation.trust.messages import DECISION, TRUST
from tests.sentences import site_sentence

CASES = json.loads(Path(__file__).with_name("result_sentences.json").read_text("utf-8"))
SENTENCES = [tuple(case.values()) for case in CASES]
"""Code, values and sentence of each message."""


@pytest.mark.parametrize(("code", "values", "sentence"), SENTENCES)
def test_a_code_with_values_is_a_sentence(code, values, sentence):
    assert site_sentence(code, **values) == sentence


@pytest.mark.parametrize(
    "catalogue",
    [SIGNALS, FACTS, DECISION, OUTCOMES, COMPARING, TRIAGE],
    ids=["signals", "facts", "decision", "outcomes", "comparing", "triage"],
)
def test_no_code_of_a_catalogue_lacks_its_sentence_here(catalogue):
    assert catalogue.keys() <= {code for code, _, _ in SENTENCES}


MEASURES = [
    (
        "copies",
        0.9,
        0.5,
        "Similarity 90%, from 0% (workers of equal quality) to 100% (identical answers); "
        "alarm above 50%.",
    ),
    ("copies_in_part", 0.3, 0.15, "30% more shared answers than chance; notice from 15% on."),
    (
        "copies_in_part",
        0.0,
        0.15,
        "No two workers share more answers than chance explains; notice from 15% more on.",
    ),
    (
        "clique",
        0.9,
        0.5,
        "Similarity 90%, from 0% (workers of equal quality) to 100% (identical answers); "
        "alarm above 50%.",
    ),
    (
        "two_camps",
        -0.6,
        3.0,
        "The two most different halves differ no more than chance does; alarm above 3 times.",
    ),
    ("two_camps", 5.52, 3.0, "The camps differ by 5.5 times what chance does; alarm above 3."),
    (
        "two_camps_of_questions",
        0.25,
        0.15,
        "25% of the questions have two camps; alarm from 15% on.",
    ),
    (
        "leverage",
        0.6,
        0.75,
        "Rank correlation with and without this worker: 0.60; alarm below 0.75.",
    ),
    (
        "grader_disagreement",
        0.31,
        0.5,
        "Rank correlation of the two rankings: 0.31; alarm below 0.50.",
    ),
    ("dont_know", 0.9, 0.2, "Up to 90% of a worker's answers; notice from 20% on."),
    (
        "dont_know",
        0.0,
        0.2,
        "No worker gave 3 or more such answers; notice from 20% of a worker's answers on.",
    ),
    (
        "model_like",
        0.0,
        3.0,
        "No worker is nearer to a model than to every person; notice above 3.",
    ),
    (
        "repeated",
        0.0,
        0.2,
        "No worker gave 3 or more answers that are alike; alarm from 20% of the pairs of a "
        "worker's answers on.",
    ),
    ("too_few", 2.0, 3.0, "Workers: 2; notice below 3."),
    ("too_few", 4.0, 0.0, "Workers without a rank: 4; information from 1 on."),
    (
        "model_like",
        4.04,
        3.0,
        "Nearer to the model than to any person by 4.0 times what chance does; notice above 3.",
    ),
    ("concentrated_weight", 0.2, 0.33, "Effective share of voters: 20%; notice below 33%."),
    (
        "unstable_ranking",
        0.42,
        0.5,
        "Rank correlation with other questions: 0.42; notice below 0.50.",
    ),
    ("no_convergence", 0.012, 0.0001, "The last change was 0.01; the limit is 0.0001."),
    (
        "repeated",
        0.75,
        0.2,
        "Up to 75% of the pairs of a worker's own answers are the same or nearly the same text; "
        "alarm from 20% on.",
    ),
    (
        "identical_answers",
        0.875,
        0.5,
        "88% of the answers of two workers are the same text; alarm above 50%.",
    ),
    (
        "agreement_of_starts",
        -0.2,
        0.5,
        "Started from either camp, the orders agree by -0.20; below 0.50 they contradict each "
        "other.",
    ),
]


def test_every_fact_and_verdict_has_its_sentence_here():
    codes = {code for code, _, _ in SENTENCES}
    facts = {code for code in TRUST if code.endswith((".said", ".headline", ".text"))}
    # What is so says a warning of the run.
    assert {code for code in facts if TRUST[code]} <= codes


@pytest.mark.parametrize(("case", "statistic", "threshold", "sentence"), MEASURES)
def test_a_statistic_and_its_threshold_are_a_sentence(case, statistic, threshold, sentence):
    assert format_statistic(case, statistic, threshold) == sentence


def test_every_measure_is_here_and_is_empty_without_a_number():
    assert {case for case, *_ in MEASURES} == MEASURED.keys()
    assert format_statistic("copies", None, 0.5) == format_statistic("unheard", 0.1, 0.5) == ""


def test_alarms_have_a_title_and_marks_are_shorter():
    assert TITLES == {
        "copies": "Copied or nearly copied answers",
        "copies_in_part": "A part of the answers is shared word for word",
        "clique": "A camp of very similar answers",
        "two_camps": "Two camps in the crowd",
        "two_camps_of_questions": "Two camps on single questions",
        "leverage": "The ranking depends on one worker",
        "grader_disagreement": "Grading by words alone ranks otherwise",
        "repeated": "The same text to different questions",
        "dont_know": "“I don't know”, again and again",
        "model_like": "Answers near to a language model's",
        "concentrated_weight": "Few workers decide",
        "unstable_ranking": "Other questions would give another ranking",
        "no_convergence": "The grades did not settle",
        "too_few": "Too few answers to compare",
        "identical_answers": "The same text from two workers",
        "agreement_of_starts": "Where the grading starts decides who wins",
    }
    assert BRIEFLY == {
        "copies": "answers copied or nearly copied",
        "copies_in_part": "shares some answers word for word",
        "clique": "in a camp of very similar answers",
        "leverage": "the whole ranking depends on this person",
        "repeated": "the same text to different questions",
        "dont_know": "often answers “I don't know”",
        "model_like": "answers near to a language model's",
    }
