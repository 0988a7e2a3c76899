"""The sentences of codes that runs of a kind store, and of problems with their options."""

import pytest

from evaluation.core.options import SITE, build_problem
from evaluation.eloquent.options import EloquentRunOptions
from evaluation.maqa.options import MaqaRunOptions
from evaluation.maqa.report import MeasureResult, _describe_best_measure
from evaluation.multiqa.options import MultiqaRunOptions
from evaluation.umwp.options import UmwpRunOptions
from tests.sentences import site_sentence, terminal_sentence

BETWEEN = {"value": 1.0, "low": 0.9, "high": 1.0, "questions": 12, "models": 1}
AGAINST = {"gain": -0.75, "gain_low": -0.9, "gain_high": -0.6, "n_gain": 12}
MEAN = {"mean": 1.0, "low": 0.75, "high": 1.0, "highest": 1.0, "questions": 12}


@pytest.mark.parametrize(
    ("code", "values", "sentence"),
    [
        (
            "judge.itself",
            {"same": 1.0},
            "Asked again about the same answer, it gives the same score in 100% of cases.",
        ),
        (
            "judge.order",
            {"same": 0.5, "place": "first", "share": 0.75},
            "Shown two answers in the other order, it keeps its verdict in 50% of pairs: it "
            "prefers what is shown first (75% of verdicts).",
        ),
        (
            "judge.corrected",
            {"kind": "too kind", "error": 0.5, "mean": 3.0, "low": 2.5, "high": 3.5}
            | {"judge": 3.5, "graded": 2.75},
            "It is too kind by 0.50 on average. Corrected by that, workers' answers have a mean "
            "grade of 3.00 (95% interval 2.50 to 3.50). The judge's mean is 3.50; the experts' "
            "mean of their graded answers is 2.75.",
        ),
        (
            "judge.no_judgements",
            {},
            "No expert has judged an answer, so the judge's error is not known: agreement with "
            "itself and with AQER does not show that it is right. Let an expert judge "
            "some answers",
        ),
        (
            "multiqa.right",
            {"system": "shaky", "accuracy": 1.0, "worst": 0.0, "n": 4},
            "shaky answers 100% of 4 questions correctly in the original wording and 0% in every "
            "wording.",
        ),
        (
            "crowd_size.enough",
            {"by": "workers", "measure": "workers", "full": 9, "enough": 4, "plateau": 4}
            | {"correlation": 0.9},
            "With 4 workers you reach 95% of the agreement with the experts about workers that 9 "
            "give (correlation 0.90; 1 is perfect), and nothing is gained beyond them.",
        ),
        (
            "crowd_size.by_workers",
            {"judged": 54, "judged_workers": 9},
            "It rests on experts' grades of 54 answers of 9 workers: each worker's mean score "
            "is compared with the mean of these grades.",
        ),
        (
            "crowd_size.by_crowd",
            {"workers": 9},
            "No expert has judged an answer, so smaller crowds are compared with the result of the "
            "whole crowd of 9. This shows when the result settles, not when it is right; let an "
            "expert judge some answers to learn that.",
        ),
        (
            "panels.farther_than_halves",
            {"questions": 12, "cosine": 0.25, "halves": 0.75},
            "Models agree on other answers than people do: over 12 questions the cosine of "
            "their consensus and people's is 0.25 (1: same meaning); that of two random halves "
            "of the people is 0.75.",
        ),
        (
            "panels.models_copy",
            {},
            "Models learn from the same texts and from each other, so they can agree and be wrong "
            "together. A panel of models measures how much a model is like other models; only "
            "people, or an answer key, can show whether that is right.",
        ),
        (
            "panels.models_alike",
            {"of_models": 0.75, "of_people": 0.5},
            "Here the answers of two models to a question are more similar (0.75; 1: same "
            "meaning) than those of two people (0.50).",
        ),
        (
            "panels.without_flagged",
            {"workers": 1, "cosine": 0.75, "swapped": 0, "pairs": 3},
            "Without the 1 worker named by an alarm for possible answers by a model, the cosine "
            "of the people's consensus and the earlier one is 0.75 (1: same meaning), and 0 of "
            "3 pairs of models change places.",
        ),
        (
            "panels.few_models",
            {"models": 1},
            "Only 1 model answered, and weights by quality need 3: here every model has the "
            "same vote.",
        ),
        (
            "graded.few_workers",
            {"count": 0, "fewest": 5},
            "0 workers of the file have 5 graded answers or more, and it takes 3 to compare any: "
            "grade more of them, or take out the column of the worker, so that workers are dealt "
            "from the answers",
        ),
        (
            "views.uncertainty_distance.untold",
            BETWEEN | {"value": 0.1, "low": -0.2, "high": 0.4, "models": 2, "smallest": 0.5},
            "Not decided by these answers (rank correlation 0.10, 95% interval -0.20 to 0.40, "
            "12 questions and 2 models). So few questions of one model mostly cannot show a "
            "relation weaker than about 0.50.",
        ),
        (
            "views.robustness_distance.yes",
            BETWEEN,
            "Yes: where a model's replies keep their meaning, its answer is closer to people's "
            "(rank correlation 1.00, 95% interval 0.90 to 1.00, 12 questions).",
        ),
        (
            "views.sure.yes",
            BETWEEN,
            "Yes: it is less sure where its answers are farther from people's (rank correlation "
            "1.00, 95% interval 0.90 to 1.00, 12 questions).",
        ),
        (
            "views.sure.no",
            BETWEEN,
            "No, the other way round: it is surer where its answers are farther from people's "
            "(rank correlation 1.00, 95% interval 0.90 to 1.00, 12 questions).",
        ),
        (
            "views.mean_robustness",
            {**MEAN, **AGAINST, "title": "Steadiness", "against": "worse"},
            "Asked the same in other words, “Steadiness” is 1.00 of 1 (95% interval 0.75 to 1.00, "
            "12 questions); 0.75 worse than the other models' mean (95% interval 0.60 to 0.90, 12 "
            "questions).",
        ),
        (
            "views.mean_answerability",
            {**MEAN, **AGAINST, "against": ""},
            "It notices rightly of 100% of 12 questions (95% interval 75% to 100%) whether there "
            "is an answer; there is no other model to compare it with.",
        ),
        (
            "views.crowd_percentile",
            {"value": 62.4},
            "62 of 100 people are less near to the consensus of the others than it is.",
        ),
        (
            "study_replies_cut_off",
            {"count": 3, "names": "small", "raise": "max_tokens"},
            "Replies that were cut off before an answer came, because their length was used up: 3 "
            "(small). They count in no number. Raise “Longest reply” and start the run again",
        ),
        (
            "study_replies_cut_off",
            {"count": 1, "names": "kind one", "raise": ""},
            "Replies that were cut off before an answer came, because their length was used up: 1 "
            "(kind one). They count in no number. Raise max_tokens in the parameters of the "
            "registered model and start the run again",
        ),
        (
            "umwp.not_math",
            {"count": 2, "questions": 8},
            "Not mathematical: 2 of 8 questions, by accepted answers and wording. For these a "
            "letter in an answer does not count as a variable, and numbers are compared only where "
            "one is accepted",
        ),
    ],
)
def test_what_runs_find_is_told_by_its_code(code, values, sentence):
    assert site_sentence(code, **values) == sentence


