"""What to know of a run that asks whether models notice that there is no answer."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.words.message import Sentence

UMWP: Mapping[str, Sentence] = {
    "umwp.not_every_reply": "Not every system has a reply to every problem (exclusions, error and "
    "no_reply): their numbers are over different problems.",
    "umwp.threshold_not_tuned": "The threshold is the paper's, and was not tuned for these "
    "templates: items.csv says what it took for unanswerable; {option[threshold]} sets another.",
    "umwp.incomplete": "Some replies could not be fetched, so the numbers of the models are over "
    "different questions: start the run again to ask for these only",
    "umwp.no_labels": "No question says whether it has an answer, so nobody can say whether the "
    "models are right: the run tells what they take for unanswerable",
    "umwp.not_math": "Not mathematical: {count} of {questions:question}, by their accepted "
    "answers and wordings. For them no letter in an answer counts as a variable, and no number is "
    "compared unless one is accepted",
}
"""By code."""
