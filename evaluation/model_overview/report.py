"""Report of a model overview run: all views of models, answers one by one, and tables."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from annotations.models import Question
from annotations.web.texts import ANSWER_SHOWN, select_beginning, shorten_text
from evaluation.core.estimates import ComputedPage
from evaluation.core.options import SITE
from evaluation.core.stats.cells import convert_nan_to_none
from evaluation.core.stats.inference.estimate import Estimate
from evaluation.model_overview.messages import CLAIMS, QUESTIONS, format_answer_rank
from evaluation.model_overview.run.conclusions import (
    ModelEvidence,
    answer_questions,
    build_mean_sentence_values,
    build_model_evidence,
    iterate_cell_rows,
    iterate_model_rows,
    list_cell_columns,
)
from evaluation.model_overview.run.findings import (
    CorrelationRow,
    DisagreementRow,
    ModelResultRow,
    SummaryMeasure,
    ViewsSummary,
    build_disagreement_rows,
    compute_aspect_disagreement,
)
from evaluation.model_overview.storage import load_stored_metrics
from evaluation.models import ExemplaryAnswer, LLMResponse, Run
from evaluation.models.runs import GRADING
from evaluation.runs.reports.lists import Table


@dataclass(frozen=True)
class ViewRow:
    """A measure of models (a "view" on the pages) with its texts for readers and its source run.

    `leads`: whether it is its aspect's (`side`) main measure. `better`: "higher", "lower" or "".
    """

    name: str
    side: str
    title: str
    words: str
    better: str
    of: str
    leads: bool
    n_answers: int
    run: str


@dataclass(frozen=True)
class SourceRow:
    """A run from which the overview takes measures of models."""

    renamed_keys: ClassVar = {"kind": "run_type"}

    kind: str
    title: str
    run: str
    signature: str


@dataclass(frozen=True)
class AnsweredQuestionRow:
    """A question about two measures of models, and its answer as a sentence."""

    renamed_keys: ClassVar = {"said": "message"}

    name: str
    question: str
    said: str


@dataclass(frozen=True)
class ClaimEvidenceRow:
    """A sentence about a model, with the measure and the run that support it."""

    renamed_keys: ClassVar = {"said": "message"}

    said: str
    view: str
    title: str
    source: str
    run: str


@dataclass(frozen=True)
class ClaimRow:
    """A question about a model with the evidence; `missing` lists the aspects without results."""

    name: str
    question: str
    evidence: list[ClaimEvidenceRow]
    missing: list[str]


@dataclass(frozen=True)
class ModelEvidenceReport:
    """Evidence about one model from all measures; `place` is its index in its page's URL."""

    model: str
    place: int
    claims: list[ClaimRow]


@dataclass(frozen=True)
class ViewsReport:
    """Results of a model overview: measures, models, correlations and ranks.

    Attributes
    ----------
    missing : aspects without results. answered : questions about views with their answers.
    """

    questions: int
    answers: int
    repeated: int
    sources: list[SourceRow]
    views: list[ViewRow]
    missing: list[str]
    answered: list[AnsweredQuestionRow]
    models: list[ModelEvidenceReport]
    correlations: list[CorrelationRow]
    standings: list[ModelResultRow]


@dataclass(frozen=True)
class ModelResultReport:
    """A model's mean in one measure, and its difference from the other models' mean (`gain`).

    `against` is better, worse, alike, few, alone or neither.
    """

    model: str
    place: int
    view: ViewRow
    mean: Estimate
    n: int
    gain: Estimate
    against: str

    @property
    def size(self) -> float | None:
        """Absolute difference to the other models' mean; None if undefined."""
        return None if self.gain.value is None else abs(self.gain.value)


def build_model_result_reports(summary: ViewsSummary, model: str = "") -> list[ModelResultReport]:
    """Return models' means in each aspect's main measure; of one `model`, in all measures."""
    listed = [view for view in summary.views if view.view.of == "answer" and (view.leads or model)]
    result = []
    for place, name in enumerate(summary.models):
        for view in listed:
            row = summary.find_model_result(name, view.view.name)
            if row is None or (model and name != model):
                continue
            values = build_mean_sentence_values(row, view.view)
            result.append(
                ModelResultReport(
                    name,
                    place,
                    build_view_row(summary, view),
                    Estimate(row.mean, row.low, row.high),
                    row.n,
                    Estimate(values["gain"], values["gain_low"], values["gain_high"]),
                    values["against"],
                )
            )
    return result