@pytest.mark.parametrize(
    ("code", "values", "sentence"),
    [
        (
            "divided_by_commas",
            {"count": 1},
            "Replies that divide their answers by commas where right answers hold commas: 1. Ask "
            "for a JSON list, or for a line for each answer.",
        ),
        (
            "umwp.threshold_not_tuned",
            {},
            "The threshold is the paper's and was not tuned for these templates. Check the classes "
            "in items.csv; --threshold sets another threshold.",
        ),
        (
            "umwp.not_every_reply",
            {},
            "Some systems lack replies to some problems (exclusions, error and no_reply): their "
            "numbers are over different problems.",
        ),
    ],
)
def test_warnings_of_files_are_told_by_their_code(code, values, sentence):
    assert terminal_sentence(code, **values) == sentence


MULTIQA = [
    (build_problem("no_models", "models"), "choose at least one model"),
    (
        build_problem("no_wordings", "rewriter"),
        "no question has a rewording: choose a “Rewriter”, or add variants to the questions",
    ),
    (
        build_problem("no_ruler"),
        "no reply can be scored: add accepted answers to the questions, or collect workers' "
        "answers and choose “Compute the crowd score”",
    ),
    (
        build_problem("bad_question", question="q1", reason="it has no choices"),
        "question q1 cannot be scored: it has no choices",
    ),
]
ELOQUENT = [
    (build_problem("no_models", "models"), "choose at least one model"),
    (
        build_problem("no_wordings"),
        "no question has two wordings in one language: upload prompts with the same "
        "meaning, or add variants to the questions",
    ),
    (
        build_problem("unknown_models", "models", missing=1),
        "1 of the models are not there, or not yours to ask",
    ),
    (
        build_problem(
            "bad_changed_wordings", "changed_wordings", reason="line 2: the item is missing"
        ),
        "“Changed wordings”: line 2: the item is missing",
    ),
    (
        build_problem(
            "bad_judge_instructions", "judge_instructions", reason="line 2: the item is missing"
        ),
        "“Instructions to judges for single questions”: line 2: the item is missing",
    ),
]
MAQA = [
    (build_problem("no_models", "models"), "choose at least one model"),
    (build_problem("no_text"), "no question of the set has a text"),
]
UMWP = [
    (build_problem("no_models", "models"), "choose the models to ask"),
    (build_problem("no_form"), "choose at least one prompt form"),
    (build_problem("no_questions"), "the version has no question with a text"),
]


