"""Warnings about a UMWP run, by message code."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.core.messages.message import Sentence

UMWP: Mapping[str, Sentence] = {
    "umwp.not_every_reply": "Some systems lack replies to some problems (exclusions, error and "
    "no_reply): their numbers are over different problems.",
    "umwp.threshold_not_tuned": "The threshold is the paper's and was not tuned for these "
    "templates. Check the classes in items.csv; {option[threshold]} sets another threshold.",
    "umwp.incomplete": "Some requests failed, so the numbers of the models are over different "
    "questions. Start the run again: only the missing replies are requested",
    "umwp.no_labels": "No question is labelled as answerable or unanswerable, so no score is "
    "computed: the run shows how each model classifies the questions",
    "umwp.not_math": "Not mathematical: {count} of {questions:question}, by accepted answers and "
    "wording. For these a letter in an answer does not count as a variable, and numbers are "
    "compared only where one is accepted",
}
"""By code."""
