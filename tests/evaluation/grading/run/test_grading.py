"""A whole grading on plain records: what reaches which stage, and what is said of it."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from annotations.exchange import AnswerStatus
from evaluation.consensus import AQER
from evaluation.consensus.inputs import (
    Answers,
    EmbeddedAnswers,
    ModelAnswers,
    select_graded_answers,
)
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import collect_versions
from evaluation.core.backends import EmbedderInfo
from evaluation.core.messages.message import Message
from evaluation.core.stats.simulation import build_correlated_weak_groups, simulate_crowd
from evaluation.grading.crowd import build_labels
from evaluation.grading.run import grading as flow
from evaluation.grading.run.fitting import classify_reply_status
from evaluation.grading.run.grading import grade_answers
from evaluation.grading.run.results import GradeChanges, build_grades_and_ranks

CROWD = simulate_crowd(build_correlated_weak_groups(0.8, n_workers=12), 12, 40, seed=0)
ROWS = [
    (key, f"w{worker}", f"q{question}", f"answer number {key} of them", False)
    for key, (worker, question) in enumerate(zip(CROWD.workers, CROWD.questions, strict=True))
]
# The last one has no text, and one was rejected.
ROWS += [(900, "w0", "more", "", False), (901, "w1", "more", "no", True)]
SPOKEN = [
    (7, "m1", "q0", "said", AnswerStatus.TEXT, 0),
    (8, "m1", "q1", "", AnswerStatus.EMPTY, 0),
    (9, "m2", "q0", "told", AnswerStatus.TEXT, 0),
]
OF_MODELS = np.random.default_rng(0).normal(size=(2, 40))
INFO = EmbedderInfo("spec", "model", "rev", "bfloat16", 40, versions={"library": "7"})
CUT = Message("truncated", {"answers": 1, "tokens": 8, "model": "model"})


def given(models=True, **parameters):
    asked = AqerParameters(embedder="precomputed:none", **{"bootstrap": 0, **parameters})
    return select_graded_answers(
        asked, Answers.from_rows(ROWS), ModelAnswers.from_rows(SPOKEN) if models else None
    )


def graded(chosen=None, progress=None, kept=None, embedded=None, **parameters):
    def embed(texts, of_models):
        made = None if of_models is None else OF_MODELS
        return EmbeddedAnswers(CROWD.vectors, made, INFO, [CUT])

    chosen = given(**parameters) if chosen is None else chosen
    return grade_answers(chosen, embed, progress, kept)


def plain(**switches):
    columns = (CROWD.vectors, np.array([r[1] for r in ROWS[:-2]]), [r[2] for r in ROWS[:-2]])
    return AQER(n_draws=0, **switches).fit(*columns)


def test_answers_with_a_text_are_graded_and_models_scored_against_them():
    found = graded()
    assert found.graded.plain is None
    np.testing.assert_array_equal(found.graded.aqer.raw_, plain().raw_)
    wanted = plain().score_models(
        np.array([OF_MODELS[0], np.zeros(40), OF_MODELS[1]]),
        ["m1", "m1", "m2"], ["q0", "q1", "q0"], ["text", "no_text", "text"],
    )  # fmt: skip
    np.testing.assert_array_equal(found.graded.models.answer_scores, wanted.answer_scores)
    assert found.graded.models.answer_reasons == wanted.answer_reasons
    assert graded(models=False).graded.models is None


def test_a_grading_started_by_entailment_has_the_scores_of_the_model_that_is_named(monkeypatch):
    asked = []
    first = np.random.default_rng(3).random(len(CROWD.workers))
    monkeypatch.setattr(flow, "compute_entailment_scores", lambda *of: asked.append(of) or first)

    def progress(*of):
        pass

    found = graded(progress=progress, init="entailment", nli="a model", max_iterations=1)
    ((name, texts, questions, told),) = asked
    assert (name, told) == ("a model", progress)
    assert texts == [row[3] for row in ROWS[:-2]]
    assert questions == [row[2] for row in ROWS[:-2]]
    columns = (CROWD.vectors, build_labels([r[1] for r in ROWS[:-2]]), build_labels(questions))
    wanted = AQER(n_draws=0, init="entailment", max_iterations=1).fit(*columns, first)
    np.testing.assert_array_equal(found.graded.aqer.raw_, wanted.raw_)
    asked.clear()
    graded()
    assert asked == []


def test_without_another_way_texts_are_embedded_as_the_parameters_say(monkeypatch):
    asked = []

    def embed(parameters, texts, of_models, progress=None):
        asked.append((parameters.embedder, list(texts)[:1], list(of_models), progress))
        return EmbeddedAnswers(CROWD.vectors, OF_MODELS, INFO)

    def progress(*of):
        pass

    monkeypatch.setattr(flow, "embed", embed)
    grade_answers(given(), progress=progress)
    assert asked == [("precomputed:none", ["answer number 0 of them"], ["said", "told"], progress)]


class Draws:
    """Draws that were put aside: none, and those that are kept."""

    def __init__(self):
        self.widths = []

    def begin_bootstrap(self, bootstrap):
        pass

    def read_stored_draws(self):
        return None

    def store_draws(self, raw, votes):
        self.widths.append(raw.shape[1])


@pytest.mark.parametrize("remedy", [{}, {"weight_cap": 0.5}])
def test_draws_are_told_and_put_aside(remedy):
    told, kept = [], Draws()
    found = graded(progress=lambda *of: told.append(of), kept=kept, bootstrap=6, **remedy)
    assert len(found.graded.aqer.draw_agreement_) == 6
    assert kept.widths[-1] == 6
    assert ("intervals", 6, 6) in told
    assert told[-2:] == [("alarms", 0, 1), ("alarms", 1, 1)]
    assert {name for name, *_ in told} == {"intervals", "alarms"}


def test_excluded_workers_and_experts_grades_reach_the_remedies():
    asked = given(models=False, anchors=True, exclude_workers=("w11",))
    rows = [row for row in range(len(CROWD.workers)) if CROWD.questions[row] < 3]
    right = [float(CROWD.vectors[r] @ CROWD.truth[CROWD.questions[r]]) for r in rows]
    chosen = replace(asked, excluded=["w11"], anchors=list(zip(rows, right, strict=True)))
    found = graded(chosen)
    report = found.graded.remedies
    assert (report.excluded, report.n_anchors) == (1, len(rows))
    assert report.candidates.rankings[report.choice.place].name != "default"
    assert np.isnan(found.graded.aqer.grades_[11])
    # Alarms are those of the crowd without him, and name the others.
    named = {worker for alarm in found.alarms.found for worker in alarm.workers}
    assert "w11" not in named
    assert "w10" in named
    before, after = (
        build_grades_and_ranks(found.graded.plain),
        build_grades_and_ranks(found.graded.aqer),
    )
    assert found.compute_changes() == GradeChanges.from_gradings(
        [f"w{n}" for n in range(12)], before, after
    )
    assert graded().compute_changes() is None


def test_models_have_their_names_in_alarms(monkeypatch):
    asked = []
    original = flow.detect_alarms
    monkeypatch.setattr(flow, "detect_alarms", lambda *of: asked.append(of) or original(*of))
    graded(replace(given(), model_names={"m1": "SmolLM"}))
    parameters, _, answers, progress, names, _ = asked[0]
    assert names == {"m1": "SmolLM"}
    assert parameters.embedder == "precomputed:none"
    assert (answers.models.models, answers.models.questions) == (
        ["m1", "m1", "m2"], ["q0", "q1", "q0"],
    )  # fmt: skip
    assert answers.models.statuses == [row[4] for row in SPOKEN]
    assert progress is None


def test_the_signature_has_what_was_used_and_not_what_was_asked_for():
    text = graded().build_signature("ab" * 32)
    assert text.startswith("aqer|embedder:model|revision:rev|precision:bfloat16|")
    assert "|inputs:abababababab|" in text


def test_warnings_are_of_the_texts_then_of_the_grading_then_of_the_remedies():
    codes = [message.code for message in graded(weight_cap=0.5).warnings]
    assert codes == ["truncated", "rejected_answers", "empty_answers", "model_replies_empty"]
    found = graded(replace(given(collapse_copies=True, camps=True), n_repeated=4))
    codes = [message.code for message in found.warnings]
    assert codes[:4] == ["truncated", "repeated_rows", "rejected_answers", "empty_answers"]
    assert codes[-1] == "no_question_camps" or "groups_not_collapsed" in codes
    counts = {message.code: message.values.get("count") for message in found.warnings}
    assert (counts["repeated_rows"], counts["rejected_answers"], counts["empty_answers"]) == (
        4, 1, 1,
    )  # fmt: skip


def test_short_answers_are_warned_of_by_the_texts_that_were_graded():
    rows = [(*row[:3], "yes", False) for row in ROWS[:-2]]
    asked = AqerParameters(embedder="precomputed:none", bootstrap=0)
    found = graded(select_graded_answers(asked, Answers.from_rows(rows)))
    assert "short_answers_unmeasured" in [message.code for message in found.warnings]


def test_the_summary_says_how_the_numbers_were_made():
    found = graded()
    aqer = found.graded.aqer
    assert found.build_summary() == {
        "iterations": aqer.n_iter_,
        "converged": aqer.converged_,
        "trace": aqer.trace_,
        "ceiling": asdict(aqer.ceiling_),
        "embedding": {
            "spec": "spec", "model": "model", "revision": "rev", "precision": "bfloat16",
            "dimension": 40, "max_length": None, "languages": None, "binary": False,
        },
        "alarm_checks": found.alarms.convert_checks(),
        "length": {"correlation": None, "n": 12, "reason": "no_spread"},
        "versions": collect_versions({"library": "7"}),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (AnswerStatus.TEXT, "text"),
        (AnswerStatus.EMPTY, "no_text"),
        (AnswerStatus.REFUSED, "no_text"),
        (AnswerStatus.REFUSED_PROMPT, "no_text"),
        (AnswerStatus.ERROR, "error"),
    ],
)
def test_what_came_instead_of_a_text_counts_nought_but_an_error_does_not_count(status, kind):
    assert classify_reply_status(status) == kind


def test_ids_are_an_array_of_text_unless_one_is_very_long():
    assert build_labels(["a", "bc"]).dtype.kind == "U"
    assert build_labels(["a" * 200, "b"]).dtype.kind == "U"
    assert build_labels(["a" * 201, "b"]).dtype.kind == "O"
    assert build_labels([1, 2]).dtype.kind == "i"