@pytest.mark.parametrize(
    ("options", "wrong", "sentence"),
    [
        (options, *one)
        for options, told in (
            (MultiqaRunOptions, MULTIQA),
            (EloquentRunOptions, ELOQUENT),
            (MaqaRunOptions, MAQA),
            (UmwpRunOptions, UMWP),
        )
        for one in told
    ],
)
def test_what_is_wrong_with_options_is_told_by_its_code(options, wrong, sentence):
    assert SITE.format_field_problem(options, wrong) == sentence


def maqa_measure(auroc, low=None, title="Entropy", n=4, why=""):
    """A measure of how sure a model is, with the area under its curve."""
    rates = (None, None, None, None)
    return MeasureResult("entropy", title, "", "", auroc, low, 0.99, *rates, n, "", why)


@pytest.mark.parametrize(
    ("measures", "n", "sentence"),
    [
        (
            [maqa_measure(0.9, 0.8)],
            0,
            "Not measured: no question has a known right answer.",
        ),
        (
            [maqa_measure(None, n=0, why="not asked for"), maqa_measure(None, why="all right")],
            4,
            "Not measured: all right",
        ),
        ([], 4, "Not measured: no measure of confidence has values"),
        (
            [maqa_measure(0.9), maqa_measure(0.7, 0.5)],
            4,
            "No measure of confidence is shown to be higher where the model is right.",
        ),
        (
            [maqa_measure(0.75, 0.6), maqa_measure(0.8, 0.51, "Margin"), maqa_measure(0.9, 0.5)],
            4,
            "Margin separates right from wrong best: AUROC 0.80 (0.51 to 0.99).",
        ),
    ],
)
def test_whether_a_model_knows_when_it_is_right(measures, n, sentence):
    assert _describe_best_measure(measures, n) == sentence