def build_views_report(run: Run) -> ViewsReport:
    """Return the results of a finished model overview run."""
    summary = ViewsSummary.from_json(run.summary)
    return ViewsReport(
        questions=summary.questions,
        answers=summary.answers,
        repeated=summary.repeated,
        sources=[
            SourceRow(source.kind, source.title, source.run, source.signature)
            for source in summary.sources
        ],
        views=[
            build_view_row(summary, source) for source in (*summary.views, *summary.model_views)
        ],
        missing=[str(side) for side in summary.missing],
        answered=[
            AnsweredQuestionRow(
                source.name, QUESTIONS[source.name], SITE.format_message(source.said)
            )
            for source in answer_questions(summary)
        ],
        models=[
            build_model_evidence_report(summary, build_model_evidence(summary, place))
            for place in range(len(summary.models))
        ],
        correlations=list(summary.correlations),
        standings=list(summary.standings),
    )


def build_view_row(summary: ViewsSummary, view_about: SummaryMeasure) -> ViewRow:
    """Return a measure of a summary with its texts for readers and its source run."""
    view = view_about.view
    return ViewRow(
        view.name,
        str(view.side),
        view.title,
        view.words,
        view.better,
        view.of,
        view_about.leads,
        view_about.n_answers,
        summary.sources[view_about.source].run,
    )


def build_model_evidence_report(
    summary: ViewsSummary, source: ModelEvidence
) -> ModelEvidenceReport:
    """Return the evidence about one model as sentences for readers."""
    claims = []
    for claim in source.claims:
        evidence = [
            ClaimEvidenceRow(
                SITE.format_message(one.said),
                one.about.view.name,
                one.about.view.title,
                summary.sources[one.about.source].title,
                summary.sources[one.about.source].run,
            )
            for one in claim.evidence
        ]
        missing = [str(side) for side in claim.missing]
        claims.append(ClaimRow(claim.name, CLAIMS[claim.name], evidence, missing))
    return ModelEvidenceReport(source.model, source.place, claims)


DISAGREEMENTS_SHOWN = 10
ANSWERS_SHOWN = 50


@dataclass(frozen=True)
class ReportedDisagreement:
    """An answer on which measures disagree, with shortened texts ("" if missing).

    `best` and `worst` are sentences about the two measures that are farthest apart.
    """

    model: str
    question: str
    text: str
    answer: str
    nearest: str
    strength: float
    best: str
    worst: str


class DisagreementsPage(ComputedPage[ReportedDisagreement]):
    """Page of answers on which measures disagree, the strongest disagreement first."""


@dataclass(frozen=True)
class AnswerMeasures:
    """Values of one model's answer to one question in every measure; None if unknown.

    `strength`: how far the aspects are apart, None with one or none. `place`: index of the model.
    """

    question: str
    model: str
    place: int
    numbers: list[float | None]
    strength: float | None


@dataclass(frozen=True)
class AnswersPage(ComputedPage[AnswerMeasures]):
    """Page of answers with their values in all measures, the strongest disagreement first."""

    views: list[ViewRow]

    @property
    def shown(self) -> list[dict[str, Any]]:
        """Rows of the page as dictionaries, with (measure, value) pairs as `cells`."""
        return [
            {**vars(row), "cells": list(zip(self.views, row.numbers, strict=True))}
            for row in self.rows
        ]


def load_disagreements_page(
    run: Run, start: int = 0, size: int = DISAGREEMENTS_SHOWN, model: str = ""
) -> DisagreementsPage:
    """Return a page of answers on which measures disagree, optionally of one model."""
    summary = ViewsSummary.from_json(run.summary)
    together = load_stored_metrics(run, summary)
    rows = build_disagreement_rows(together, compute_aspect_disagreement(together))
    if model:
        rows = [row for row in rows if row.model == model]
    page = rows[start : start + size]
    texts = _AnswerTexts(run, page)
    sides = {view.view.name: str(view.view.side) for view in summary.views}
    return DisagreementsPage(
        [
            ReportedDisagreement(
                row.model,
                row.question,
                texts.get_question(row.question),
                texts.get_answer(row.model, row.question),
                texts.get_nearest_answer(row.question),
                row.strength,
                format_answer_rank(sides[row.best_view], row.best_place, best=True),
                format_answer_rank(sides[row.worst_view], row.worst_place, best=False),
            )
            for row in page
        ],
        start,
        len(rows),
    )


