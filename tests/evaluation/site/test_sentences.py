"""Each sentence of the site's own small catalogues, once, by its code."""

import pytest

from evaluation.grading.alarms.storage import REVIEW_PROBLEMS, ReviewError
from evaluation.grading.results.charts.answers import LITTLE_HELD, RESULT
from evaluation.runs.reports.planner import NO_PLAN
from evaluation.site.judging import PROBLEMS
from evaluation.templatetags.kinds import STATUSES
from evaluation.triage.storage import VERDICT_PROBLEMS, VerdictError
from evaluation.triage.views.exclusion import ACCEPT_PROBLEMS
from evaluation.trust.report.summary import BEYOND, NO_INTERVALS, NOTHING_BEYOND

VALUES = {
    "reason_too_long": {"longest": 1600},
    "note_too_long": {"longest": 2000},
}
CATALOGUES = {
    "judging": (
        PROBLEMS,
        {
            "grade": "Choose a grade from 0 to 5.",
            "answer": "Choose one of the answers below.",
        },
    ),
    "verdicts": (
        VERDICT_PROBLEMS,
        {
            "unknown_decision": "Choose what you decide: accept, look again or exclude.",
            "reason_too_long": "At most 1,600 characters.",
            "reason_no_text": "There is a character in it that is no text.",
            "category_missing": "Choose why the worker is excluded.",
            "reason_missing": "Write why the worker is excluded.",
            "machine_is_no_reason": "Panels do not take a suspicion of machine-written answers as "
            "a reason to refuse pay. Exclude without rejecting the work, or choose what can be "
            "shown.",
            "nothing_to_take_back": "There is nothing to take back: there is no decision about "
            "this worker.",
        },
    ),
    "accepting": (
        ACCEPT_PROBLEMS,
        {
            "none_left": "No worker is left to accept.",
            "moved": "A decision was made or an alarm changed after you opened this page. No "
            "one was accepted. Check the current list below, then accept.",
        },
    ),
    "reviews": (
        REVIEW_PROBLEMS,
        {
            "unknown_state": "Choose what you made of it.",
            "note_too_long": "At most 2,000 characters.",
            "reason_missing": "Explain why the alarm is no reason to doubt these grades.",
            "run_missing": "Choose the run that was made with the remedy.",
            "no_later_run": "That is no later run over the same questions.",
        },
    ),
    "planner": (
        NO_PLAN,
        {
            "distances": "The formulas are for similarities from 0 to 1; this run compares by "
            "distance.",
            "no_scores": "It needs questions with at least two answers, and a run that recorded "
            "their mean scores: grade again if this one is older.",
            "nothing_in_common": "The answers have nothing in common, so more of them would not "
            "help.",
        },
    ),
    "summary": (
        BEYOND,
        {
            "leave_one_out": "answers compared with the others' exemplary answer throughout",
            "difficulty": "questions' difficulty taken out",
            "discrimination": "questions weighted by how well they separate workers",
            "question_contrast": "agreement with other questions' exemplary answers subtracted",
            "exclude_workers": "workers excluded",
            "collapse_copies": "copies collapsed",
            "weight_cap": "votes capped",
            "unit_length": "vectors of unit length",
            "camps": "several right answers",
            "anchors": "experts' grades used",
            "suggest_anchors": "answers suggested for experts",
            "spelling": "spelling corrected",
        },
    ),
    "statuses": (
        STATUSES,
        {
            "refused_prompt": "refused before it answered",
            "refused_generation": "refused while it answered",
            "cut_off": "cut off before an answer",
        },
    ),
    "single sentences": (
        {
            "little_held": LITTLE_HELD,
            "result": RESULT,
            "nothing_beyond": NOTHING_BEYOND,
            "no_intervals": NO_INTERVALS,
        },
        {
            "little_held": "That is little: choose the directions of this question alone above.",
            "result": "This is the result.",
            "nothing_beyond": "Nothing beyond the published method was switched on.",
            "no_intervals": "Bootstrap intervals were switched off.",
        },
    ),
}


@pytest.mark.parametrize("name", CATALOGUES)
def test_every_code_of_a_catalogue_has_its_sentence(name):
    catalogue, expected = CATALOGUES[name]
    assert {
        code: sentence.format(**VALUES.get(code, {})) for code, sentence in catalogue.items()
    } == expected


@pytest.mark.parametrize(
    ("error", "catalogue"), [(VerdictError, VERDICT_PROBLEMS), (ReviewError, REVIEW_PROBLEMS)]
)
def test_an_error_says_the_sentence_of_its_code(error, catalogue):
    for code, sentence in catalogue.items():
        values = VALUES.get(code, {})
        raised = error(code, "field", **values)
        assert (raised.code, raised.field) == (code, "field")
        assert str(raised) == sentence.format(**values)
