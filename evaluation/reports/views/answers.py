"""Answers of models as all views show them: all numbers, or the texts where views disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotations.models import Question
from annotations.web.texts import ANSWER_SHOWN, beginning, shortened
from evaluation.flow.views.finding import DisagreementRow, disagreement_of, disagreement_rows
from evaluation.flow.views.summary import ViewsSummary
from evaluation.methods.undefined import or_none
from evaluation.models import ExemplaryAnswer, LLMResponse, Run
from evaluation.models.runs import GRADING
from evaluation.reports.values import Stretch
from evaluation.reports.views.report import ViewShown, view_shown
from evaluation.steps.views import together_of
from evaluation.words.views import place_said

DISAGREEMENTS_SHOWN = 10
ANSWERS_SHOWN = 50


@dataclass(frozen=True)
class DisagreementShown:
    """An answer on which views disagree, with texts, which are cut; "" for none.

    `best` and `worst` are sentences about the two views that are farthest apart.
    """

    model: str
    question: str
    text: str
    answer: str
    nearest: str
    strength: float
    best: str
    worst: str


class DisagreementsPage(Stretch[DisagreementShown]):
    """Some of the answers on which views disagree, the strongest first; `total` of all."""


@dataclass(frozen=True)
class AnswerNumbers:
    """A model on a question: the number of each view, None where it is not known.

    `strength` is how far the sides are apart, None with fewer than two; `place` that of the model.
    """

    question: str
    model: str
    place: int
    numbers: list[float | None]
    strength: float | None


@dataclass(frozen=True)
class AnswersPage(Stretch[AnswerNumbers]):
    """Some answers with all their numbers, the strongest disagreement first; `total` of all."""

    views: list[ViewShown]

    @property
    def shown(self) -> list[dict[str, Any]]:
        """The rows with the view of each number, for a table."""
        return [
            {**vars(row), "cells": list(zip(self.views, row.numbers, strict=True))}
            for row in self.rows
        ]


def disagreements(
    run: Run, start: int = 0, size: int = DISAGREEMENTS_SHOWN, model: str = ""
) -> DisagreementsPage:
    """Return answers on which views disagree, by five queries; `model` picks those of one."""
    summary = ViewsSummary.of(run.summary)
    together = together_of(run, summary)
    rows = disagreement_rows(together, disagreement_of(together))
    if model:
        rows = [row for row in rows if row.model == model]
    shown = rows[start : start + size]
    texts = _Texts(run, shown)
    sides = {one.view.name: str(one.view.side) for one in summary.views}
    return DisagreementsPage(
        [
            DisagreementShown(
                row.model,
                row.question,
                texts.question(row.question),
                texts.answer(row.model, row.question),
                texts.nearest(row.question),
                row.strength,
                place_said(sides[row.best_view], row.best_place, best=True),
                place_said(sides[row.worst_view], row.worst_place, best=False),
            )
            for row in shown
        ],
        start,
        len(rows),
    )


def answers_page(
    run: Run, start: int = 0, size: int = ANSWERS_SHOWN, place: int | None = None
) -> AnswersPage:
    """Return answers with all their numbers, by one query; `place` picks those of a model.

    Those with one side or none come last, in the order of the questions.
    """
    summary = ViewsSummary.of(run.summary)
    together = together_of(run, summary)
    found = disagreement_of(together)
    places = [place] if place is not None else list(range(len(summary.models)))
    known = np.asarray(together.known.any(axis=0))[places].T
    question, model = np.nonzero(known)
    strength = found.strength[places].T[question, model]
    order = np.argsort(-np.where(np.isnan(strength), -1.0, strength), kind="stable")
    rows = [
        AnswerNumbers(
            together.questions[question[at]],
            together.models[places[model[at]]],
            places[model[at]],
            [or_none(value) for value in together.values[:, places[model[at]], question[at]]],
            or_none(strength[at]),
        )
        for at in order[start : start + size].tolist()
    ]
    views = [view_shown(summary, one) for one in summary.views]
    return AnswersPage(rows, start, len(order), views)


class _Texts:
    """The texts of some answers: what was asked, what the model said, who is nearest to all."""

    def __init__(self, run: Run, rows: list[DisagreementRow]) -> None:
        ids = {row.question for row in rows}
        asked = Question.objects.filter(version=run.version_id, external_id__in=ids)
        self._asked = dict(asked.values_list("external_id", beginning("text", ANSWER_SHOWN)))
        answers = LLMResponse.objects.filter(
            question__version=run.version_id,
            question__external_id__in=ids,
            model__name__in={row.model for row in rows},
            sample=0,
        )
        # The latest asking last, which is the one that counts.
        self._answers = {
            (model, question): text
            for model, question, text in answers.order_by("asked_at", "pk").values_list(
                "model__name", "question__external_id", beginning("text", ANSWER_SHOWN)
            )
        }
        source = next(
            (one for one in ViewsSummary.of(run.summary).sources if one.kind == GRADING), None
        )
        nearest = ExemplaryAnswer.objects.none()
        if source is not None:
            nearest = ExemplaryAnswer.objects.filter(
                run__public_id=source.run, question__external_id__in=ids
            )
        self._nearest = dict(
            nearest.values_list(
                "question__external_id", beginning("nearest_response__text", ANSWER_SHOWN)
            )
        )

    def question(self, question: str) -> str:
        return shortened(self._asked.get(question), ANSWER_SHOWN)

    def answer(self, model: str, question: str) -> str:
        return shortened(self._answers.get((model, question)), ANSWER_SHOWN)

    def nearest(self, question: str) -> str:
        return shortened(self._nearest.get(question), ANSWER_SHOWN)