def load_answers_page(
    run: Run, start: int = 0, size: int = ANSWERS_SHOWN, place: int | None = None
) -> AnswersPage:
    """Return a page of answers with their values in all measures; `place` selects a model.

    Answers with values in one aspect or none come last, in the order of the questions.
    """
    summary = ViewsSummary.from_json(run.summary)
    together = load_stored_metrics(run, summary)
    disagreement = compute_aspect_disagreement(together)
    places = [place] if place is not None else list(range(len(summary.models)))
    # Transposed, so that answers of equal strength stay in the order of the questions.
    known = np.asarray(together.known.any(axis=0))[places].T
    question, model = np.nonzero(known)
    strength = disagreement.strength[places].T[question, model]
    order = np.argsort(-np.where(np.isnan(strength), -1.0, strength), kind="stable")
    rows = [
        AnswerMeasures(
            together.questions[question[index]],
            together.models[places[model[index]]],
            places[model[index]],
            [
                convert_nan_to_none(value)
                for value in together.values[:, places[model[index]], question[index]]
            ],
            convert_nan_to_none(strength[index]),
        )
        for index in order[start : start + size].tolist()
    ]
    views = [build_view_row(summary, view) for view in summary.views]
    return AnswersPage(rows, start, len(order), views)


class _AnswerTexts:
    """Shortened texts of answers: question, model's answer, most consensual worker answer."""

    def __init__(self, run: Run, rows: list[DisagreementRow]) -> None:
        ids = {row.question for row in rows}
        questions = Question.objects.filter(version=run.version_id, external_id__in=ids)
        self._asked = dict(
            questions.values_list("external_id", select_beginning("text", ANSWER_SHOWN))
        )
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
                "model__name", "question__external_id", select_beginning("text", ANSWER_SHOWN)
            )
        }
        source = next(
            (
                source
                for source in ViewsSummary.from_json(run.summary).sources
                if source.kind == GRADING
            ),
            None,
        )
        nearest = ExemplaryAnswer.objects.none()
        if source is not None:
            nearest = ExemplaryAnswer.objects.filter(
                run__public_id=source.run, question__external_id__in=ids
            )
        self._nearest = dict(
            nearest.values_list(
                "question__external_id", select_beginning("nearest_response__text", ANSWER_SHOWN)
            )
        )

    def get_question(self, question: str) -> str:
        """Return the shortened text of a question; "" without one."""
        return shorten_text(self._asked.get(question), ANSWER_SHOWN)

    def get_answer(self, model: str, question: str) -> str:
        """Return the shortened text of a model's answer to a question; "" without one."""
        return shorten_text(self._answers.get((model, question)), ANSWER_SHOWN)

    def get_nearest_answer(self, question: str) -> str:
        """Return the shortened worker answer that is nearest to the consensus; "" without one."""
        return shorten_text(self._nearest.get(question), ANSWER_SHOWN)


def build_views_table(run: Run) -> Table:
    """Return the table of all measures, one row per question and model."""
    together = load_stored_metrics(run, ViewsSummary.from_json(run.summary))
    return Table(list_cell_columns(together), iterate_cell_rows(together))


def build_correlations_table(run: Run) -> Table:
    """Return the table of correlations between measures: means over models, then of each model."""
    summary = ViewsSummary.from_json(run.summary)
    rows = (*summary.correlations, *summary.own)
    return Table(_list_column_names(CorrelationRow), map(astuple, rows))


def build_models_table(run: Run) -> Table:
    """Return the table of means and ranks, one row per model and measure."""
    summary = ViewsSummary.from_json(run.summary)
    return Table(_list_column_names(ModelResultRow), map(astuple, iterate_model_rows(summary)))


def build_disagreements_table(run: Run) -> Table:
    """Return the table of answers with values in 2 aspects or more, most disagreement first."""
    together = load_stored_metrics(run, ViewsSummary.from_json(run.summary))
    rows = build_disagreement_rows(together, compute_aspect_disagreement(together))
    texts = dict(Question.objects.filter(version=run.version_id).values_list("external_id", "text"))
    return Table(
        (*_list_column_names(DisagreementRow), "text"),
        ((*astuple(row), texts.get(row.question)) for row in rows),
    )


def _list_column_names(row: Any) -> tuple[str, ...]:
    """Return the field names of a row dataclass, which are a table's column names."""
    return tuple(field.name for field in fields(row))
